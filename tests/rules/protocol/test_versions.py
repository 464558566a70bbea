"""Reading and ordering Kafka versions."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.protocol.versions import (
    CONFLUENT_RELEASES,
    METADATA_VERSIONS,
    metadata_version,
    parse_kafka_version,
    parse_protocol_version,
    protocol,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3.9.1", "3.9.1"),
        ("0.10.2", "0.10.2"),
        ("0.10.2.2", "0.10.2.2"),
        ("v2.8", "2.8.0"),
        ("4.3.0-SNAPSHOT", "4.3.0-pre"),
        ("3.9.0-rc1", "3.9.0-pre"),
        ("7.6.1-ccs", "3.6.1"),
        ("7.6.1-ce", "3.6.1"),
        ("5.0.0-ccs", "2.0.0"),
        ("6.2.15-ccs", "2.8.15"),
        ("8.1.0-ce", "4.1.0"),
        ("2.8.1.redhat-00002", "2.8.1"),
        ("0.10.2.1-cp2", "0.10.2.1"),
    ],
)
def test_binaries_are_read_in_apache_numbers(text: str, shown: str) -> None:
    assert str(parse_kafka_version(text)) == shown


@pytest.mark.parametrize(
    "text", ["", "trunk", "3", "3.", "9.9.0-ccs", "3.9.1.0.0", "1" * 5000 + ".0", "3.9.1; rm", "²." * 2]
)
def test_what_is_no_version_is_unknown(text: str) -> None:
    assert parse_kafka_version(text) is None
    assert parse_protocol_version(text) is None or text == "3"


def test_binaries_sort_by_number_and_before_their_release() -> None:
    ordered = [
        "0.9.0.1",
        "0.10.2",
        "0.10.2.1",
        "0.11.0.0",
        "1.1.1",
        "2.0.0",
        "2.0.1",
        "3.9.1",
        "3.10.0",
        "4.3.0-rc0",
        "4.3.0",
    ]
    read = [version for version in map(parse_kafka_version, ordered) if version is not None]
    assert len(read) == len(ordered)
    assert all(before < after for before, after in pairwise(read))
    assert parse_kafka_version("3.6.1") == parse_kafka_version("7.6.1-ccs")
    assert [version.at_least(2, 0, 1) for version in read] == [False] * 6 + [True] * 5


def test_protocols_sort_by_step_and_a_bare_release_is_its_newest() -> None:
    ordered = [
        "0.10.2",
        "0.11.0-IV1",
        "0.11.0-IV2",
        "1.1",
        "2.0-IV0",
        "2.7-IV0",
        "2.7-IV1",
        "2.7",
        "2.8-IV0",
        "3.9-IV0",
    ]
    read = [protocol(text) for text in ordered]
    assert all(before < after for before, after in pairwise(read))
    assert [str(version) for version in read[1:3]] == ["0.11.0-IV1", "0.11.0-IV2"]
    assert protocol("2.8.1") == protocol("2.8")
    with pytest.raises(ValueError, match=r"2\.8-IV"):
        protocol("2.8-IV")


@pytest.mark.parametrize(("level", "name"), [(1, "3.0-IV1"), (7, "3.3-IV3"), (21, "3.9-IV0"), (30, "4.3-IV0")])
def test_metadata_versions_have_levels(level: int, name: str) -> None:
    assert metadata_version(level) == protocol(name) == parse_protocol_version(str(level))


def test_levels_rise_and_an_unknown_one_is_unknown() -> None:
    read = [protocol(name) for name in METADATA_VERSIONS]
    assert sorted(set(read)) == read
    assert (metadata_version(0), metadata_version(len(read) + 1), parse_protocol_version("999")) == (None, None, None)


def test_confluent_releases_follow_apache_without_a_gap() -> None:
    assert list(CONFLUENT_RELEASES.values()) == sorted(CONFLUENT_RELEASES.values())
    assert CONFLUENT_RELEASES[(7, 9)] == (3, 9)
    assert CONFLUENT_RELEASES[(6, 0)] == (2, 6)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    for read in (parse_kafka_version(text), parse_protocol_version(text)):
        assert read is None or len(read.release) == 4
