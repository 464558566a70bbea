"""meta.properties, partition.metadata, clean shutdown, quorum-state, properties and producer snapshots."""

from __future__ import annotations

import struct

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.checkpoints import (
    read_clean_shutdown,
    read_meta_properties,
    read_partition_metadata,
    read_producer_snapshot,
    read_properties,
    read_quorum_state,
)
from parsers.checkpoints.properties import PROPERTIES_LIMIT
from parsers.provenance import Origin
from parsers.writers.checkpoints import (
    write_clean_shutdown,
    write_meta_properties,
    write_partition_metadata,
    write_properties,
    write_static_quorum_state,
)
from tests.lab.effort import cases
from tests.lab.written_bytes import write_producer_snapshot, write_quorum_state

HERE = Origin(source="d/file", broker=1, log_dir="d", topic="t", partition=0)
ID = "ZKLmK9Y_S2e0qQ8Ou4DFGA"
LATIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)


def int_of(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def test_meta_properties_of_version_0_and_1() -> None:
    old = read_meta_properties(b"#\n#Sat Nov 21 05:39:50 UTC 2026\nbroker.id=1\nversion=0\n", HERE)
    assert (old.version, old.broker, old.cluster_id, old.directory_id, old.refusals) == (0, 1, None, None, ())
    new = read_meta_properties(b"node.id=2\ndirectory.id=D\nversion=1\ncluster.id=C\n", HERE)
    assert (new.version, new.broker, new.cluster_id, new.directory_id, new.refusals) == (1, 2, "C", "D", ())


def test_a_missing_version_means_0() -> None:
    assert read_meta_properties(b"broker.id = 9", HERE).broker == 9


@pytest.mark.parametrize(
    "data",
    [
        b"version=1\nnode.id=-1\n",
        b"version=1\nnode.id=" + b"9" * 100_000,
        b"version=1\n",
        b"",
        b"version=1\nnode.id=1\ncluster.id=" + b"x" * 65,
        b"version=1\nnode.id=1\ncluster.id=\\uD800",
    ],
)
def test_broken_meta_properties_are_refused(data: bytes) -> None:
    refusals = read_meta_properties(data, HERE).refusals
    assert [refusal.kind for refusal in refusals] == ["malformed"]
    assert refusals[0].source == "d/file"


def test_meta_properties_of_another_version_are_unknown_and_not_broken() -> None:
    assert [refusal.kind for refusal in read_meta_properties(b"version=7\nnode.id=1\n", HERE).refusals] == [
        "unknown_version"
    ]


@given(st.integers(0, 2**31 - 1), st.sampled_from([0, 1]), st.none() | st.just(ID), st.none() | st.just("D"))
def test_meta_properties_written_are_read_back(
    broker: int, version: int, cluster: str | None, directory: str | None
) -> None:
    data = write_meta_properties(broker=broker, version=version, cluster_id=cluster, directory_id=directory)
    meta = read_meta_properties(data, HERE)
    assert (meta.broker, meta.version, meta.cluster_id, meta.directory_id, meta.refusals) == (
        broker,
        version,
        cluster,
        directory,
        (),
    )


def test_partition_metadata() -> None:
    assert read_partition_metadata(write_partition_metadata(ID), HERE).topic_id == ID
    assert read_partition_metadata(f"version: 0\r\ntopic_id: {ID}==\r\n".encode(), HERE).topic_id == ID


def test_a_topic_id_has_one_spelling() -> None:
    assert read_partition_metadata(b"version: 0\ntopic_id: " + ID.encode()[:-1] + b"B", HERE).topic_id == ID


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "malformed"),
        (b"version: 1\ntopic_id: " + ID.encode(), "unknown_version"),
        (b"version: 0\n", "malformed"),
        (b"version: 0\ntopic_id: short", "malformed"),
        (b"version: 0\ntopic_id: " + b"A" * 22, "malformed"),
        (b"\xff" * 50, "malformed"),
    ],
)
def test_broken_partition_metadata_is_refused(data: bytes, kind: str) -> None:
    metadata = read_partition_metadata(data, HERE)
    assert (metadata.topic_id, [refusal.kind for refusal in metadata.refusals]) == (None, [kind])


