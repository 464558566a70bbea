"""Committed offsets, group generations and transaction states, from every version's bytes and from hostile ones."""

from __future__ import annotations

import hashlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.internal_topics import (
    InternalRecord,
    group_history,
    latest_states,
    transaction_history,
)
from parsers.provenance import Origin
from parsers.tables import TABLES, GroupOffset, GroupState, Transaction, to_arrow
from rules.protocol.partitioning import group_partition
from tests.lab.effort import cases
from tests.replaced import replace

ORIGIN = Origin(source="log", partition=7)
UUID = bytes(range(16))


def record(
    key: bytes | None, value: bytes | None, offset: int = 0, producer_id: int = -1, control_type: int | None = None
) -> InternalRecord:
    return InternalRecord(
        offset=offset,
        timestamp=1,
        key=key,
        value=value,
        span=ORIGIN.span(offset, offset + 1),
        control_type=control_type,
        producer_id=producer_id,
        transactional=producer_id >= 0,
    )


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def int64(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}q", *numbers)


KEY = bytes.fromhex("000100016700017400000000")
VALUE = bytes.fromhex("0003000000000000002a0000000500000000018bcfe56800")


def commits(*records: InternalRecord) -> list[GroupOffset]:
    told = group_history(records, ORIGIN)
    assert told.refusals == ()
    return list(told.offsets)


def test_published_commit() -> None:
    (row,) = commits(record(KEY, VALUE, offset=3))
    assert (row.group, row.topic, row.partition, row.committed_offset, row.committed_epoch) == ("g", "t", 0, 42, 5)
    assert (row.metadata_size, row.commit_time, row.tombstone, row.transaction) == (0, 1700000000000, False, "none")
    assert (row.record_partition, row.record_offset) == (7, 3)


@pytest.mark.parametrize(
    ("value", "epoch", "expire_time", "topic_id"),
    [
        (b"\x00\x00" + int64(42) + b"\x00\x03n\xc3\xa9" + int64(9), None, None, None),
        (b"\x00\x01" + int64(42) + text("abc") + int64(9, 10), None, 10, None),
        (b"\x00\x02" + int64(42) + text("abc") + int64(9), None, None, None),
        (b"\x00\x03" + int64(42) + struct.pack(">i", -1) + text("abc") + int64(9), -1, None, None),
        (b"\x00\x04" + int64(42) + struct.pack(">i", 5) + b"\x04abc" + int64(9) + b"\x00", 5, None, None),
        (
            b"\x00\x04"
            + int64(42)
            + struct.pack(">i", 5)
            + b"\x04abc"
            + int64(9)
            + b"\x02\x00\x10"
            + UUID
            + b"\x09\x01x",
            5,
            None,
            "AAECAwQFBgcICQoLDA0ODw",
        ),
    ],
)
def test_commits_by_version(value: bytes, epoch: int | None, expire_time: int | None, topic_id: str | None) -> None:
    (row,) = commits(record(KEY, value))
    assert (row.committed_offset, row.commit_time, row.metadata_size) == (42, 9, 3)
    assert (row.committed_epoch, row.expire_time, row.topic_id) == (epoch, expire_time, topic_id)


def test_a_null_value_forgets_the_offset() -> None:
    (row,) = commits(record(KEY, None))
    assert (row.tombstone, row.group, row.committed_offset, row.commit_time) == (True, "g", None, None)


def test_offsets_committed_in_a_transaction_share_its_fate() -> None:
    rows = commits(
        record(KEY, VALUE, 0, producer_id=1),
        record(KEY, VALUE, 1, producer_id=2),
        record(b"\x00\x00\x00\x01", b"", 2, producer_id=1, control_type=1),
        record(KEY, VALUE, 3, producer_id=1),
        record(b"\x00\x00\x00\x00", b"", 4, producer_id=2, control_type=0),
        record(KEY, VALUE, 5),
    )
    assert [(row.record_offset, row.transaction) for row in rows] == [
        (0, "committed"), (1, "aborted"), (3, "open"), (5, "none"),
    ]  # fmt: skip


