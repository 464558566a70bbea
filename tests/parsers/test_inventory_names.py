"""What names say, and which segments a broker that starts would read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.inventory import FileName, ReplicaName, parse_file_name, parse_replica_name, plain_segments
from parsers.provenance import Origin, Source
from tests.lab.effort import cases

UNIQUE = "0123456789abcdef" * 2


def source(name: str) -> Source:
    parsed = parse_file_name(name)
    return Source(
        origin=Origin(source=f"t-0/{name}"), kind=parsed.kind, size=0, base_offset=parsed.base_offset,
        suffix=parsed.suffix,
    )  # fmt: skip


def padded(offset: int, suffix: str = ".log") -> str:
    return f"{offset:020d}{suffix}"


def bases(names: list[str], next_offsets: dict[str, int] | None = None) -> list[str]:
    result = plain_segments([source(name) for name in names], next_offsets)
    return [file.origin.source.removeprefix("t-0/") for file in result.segments]


def reasons(names: list[str]) -> dict[str, str]:
    result = plain_segments([source(name) for name in names])
    return {left.file.origin.source.removeprefix("t-0/"): left.reason for left in result.left_out}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders-0", ReplicaName(topic="orders", partition=0)),
        ("my-topic.v2-12", ReplicaName(topic="my-topic.v2", partition=12)),
        ("x-delete-0", ReplicaName(topic="x-delete", partition=0)),
        ("a-0.b-1", ReplicaName(topic="a-0.b", partition=1)),
        (f"test_topic1-2.{UNIQUE}-delete", ReplicaName(topic="test_topic1", partition=2, state="deleted")),
        (f"a.b-3.{UNIQUE}-stray", ReplicaName(topic="a.b", partition=3, state="stray")),
        (f"t-0.{UNIQUE}-future", ReplicaName(topic="t", partition=0, state="future")),
        ("remote-log-index-cache", None),
        ("lost+found", None),
        ("t-2147483648", None),
        ("no dash 0", None),
        ("-0", None),
        ("t-", None),
    ],
)
def test_replica_names(name: str, expected: ReplicaName | None) -> None:
    assert parse_replica_name(name) == expected


@given(
    topic=st.text("abcXYZ019._-", min_size=1, max_size=60),
    partition=st.integers(0, 2**31 - 1),
    suffix=st.sampled_from(["", f".{UNIQUE}-delete", f".{UNIQUE}-future", f".{UNIQUE}-stray"]),
)
def test_every_name_kafka_forms_is_parsed_back(topic: str, partition: int, suffix: str) -> None:
    parsed = parse_replica_name(f"{topic}-{partition}{suffix}")
    assert parsed is not None
    assert (parsed.topic, parsed.partition) == (topic, partition)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (padded(7), FileName(kind="segment", base_offset=7)),
        (padded(7, ".snapshot"), FileName(kind="producer-snapshot", base_offset=7)),
        (padded(7, ".index.deleted"), FileName(kind="leftover", base_offset=7, suffix=".deleted")),
        (padded(7, ".log.swap"), FileName(kind="segment", base_offset=7, suffix=".swap")),
        (padded(7, ".log.cleaned.deleted"), FileName(kind="leftover", base_offset=7, suffix=".cleaned.deleted")),
        ("99999999999999999999.log", FileName(kind="unknown")),
        ("1.log", FileName(kind="unknown")),
        ("server-1.properties", FileName(kind="server-properties")),
        ("controller.log.2024-05-05-01", FileName(kind="broker-log")),
    ],
)
def test_file_names(name: str, expected: FileName) -> None:
    assert parse_file_name(name) == expected


@given(st.text(max_size=60))
def test_no_name_raises(name: str) -> None:
    parse_replica_name(name)
    assert parse_file_name(name).suffix in name.lower()


def test_plain_segments_stand_in_the_order_of_their_offsets() -> None:
    assert bases([padded(30), padded(0), padded(10)]) == [padded(0), padded(10), padded(30)]


def test_a_swap_replaces_what_it_covers() -> None:
    names = [padded(0), padded(10), padded(20), padded(0, ".log.swap")]
    swap = f"t-0/{padded(0, '.log.swap')}"
    assert bases(names, {swap: 20}) == [padded(0, ".log.swap"), padded(20)]
    assert bases(names) == [padded(0, ".log.swap"), padded(10), padded(20)]
    assert reasons(names) == {padded(0): "replaced by the swap segments of [0, 1)"}


def test_two_swaps_of_a_split_replace_their_source() -> None:
    names = [padded(0), padded(10), padded(0, ".log.swap"), padded(5, ".log.swap")]
    assert bases(names) == [padded(0, ".log.swap"), padded(5, ".log.swap"), padded(10)]


def test_a_swap_at_or_above_a_cleaned_file_is_dropped() -> None:
    names = [padded(0), padded(10), padded(10, ".log.swap"), padded(10, ".log.cleaned")]
    assert bases(names) == [padded(0), padded(10)]
    assert reasons(names) == {
        padded(10, ".log.swap"): "belongs to an unfinished cleaning: a .cleaned file begins at 10",
        padded(10, ".log.cleaned"): "output of a cleaning that was not finished",
    }


def test_a_swap_below_the_cleaned_files_counts() -> None:
    names = [padded(0), padded(10), padded(0, ".log.swap"), padded(10, ".log.cleaned")]
    assert bases(names) == [padded(0, ".log.swap"), padded(10)]


def test_a_deleted_cleaned_file_does_not_drop_a_swap() -> None:
    names = [padded(0), padded(0, ".log.swap"), padded(0, ".log.cleaned.deleted")]
    assert bases(names) == [padded(0, ".log.swap")]


def test_deleted_files_and_orphan_indexes_are_left_out() -> None:
    names = [padded(0), padded(0, ".index"), padded(5, ".index"), padded(5, ".log.deleted")]
    assert bases(names) == [padded(0)]
    assert reasons(names) == {
        padded(5, ".index"): "an index without its segment",
        padded(5, ".log.deleted"): "waits for its deletion",
    }


def test_one_base_offset_is_read_once() -> None:
    other = "\u0660" * 19 + "\u0661.log"
    assert bases([padded(1), other]) == [padded(1)]
    assert reasons([padded(1), other]) == {other: "second file of base offset 1"}


@settings(max_examples=cases(40))
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from([".log", ".log.swap", ".log.cleaned", ".log.deleted", ".index"])),
        unique=True,
    )
)
def test_every_segment_is_either_read_or_left_out(files: list[tuple[int, str]]) -> None:
    sources = [source(padded(offset, suffix)) for offset, suffix in files]
    result = plain_segments(sources)
    read = {file.origin.source for file in result.segments}
    left = {item.file.origin.source for item in result.left_out}
    assert not read & left
    assert read | left >= {file.origin.source for file in sources if ".log" in file.origin.source}
    assert [file.base_offset for file in result.segments] == sorted({file.base_offset or 0 for file in result.segments})
