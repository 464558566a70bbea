"""Legacy entries: plain messages, wrappers with absolute and relative offsets, and what old cleaners left."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.records import base_offset_of_legacy_wrapper, decode_entry
from parsers.refusal import Parsed
from parsers.tables import RecordRow
from tests.lab.effort import cases
from tests.parsers.test_records_bytes import MAGIC_0, MAGIC_1, T, message, wrapper

ORIGIN = Origin(source="0.log")
SEGMENT = Path(__file__).parents[2] / "sample_logs/lost_pages_hw/dump/broker-1/data/t-0/00000000000000000000.log"


def decode(entry: bytes, *, limit: int = 1 << 20) -> Parsed[RecordRow]:
    return decode_entry(entry, ORIGIN, 0, payloads=True, limit=limit)


def refused(entry: bytes) -> str:
    parsed = decode(entry)
    assert not parsed.rows
    assert [refusal.kind for refusal in parsed.refusals] == ["undecodable"]
    assert base_offset_of_legacy_wrapper(entry) is None
    return f"{parsed.refusals[0].expected} / {parsed.refusals[0].found}"


def inner(offsets: list[int], *, magic: int = 1, timestamp: int = T) -> bytes:
    return b"".join(message(at, None, b"v%d" % at, magic=magic, timestamp=timestamp + at) for at in offsets)


def offsets(entry: bytes) -> list[int]:
    parsed = decode(entry)
    assert not parsed.refusals
    return [row.offset for row in parsed.rows]


def test_plain_messages() -> None:
    (zero,) = decode(bytes.fromhex(MAGIC_0)).rows
    assert (zero.offset, zero.timestamp, zero.key, zero.value, zero.leader_epoch, zero.sequence) == (
        9,
        -1,
        b"k",
        b"v",
        -1,
        -1,
    )
    (one,) = decode(bytes.fromhex(MAGIC_1)).rows
    assert (one.offset, one.timestamp, one.key, one.value, one.key_size) == (10, T, None, b"v", -1)
    assert base_offset_of_legacy_wrapper(bytes.fromhex(MAGIC_1)) == 10


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_relative_offsets_of_magic_1_end_at_the_wrappers_offset(codec: int) -> None:
    entry = wrapper(107, inner([0, 1, 2]), codec=codec)
    assert offsets(entry) == [105, 106, 107]
    assert base_offset_of_legacy_wrapper(entry) == 105


def test_relative_offsets_may_have_holes_after_compaction() -> None:
    assert offsets(wrapper(107, inner([0, 3, 7]))) == [100, 103, 107]


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_offsets_of_magic_0_are_absolute(codec: int) -> None:
    entry = wrapper(107, inner([103, 107], magic=0), codec=codec, magic=0)
    assert offsets(entry) == [103, 107]
    assert base_offset_of_legacy_wrapper(entry) == 103


def test_a_wrapper_offset_of_0_means_base_0() -> None:
    assert offsets(wrapper(0, inner([0, 1, 2]))) == [0, 1, 2]


def test_a_wrapper_offset_below_its_last_inner_offset() -> None:
    assert "inner offsets" in refused(wrapper(1, inner([0, 1, 2])))


def test_append_time_of_the_wrapper_overrides_and_create_time_does_not() -> None:
    assert [row.timestamp for row in decode(wrapper(1, inner([0, 1]), attributes=0x08, timestamp=T + 99)).rows] == [
        T + 99
    ] * 2
    assert [row.timestamp for row in decode(wrapper(1, inner([0, 1]), timestamp=T + 99)).rows] == [T, T + 1]


def test_mixed_magics_of_old_cleaners_are_read() -> None:
    assert [
        (row.offset, row.timestamp)
        for row in decode(wrapper(8, inner([0, 1], magic=0), attributes=8, timestamp=T)).rows
    ] == [
        (7, -1),
        (8, -1),
    ]
    assert [(row.offset, row.timestamp) for row in decode(wrapper(8, inner([7, 8]), magic=0)).rows] == [
        (7, T + 7),
        (8, T + 8),
    ]


def test_a_wrapper_in_a_wrapper() -> None:
    assert "not compressed" in refused(wrapper(1, wrapper(1, inner([0, 1]))))


def test_a_magic_2_batch_in_a_wrapper() -> None:
    assert "magic 2" in refused(wrapper(1, struct.pack(">qiIbb", 0, 14, 0, 2, 0) + b"\xff" * 8))


def test_a_wrapper_without_messages() -> None:
    assert "an inner message" in refused(wrapper(1, b""))
    assert "a null value" in refused(message(1, None, None, attributes=1))


def test_a_cut_inner_message_ends_the_set_and_is_named() -> None:
    parsed = decode(wrapper(9, inner([0, 1]) + inner([2])[:-3]))
    assert [row.offset for row in parsed.rows] == [8, 9]
    assert [refusal.kind for refusal in parsed.refusals] == ["undecodable"]


def test_an_inner_size_that_is_none() -> None:
    assert "size 13" in refused(wrapper(1, struct.pack(">qi", 0, 13) + b"\0" * 13))
    assert "size -1" in refused(wrapper(1, struct.pack(">qi", 0, -1)))


def test_fields_must_consume_the_message() -> None:
    entry = bytearray(message(5, b"key", b"value"))
    entry[26:30] = struct.pack(">i", 4)
    refused(bytes(entry))
    entry[26:30] = struct.pack(">i", 2**31 - 1)
    assert "the key of the entry" in refused(bytes(entry))
    assert "1 bytes left over" in refused(struct.pack(">qi", 5, 23) + message(5, None, b"")[12:] + b"x")


def test_zstd_came_after_the_legacy_formats() -> None:
    assert "codec 4" in refused(message(1, None, b"abc", attributes=4))


def test_inner_offsets_that_leave_64_bits() -> None:
    assert "64 bits" in refused(wrapper(2**63 - 1, message(0, None, b"") + message(-(2**62), None, b"")))


def test_many_tiny_messages_are_refused_before_they_are_rows() -> None:
    assert [refusal.kind for refusal in decode(wrapper(1, message(0, None, None) * 5000)).refusals] == ["too_large"]


def test_the_recorded_old_format() -> None:
    data, at, rows = SEGMENT.read_bytes(), 0, []
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        rows += decode(data[at:end]).rows
        at = end
    assert [row.offset for row in rows] == list(range(len(rows)))
    assert [row.value for row in rows[:3]] == [b"v%d-" % index + b"x" * 20 for index in range(3)]


@settings(max_examples=cases(100), deadline=None)
@given(data=st.data(), magic=st.integers(0, 1), codec=st.integers(1, 3))
def test_no_mutation_raises(data: st.DataObject, magic: int, codec: int) -> None:
    entry = bytearray(wrapper(107, inner([5, 6, 7], magic=magic), magic=magic, codec=codec))
    for _ in range(data.draw(st.integers(1, 4))):
        entry[data.draw(st.integers(0, len(entry) - 1))] = data.draw(st.integers(0, 255))
    parsed = decode(bytes(entry))
    assert parsed.rows or parsed.refusals or entry[16] == 2
    base = base_offset_of_legacy_wrapper(bytes(entry), limit=1 << 20)
    assert entry[16] > 1 or base == (parsed.rows[0].offset if parsed.rows else None)


@settings(max_examples=cases(100), deadline=None)
@given(data=st.data(), magic=st.integers(0, 1))
def test_no_mutation_inside_the_stream_raises(data: st.DataObject, magic: int) -> None:
    stream = bytearray(inner([5, 6, 7], magic=magic))
    for _ in range(data.draw(st.integers(1, 3))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    parsed = decode(message(107, None, gzip.compress(bytes(stream)), magic=magic, attributes=1))
    assert parsed.rows or parsed.refusals