def member(version: int) -> bytes:
    if version == 4:
        strings = b"\x02m\x00\x02c\x02h"
        return strings + struct.pack(">ii", 1, 2) + b"\x03ab\x01" + b"\x00"
    instance = b"\xff\xff" if version >= 3 else b""
    rebalance = struct.pack(">i", 1) if version >= 1 else b""
    blobs = struct.pack(">i", 2) + b"ab" + struct.pack(">i", 0)
    return text("m") + instance + text("c") + text("h") + rebalance + struct.pack(">i", 2) + blobs


@pytest.mark.parametrize("version", range(5))
def test_groups_by_version(version: int) -> None:
    state_time = int64(77) if version >= 2 else b""
    generation = struct.pack(">i", 4)
    if version == 4:
        head = b"\x09consumer" + generation + b"\x06range\x02m" + state_time + b"\x03"
    else:
        head = text("consumer") + generation + text("range") + text("m") + state_time + struct.pack(">i", 2)
    value = struct.pack(">h", version) + head + member(version) * 2 + (b"\x00" if version == 4 else b"")
    told = group_history([record(b"\x00\x02" + text("g"), value), record(b"\x00\x02" + text("g"), None)], ORIGIN)
    assert told.refusals == ()
    row, gone = told.groups
    assert (row.group, row.protocol_type, row.protocol, row.generation) == ("g", "consumer", "range", 4)
    assert (row.member_count, row.state_time) == (2, 77 if version >= 2 else None)
    assert row.leader_hash == hashlib.blake2b(b"m", digest_size=8).hexdigest()
    assert (gone.tombstone, gone.member_count) == (True, None)


def test_newer_kinds_are_counted_by_name() -> None:
    told = group_history(
        [record(b"\x00\x03xyz", b"?"), record(b"\x00\x0bxyz", b"?"), record(b"\x00\x03", None)], ORIGIN
    )
    assert told.skipped == (("ConsumerGroupMetadata", 2), ("type 11", 1))


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        (None, VALUE, "malformed"),
        (b"\xff\xff", VALUE, "malformed"),
        (KEY + b"\x00", VALUE, "malformed"),
        (KEY[:-4] + b"\xff\xff\xff\xff", VALUE, "malformed"),
        (KEY, VALUE + b"\x00", "malformed"),
        (KEY, b"", "malformed"),
        (KEY, b"\x00\x05", "unknown_version"),
        (b"\x00\x01\x7f\xff", VALUE, "malformed"),
        (b"\x00\x02" + text("g"), b"\x00\x00" + text("") + bytes(4) + bytes(4) + b"\x7f\xff\xff\xff", "malformed"),
    ],
)
def test_broken_group_records_are_refused(key: bytes | None, value: bytes, kind: str) -> None:
    told = group_history([record(key, value, offset=9)], ORIGIN)
    assert [(refusal.kind, refusal.span_start) for refusal in told.refusals] == [(kind, 9)]
    assert (told.offsets, told.groups) == ((), ())


def state(version: int, status: int = 1, tags: bytes = b"\x00") -> bytes:
    head = struct.pack(">hqhib", version, 7, 2, 60000, status)
    if version == 0:
        partitions = struct.pack(">i", 1) + text("orders") + struct.pack(">iii", 2, 0, 3)
        return head + partitions + int64(11, 10)
    return head + b"\x02\x07orders\x03" + struct.pack(">ii", 0, 3) + b"\x00" + int64(11, 10) + tags


TRANSACTION_KEY = b"\x00\x00" + text("t0")


@pytest.mark.parametrize(
    ("value", "previous", "following"),
    [
        (state(0), None, None),
        (state(1), None, None),
        (state(1, tags=b"\x03\x00\x08" + int64(5) + b"\x01\x08" + int64(-1) + b"\x02\x02\x00\x02"), 5, None),
    ],
)
def test_transactions_by_version(value: bytes, previous: int | None, following: int | None) -> None:
    told = transaction_history([record(TRANSACTION_KEY, value), record(TRANSACTION_KEY, None)], ORIGIN)
    assert told.refusals == ()
    row, gone = told.transactions
    assert (row.transactional_id, row.producer_id, row.producer_epoch, row.timeout_ms) == ("t0", 7, 2, 60000)
    assert (row.state, row.partitions, row.last_update_time, row.start_time) == ("Ongoing", "orders-0,orders-3", 11, 10)
    assert (row.previous_producer_id, row.next_producer_id) == (previous, following)
    assert (gone.tombstone, gone.state) == (True, None)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (state(0) + b"\x00", "malformed"),
        (state(0, status=8), "malformed"),
        (state(1, tags=b"\x01\x00\x04" + bytes(4)), "malformed"),
        (b"\x00\x02", "unknown_version"),
        (state(0)[:17] + struct.pack(">i", 1) + text("x" * 300) + bytes(4), "too_large"),
        (state(0)[:17] + struct.pack(">i", 1) + text("x") + struct.pack(">i", 10_001) + bytes(40_004), "too_large"),
        (state(0)[:17] + b"\x7f\xff\xff\xff", "malformed"),
    ],
)
def test_broken_transactions_are_refused(value: bytes, kind: str) -> None:
    told = transaction_history([record(TRANSACTION_KEY, value)], ORIGIN)
    assert ([refusal.kind for refusal in told.refusals], told.transactions) == ([kind], ())