def test_clean_shutdown_files() -> None:
    assert read_clean_shutdown(b"", HERE).broker_epoch is None
    assert read_clean_shutdown(write_clean_shutdown(222), HERE).broker_epoch == 222
    assert read_clean_shutdown(write_clean_shutdown(-1), HERE).broker_epoch is None
    broken = read_clean_shutdown(b"{", HERE)
    assert (broken.broker_epoch, [refusal.kind for refusal in broken.refusals]) == (None, ["malformed"])


def test_quorum_state_of_both_versions() -> None:
    data = (
        b'{"clusterId":"","leaderId":100,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
        b'"currentVoters":[{"voterId":100}],"data_version":0}'
    )
    state = read_quorum_state(data, HERE)
    assert (state.leader_id, state.leader_epoch, state.current_voters, state.refusals) == (100, 1, (100,), ())
    assert write_static_quorum_state(leader_id=100, leader_epoch=1, current_voters=[100]) == data
    newer = read_quorum_state(
        write_quorum_state(leader_id=1, leader_epoch=2, voted_id=-1, voted_directory_id="x"), HERE
    )
    assert (newer.leader_id, newer.leader_epoch, newer.voted_id, newer.refusals) == (1, 2, -1, ())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b'{"leaderEpoch":' + b"9" * 100_000 + b"}",
        b'{"leaderEpoch":true,"data_version":0}',
        b'{"leaderEpoch":NaN}',
        b"\xff{}",
        b'{"leaderEpoch":1,"data_version":2}',
        b" " * (2 << 20),
    ],
)
def test_hostile_json_is_refused(data: bytes) -> None:
    assert len(read_quorum_state(data, HERE).refusals) == 1


@given(int_of(32), int_of(32), int_of(32), int_of(64), st.lists(st.integers(0, 9)))
def test_quorum_states_written_are_read_back(
    leader: int, epoch: int, voted: int, applied: int, voters: list[int]
) -> None:
    data = write_static_quorum_state(
        leader_id=leader, leader_epoch=epoch, voted_id=voted, applied_offset=applied, current_voters=voters
    )
    state = read_quorum_state(data, HERE)
    assert (state.leader_id, state.leader_epoch, state.voted_id) == (leader, epoch, voted)
    assert (state.applied_offset, state.current_voters) == (applied, tuple(voters))
    assert state.refusals == ()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a=1", [("a", "1")]),
        (b"  a : 1\r\n! no\r\n# no\r\n\r\nb 2", [("a", "1"), ("b", "2")]),
        (b"a=1,\\\n   2,\\\n\t3\nb=\\t\\u00e4\\q", [("a", "1,2,3"), ("b", "\tä" + "q")]),
        (b"a\\ b\\=c=d=e", [("a b=c", "d=e")]),
        (b"a\nb=\n=c", [("a", ""), ("b", ""), ("", "c")]),
        (b"a=x\\\\\nb=1", [("a", "x\\"), ("b", "1")]),
        (b"a=1\\", [("a", "1")]),
        (b"a=1\\\n#2", [("a", "1#2")]),
        (b"log.dirs=C:\\\\kafka\\\\data", [("log.dirs", "C:\\kafka\\data")]),
    ],
)
def test_the_grammar_of_java_properties(data: bytes, expected: list[tuple[str, str]]) -> None:
    properties = read_properties(data, HERE)
    assert [(entry.key, entry.value) for entry in properties.entries] == expected
    assert properties.refusals == ()


def test_the_last_of_two_values_counts_and_has_an_address() -> None:
    data = b"node.id=1\nnode.id= 2 \n"
    properties = read_properties(data, HERE)
    span = properties.span("node.id")
    assert (properties.get("node.id"), properties.integer("node.id")) == ("2", 2)
    assert span is not None
    assert data[span.start : span.end] == b"node.id= 2 \n"
    assert (properties.get("absent"), properties.span("absent")) == (None, None)


def test_a_broken_escape_is_refused_by_itself() -> None:
    properties = read_properties(b"a=\\u12\nb=1\n", HERE)
    assert [entry.key for entry in properties.entries] == ["b"]
    assert [(refusal.kind, refusal.span_start, refusal.span_end) for refusal in properties.refusals] == [
        ("malformed", 0, 7)
    ]


def test_properties_beyond_any_config_are_refused() -> None:
    properties = read_properties(b"a\\" * PROPERTIES_LIMIT, HERE)
    assert [refusal.kind for refusal in properties.refusals] == ["too_large"]


