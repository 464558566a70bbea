"""The writer against published vectors and recorded bytes."""

from __future__ import annotations

from pathlib import Path

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.writers.segments import CODECS, Codec, Record, batch_bytes, compress, legacy_bytes, varint, write_segment
from tests.lab.written_bytes import legacy_set_bytes, marker_bytes
from tests.parsers.segment_logs import TIME, everything, segments_of

TWO_RECORDS = (
    "00000000000000640000004500000005029122812e0000000000010000018bcfe568000000018bcfe56801"
    "ffffffffffffffffffffffffffff0000000218000000026b027602026802780c000202010100"
)
COMMIT = (
    "0000000000000066000000420000000502d9312b3e0030000000000000018bcfe568000000018bcfe568000000000000000007"
    "0000ffffffff000000012000000008000000010c00000000000300"
)
EMPTIED = (
    "0000000000000067000000310000000602f9530d6b001000000004ffffffffffffffff0000018bcfe568000000000000000007"
    "00000000000000000000"
)


def test_a_batch_of_two_records() -> None:
    records = (
        Record(key=b"k", value=b"v", headers=((b"h", b"x"),)),
        Record(offset_delta=1, timestamp_delta=1),
    )
    assert batch_bytes(base_offset=100, leader_epoch=5, records=records, base_timestamp=TIME).hex() == TWO_RECORDS


def test_a_commit_marker() -> None:
    marker = marker_bytes(
        offset=102, leader_epoch=5, producer_id=7, producer_epoch=0, commit=True, coordinator_epoch=3, timestamp=TIME
    )
    assert marker.hex() == COMMIT


def test_a_batch_that_compaction_emptied() -> None:
    emptied = batch_bytes(
        base_offset=103,
        leader_epoch=6,
        attributes=0x10,
        last_offset_delta=4,
        base_timestamp=-1,
        max_timestamp=TIME,
        producer_id=7,
        producer_epoch=0,
        base_sequence=0,
    )
    assert emptied.hex() == EMPTIED


def test_a_message_of_magic_0() -> None:
    written = legacy_bytes(magic=0, offset=9, key=b"k", value=b"v")
    assert written.hex() == "0000000000000009000000101fecd70a0000000000016b0000000176"


def test_a_message_of_magic_1() -> None:
    written = legacy_bytes(magic=1, offset=10, value=b"v", timestamp=TIME)
    assert written.hex() == "000000000000000a00000017c1672ac501000000018bcfe56800ffffffff0000000176"


@pytest.mark.parametrize("case", ["clean_mixed", "clean_4x", "bit_rot_payload"])
def test_recorded_batches_are_written_as_they_were_read(case: str) -> None:
    written = 0
    for path in segments_of(case):
        content = path.read_bytes()
        for row in everything(path)[0].to_pylist():
            assert _rewritten(row, content) == content[row["span_start"] : row["span_end"]]
            written += 1
    assert written > 50


def _rewritten(row: dict[str, int], content: bytes) -> bytes:
    return batch_bytes(
        base_offset=row["base_offset"],
        leader_epoch=row["leader_epoch"],
        attributes=row["attributes"],
        record_count=row["record_count"],
        base_timestamp=row["base_timestamp"],
        max_timestamp=row["max_timestamp"],
        producer_id=row["producer_id"],
        producer_epoch=row["producer_epoch"],
        base_sequence=row["base_sequence"],
        last_offset_delta=row["last_offset"] - row["base_offset"],
        payload=content[row["span_start"] + 61 : row["span_end"]],
        crc=None if row["crc_valid"] else row["crc"],
    )


@pytest.mark.parametrize("codec", CODECS)
def test_a_codec_is_named_and_can_be_undone(tmp_path: Path, codec: Codec) -> None:
    records = [Record(offset_delta=delta, value=b"x" * 500) for delta in range(200)]
    plain, packed = (
        batch_bytes(base_offset=0, records=records),
        batch_bytes(base_offset=0, records=records, codec=codec),
    )
    write_segment(tmp_path / "0.log", [packed])
    (row,) = everything(tmp_path / "0.log")[0].to_pylist()
    assert (row["attributes"], row["record_count"], row["crc_valid"]) == (CODECS.index(codec), 200, True)
    assert _unpacked(packed[61:], codec) == plain[61:]


def _unpacked(payload: bytes, codec: Codec) -> bytes:
    match codec:
        case "none":
            return payload
        case "snappy":
            return _unpacked_xerial(payload)
        case _:
            return bytes(getattr(cramjam, codec).decompress(payload))


def _unpacked_xerial(payload: bytes) -> bytes:
    assert payload[:16].hex() == "82534e41505059000000000100000001"
    blocks, at = [], 16
    while at < len(payload):
        size = int.from_bytes(payload[at : at + 4], "big")
        blocks.append(bytes(cramjam.snappy.decompress_raw(payload[at + 4 : at + 4 + size])))
        at += 4 + size
    assert all(len(block) <= 32 * 1024 for block in blocks)
    return b"".join(blocks)


def test_incompressible_lz4_blocks_are_stored() -> None:
    noise = bytes(value * 197 % 251 ^ value // 7 % 256 for value in range(70_000))
    assert bytes(cramjam.lz4.decompress(compress(noise, "lz4"))) == noise


def test_frames_of_lz4_carry_the_header_of_their_time() -> None:
    assert compress(b"abc", "lz4")[:7].hex() == "04224d18604082"
    old = legacy_set_bytes(magic=0, base_offset=0, values=[b"abc"], codec="lz4")
    assert old[26:33].hex() == "04224d1860401a"


@given(value=st.integers(-(2**63), 2**63 - 1))
def test_varints_are_zig_zag(value: int) -> None:
    encoded, decoded = varint(value), 0
    for index, byte in enumerate(encoded):
        decoded |= (byte & 0x7F) << 7 * index
    assert (decoded >> 1) ^ -(decoded & 1) == value
    assert all(byte & 0x80 for byte in encoded[:-1])


def test_the_size_written_is_told(tmp_path: Path) -> None:
    log = [batch_bytes(base_offset=0), batch_bytes(base_offset=1)]
    assert write_segment(tmp_path / "0.log", log) == (tmp_path / "0.log").stat().st_size == 122