VALUES = st.one_of(
    st.binary(max_size=60),
    st.tuples(st.sampled_from([VALUE, state(0), state(1)]), st.integers(0, 60), st.binary(max_size=6)).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] + len(parts[2]) :]
    ),
)
KEYS = st.one_of(st.binary(max_size=12), st.sampled_from([KEY, TRANSACTION_KEY, b"\x00\x02" + text("g")]), st.none())


@settings(max_examples=cases(60))
@given(st.lists(st.tuples(KEYS, st.none() | VALUES), max_size=8))
def test_any_record_is_a_row_or_a_refusal_or_counted(pairs: list[tuple[bytes | None, bytes | None]]) -> None:
    records = [record(key, value) for key, value in pairs]
    groups, transactions = group_history(records, ORIGIN), transaction_history(records, ORIGIN)
    counted = sum(count for _, count in groups.skipped)
    assert len(groups.offsets) + len(groups.groups) + len(groups.refusals) + counted == len(pairs)
    counted = sum(count for _, count in transactions.skipped)
    assert len(transactions.transactions) + len(transactions.refusals) + counted == len(pairs)
    for rows, table in (
        (groups.offsets, GroupOffset),
        (groups.groups, GroupState),
        (transactions.transactions, Transaction),
        (groups.refusals + transactions.refusals, TABLES["refusals"]),
    ):
        assert to_arrow(rows, table).num_rows == len(rows)


@pytest.mark.parametrize(
    ("name", "partitions", "partition"),
    [
        ("", 50, 0),
        ("g1", 50, 42),
        ("a\U0001f600", 50, 16),
        ("banana", 50, 27),
        ("polygenelubricants", 50, 0),
        ("t0", 2, 0),
        ("t1", 2, 1),
    ],
)
def test_partition_of_a_group(name: str, partitions: int, partition: int) -> None:
    assert group_partition(name, partitions) == partition


def stood(offset: int, name: str, value: bytes | None, at: int = 0) -> InternalRecord:
    return replace(record(b"\x00\x00" + text(name), value, offset), timestamp=at)


def test_the_last_state_of_every_transactional_id_stands() -> None:
    ongoing, done = state(0, 1), state(0, 4)
    told = latest_states([stood(0, "a", ongoing, 5), stood(1, "b", ongoing, 9), stood(2, "a", done, 7)], ORIGIN)
    assert [(row.transactional_id, row.state, row.record_offset) for row in told.transactions] == [
        ("a", "CompleteCommit", 2), ("b", "Ongoing", 1),
    ]  # fmt: skip
    assert (told.latest_time, told.left_out, told.refusals) == (9, 0, ())
    gone = latest_states([stood(0, "a", ongoing), stood(1, "a", None)], ORIGIN)
    assert (gone.transactions, gone.latest_time) == ((), 0)


def test_more_transactional_ids_than_are_kept_are_counted() -> None:
    value = state(0, 4)
    told = latest_states([stood(n, f"t{n % 5}", value) for n in range(20)], ORIGIN, limit=3)
    assert ([row.record_offset for row in told.transactions], told.left_out) == ([15, 16, 17], 2)


def test_a_state_that_cannot_be_read_is_refused_only_where_it_is_the_last() -> None:
    good = state(0, 4)
    assert latest_states([stood(0, "a", b"\x00"), stood(1, "a", good)], ORIGIN).refusals == ()
    assert len(latest_states([stood(0, "a", good), stood(1, "a", b"\x00")], ORIGIN).refusals) == 1