@settings(max_examples=cases(40))
@given(st.lists(st.tuples(LATIN, LATIN), max_size=8))
def test_properties_written_are_read_back(pairs: list[tuple[str, str]]) -> None:
    expected = dict(pairs)
    properties = read_properties(write_properties(expected, comments=("", "when")), HERE)
    found = {entry.key: entry.value.encode("utf-16", "surrogatepass").decode("utf-16") for entry in properties.entries}
    keys = [entry.key.encode("utf-16", "surrogatepass").decode("utf-16") for entry in properties.entries]
    assert dict(zip(keys, found.values(), strict=True)) == expected
    assert properties.refusals == ()


PRODUCER = struct.Struct(">qhiqiqiq")


def snapshot(*entries: tuple[int, ...]) -> bytes:
    body = struct.pack(">i", len(entries)) + b"".join(PRODUCER.pack(*entry) for entry in entries)
    return struct.pack(">hI", 1, google_crc32c.value(body)) + body


def test_a_producer_snapshot() -> None:
    data = snapshot((5, 1, 9, 99, 3, 1_700_000_000_000, 2, -1), (6, 0, -1, -1, 0, -1, 0, 80))
    parsed = read_producer_snapshot(data, HERE, 100)
    assert parsed.refusals == ()
    first, second = parsed.rows
    assert (first.producer_id, first.producer_epoch, first.last_sequence, first.last_offset) == (5, 1, 9, 99)
    assert (first.offset_delta, first.timestamp, first.coordinator_epoch) == (3, 1_700_000_000_000, 2)
    assert (first.snapshot_offset, first.span_start, first.span_end) == (100, 10, 56)
    assert (second.current_txn_first_offset, second.span_start, second.span_end) == (80, 56, 102)
    assert write_producer_snapshot(parsed.rows) == data


@pytest.mark.parametrize("size", [0, 10, 4096])
def test_a_snapshot_that_was_not_written_out_has_no_producers(size: int) -> None:
    parsed = read_producer_snapshot(bytes(size), HERE, 0)
    assert (parsed.rows, parsed.refusals) == ((), ())


ONE = snapshot((5, 1, 9, 99, 3, 0, 2, -1))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ONE[:-1], "damage"),
        (ONE[:7], "damage"),
        (ONE + b"\0", "malformed"),
        (ONE[:-1] + b"\0", "damage"),
        (b"\0\2" + ONE[2:], "unknown_version"),
        (ONE[:6] + b"\x7f\xff\xff\xff" + ONE[10:], "damage"),
        (ONE[:6] + b"\xff\xff\xff\xff" + ONE[10:], "malformed"),
    ],
)
def test_a_broken_snapshot_is_refused_whole(data: bytes, kind: str) -> None:
    parsed = read_producer_snapshot(data, HERE, 0)
    assert parsed.rows == ()
    assert [(item.kind, item.span_start, item.span_end) for item in parsed.refusals] == [(kind, 0, len(data))]


@settings(max_examples=cases(40))
@given(
    st.lists(
        st.tuples(int_of(64), int_of(16), int_of(32), int_of(64), int_of(32), int_of(64), int_of(32), int_of(64)),
        max_size=5,
    ),
    st.integers(0, 250),
    st.integers(1, 255),
)
def test_snapshots_are_read_back_and_any_changed_byte_is_noticed(
    entries: list[tuple[int, ...]], place: int, change: int
) -> None:
    data = snapshot(*entries)
    parsed = read_producer_snapshot(data, HERE, 7)
    assert write_producer_snapshot(parsed.rows) == data
    changed = bytearray(data)
    changed[place % len(data)] ^= change
    assert len(read_producer_snapshot(bytes(changed), HERE, 7).refusals) == 1


@given(st.binary(max_size=120))
def test_no_bytes_raise(data: bytes) -> None:
    read_meta_properties(data, HERE)
    read_partition_metadata(data, HERE)
    read_quorum_state(data, HERE)
    read_clean_shutdown(data, HERE)
    parsed = read_producer_snapshot(data, HERE, 0)
    assert bool(parsed.refusals) == bool(data.strip(b"\0")) or parsed.rows == ()
    for entry in read_properties(data, HERE).entries:
        assert 0 <= entry.span_start < entry.span_end <= len(data)
