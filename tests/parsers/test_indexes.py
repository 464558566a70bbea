"""Offset, time and transaction indexes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.indexes import (
    REFUSAL_LIMIT,
    read_index,
    read_offset_index,
    read_time_index,
    read_transaction_index,
    used_size,
)
from parsers.provenance import Origin
from parsers.tables import IndexKind
from tests.lab.effort import cases
from tests.lab.written_bytes import write_index

HERE = Origin(source="d/t-0/00000000000000001000.index", broker=1, topic="t", partition=0)
KINDS: list[IndexKind] = ["offset", "time", "transaction"]


def offset_slots(*slots: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *slot) for slot in slots)


def time_slots(*slots: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">qi", *slot) for slot in slots)


def offsets_of(data: bytes, base: int = 0) -> list[tuple[int, int | None]]:
    return [(row.offset, row.position) for row in read_offset_index(data, HERE, base).rows]


def test_worked_examples() -> None:
    assert offsets_of(offset_slots((5, 0)), 32450) == [(32455, 0)]
    assert offsets_of(offset_slots((6, 1407)), 368769) == [(368775, 1407)]


def test_entries_carry_their_place_and_their_bytes() -> None:
    row = read_offset_index(offset_slots((5, 100), (9, 200)), HERE, 1000).rows[1]
    assert (row.kind, row.segment_base_offset, row.offset, row.position) == ("offset", 1000, 1009, 200)
    assert (row.span_start, row.span_end, row.topic, row.source) == (8, 16, "t", HERE.source)


def test_a_preallocated_tail_ends_the_entries() -> None:
    data = offset_slots((5, 100), (9, 256)).ljust(10_485_760, b"\0")
    parsed = read_offset_index(data, HERE, 0)
    assert ([row.offset for row in parsed.rows], parsed.refusals) == ([5, 9], ())
    assert used_size(data, "offset") == 16


@pytest.mark.parametrize(("kind", "size"), [("offset", 10_485_760), ("time", 10_485_756)])
def test_a_preallocated_index_without_entries_has_none(kind: IndexKind, size: int) -> None:
    parsed = read_index(bytes(size), HERE, 0, kind)
    assert (parsed.rows, parsed.refusals) == ((), ())
    (odd,) = read_index(bytes(size + 3), HERE, 0, kind).refusals
    assert (odd.kind, odd.span_start, odd.span_end) == ("malformed", size, size + 3)


def test_a_zero_entry_in_the_first_slot_counts_when_another_follows_or_nothing_does() -> None:
    assert offsets_of(offset_slots((0, 0), (4, 100)), 7) == [(7, 0), (11, 100)]
    assert offsets_of(bytes(8), 7) == [(7, 0)]
    assert offsets_of(bytes(16), 7) == []


def test_entries_behind_a_zero_slot_are_refused_not_read() -> None:
    parsed = read_offset_index(offset_slots((1, 10), (0, 0), (3, 30)) + bytes(80), HERE, 0)
    assert [row.offset for row in parsed.rows] == [1]
    assert [(item.kind, item.span_start, item.span_end) for item in parsed.refusals] == [("damage", 8, 24)]


def test_a_time_index_may_repeat_an_offset_but_not_all_zeros() -> None:
    parsed = read_time_index(time_slots((10, 0), (20, 0), (0, 0), (0, 0)), HERE, 50)
    assert [(row.timestamp, row.offset) for row in parsed.rows] == [(10, 50), (20, 50)]
    assert parsed.refusals == ()


@pytest.mark.parametrize("tail", [b"\1\1\1", bytes(3)])
@pytest.mark.parametrize(("kind", "width"), [("offset", 8), ("time", 12), ("transaction", 34)])
def test_part_of_an_entry_at_the_end_is_a_torn_tail(kind: IndexKind, width: int, tail: bytes) -> None:
    parsed = read_index(b"\0\0" + b"\1" * (width - 2) + tail, HERE, 0, kind)
    assert len(parsed.rows) == 1
    assert [(item.kind, item.span_start, item.span_end) for item in parsed.refusals] == [
        ("malformed", width, width + 3)
    ]


def test_aborted_transactions() -> None:
    data = struct.pack(">hqqqq", 0, 77, 10, 19, 25)
    parsed = read_transaction_index(data, HERE, 5)
    (row,) = parsed.rows
    assert (row.producer_id, row.first_offset, row.offset, row.last_stable_offset) == (77, 10, 19, 25)
    assert (row.position, row.timestamp, row.span_start, row.span_end, parsed.refusals) == (None, None, 0, 34, ())


def test_an_unknown_transaction_version_is_refused_by_itself() -> None:
    slots = struct.pack(">hqqqq", 1, 1, 1, 1, 1) + struct.pack(">hqqqq", 0, 2, 3, 4, 5)
    parsed = read_transaction_index(slots, HERE, 0)
    assert [row.producer_id for row in parsed.rows] == [2]
    assert [(item.span_start, item.span_end) for item in parsed.refusals] == [(0, 34)]


@pytest.mark.parametrize("slot", [(-1, 5), (5, -1)])
def test_negative_numbers_are_damage(slot: tuple[int, int]) -> None:
    parsed = read_offset_index(offset_slots((1, 1), slot, (9, 9)), HERE, 0)
    assert [row.offset for row in parsed.rows] == [1, 9]
    assert [(item.kind, item.span_start) for item in parsed.refusals] == [("damage", 8)]


def test_an_offset_beyond_64_bits_is_damage() -> None:
    parsed = read_offset_index(offset_slots((1, 1)), HERE, 2**63 - 1)
    assert (parsed.rows, [item.kind for item in parsed.refusals]) == ((), ["damage"])


def test_a_file_of_nothing_but_damage_gives_a_bounded_report() -> None:
    data = b"\xff" * 800_000
    parsed = read_offset_index(data, HERE, 0)
    assert len(parsed.refusals) == REFUSAL_LIMIT + 1
    assert parsed.refusals[-1].span_end == len(data)


@given(st.sampled_from(KINDS), st.binary(max_size=200), st.integers(0, 2**40))
def test_no_bytes_raise_and_rows_say_what_stands_there(kind: IndexKind, data: bytes, base: int) -> None:
    parsed = read_index(data, HERE, base, kind)
    for row in parsed.rows:
        assert write_index([row], kind) == data[row.span_start : row.span_end]


@settings(max_examples=cases(40))
@given(
    st.sampled_from(["offset", "time"]),
    st.lists(st.tuples(st.integers(1, 2**31 - 1), st.integers(0, 2**31 - 1)), min_size=1, max_size=20),
    st.integers(0, 50),
)
def test_indexes_written_are_read_back_with_any_zero_tail(
    kind: IndexKind, slots: list[tuple[int, int]], tail: int
) -> None:
    data = offset_slots(*slots) if kind == "offset" else time_slots(*slots)
    parsed = read_index(data + bytes(tail * 24), HERE, 1000, kind)
    assert parsed.refusals == ()
    assert write_index(parsed.rows, kind) == data
    assert write_index(parsed.rows, kind, size=len(data) + tail * 24) == data + bytes(tail * 24)
