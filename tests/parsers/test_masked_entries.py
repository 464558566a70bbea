"""Masked entries: no content stays, every length and header field does, and a checksum tells what it told."""

from __future__ import annotations

import zlib
from pathlib import Path

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.records import BATCH_LIMIT, decode_entry
from parsers.records.masked import HEADER, masked_entry
from parsers.records.record_contents import decode_contents
from parsers.segment import scan_source
from tests.parsers.test_records_bytes import Record, T, batch
from tests.rules.broken_dumps import Yard, wrote

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
ORIGIN = Origin(source="x.log")


def zeroed(content: bytes) -> bytes:
    return bytes(len(content))


def entries_of(path: Path) -> list[bytes]:
    data = path.read_bytes()
    origin = Origin(source=path.name)
    return [
        data[start:end]
        for chunk in scan_source(path.parent, origin)
        for start, end in zip(
            chunk.headers.column("span_start").to_pylist(), chunk.headers.column("span_end").to_pylist(), strict=True
        )
    ]


def crc_mistake(entry: bytes) -> int:
    if entry[16] > 1:
        return int.from_bytes(entry[17:21]) ^ int(google_crc32c.value(entry[21:]))
    return int.from_bytes(entry[12:16]) ^ zlib.crc32(entry[16:])


SEGMENTS = sorted(SAMPLES.glob("*/dump/*/data/[a-z]*-0/0*.log"))


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: path.relative_to(SAMPLES).as_posix())
def test_samples_keep_their_headers_and_lose_their_contents(path: Path) -> None:
    for entry in entries_of(path):
        masked = masked_entry(entry, zeroed)
        assert len(masked) == len(entry)
        assert crc_mistake(masked) == crc_mistake(entry)
        if entry[16] > 1:
            assert (masked[:17], masked[23:HEADER]) == (entry[:17], entry[23:HEADER])
            assert masked[22] | 7 == entry[22] | 7
            kept = [
                [(r.offset, r.timestamp) for r in decode_contents(each, ORIGIN, 0, limit=BATCH_LIMIT).rows]
                for each in (entry, masked)
            ]
            assert kept[0] == kept[1]
        for record in decode_contents(entry, ORIGIN, 0, limit=BATCH_LIMIT).rows:
            for content in (record.key, record.value):
                if content and not record.control and len(content) > 6:
                    assert content not in masked


@given(st.binary(max_size=400), st.integers(0, 2), st.integers(0, 255))
def test_any_bytes_are_masked_without_a_word(noise: bytes, magic: int, attributes: int) -> None:
    entry = bytes(8) + (9 + len(noise) + 40).to_bytes(4) + bytes(4) + bytes([magic]) + bytes(5) + bytes([attributes])
    entry += bytes(HEADER - len(entry)) + noise
    masked = masked_entry(entry, zeroed)
    assert (len(masked), crc_mistake(masked)) == (len(entry), crc_mistake(entry))


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("attributes", [0x40, 0x48, 0x10, 0x50])
def test_under_a_delete_horizon_times_stay_and_contents_go(codec: int, attributes: int) -> None:
    """The first timestamp is the horizon there, and each record's time counts from it."""
    horizon = T + 86_400_000
    said = [b"the first secret key", b"a secret value of some length", b"a secret header"]
    records: list[Record] = [
        (T - horizon, 0, said[0], None, [(said[2], said[1])]),
        (T + 5 - horizon, 1, said[0] * 2, said[1] * 3, []),
    ]
    entry = batch(records, codec=codec, attributes=attributes, base_time=horizon, max_time=T + 5)
    masked = masked_entry(entry, zeroed)
    before, after = (decode_contents(each, ORIGIN, 0, limit=BATCH_LIMIT).rows for each in (entry, masked))
    assert [(r.offset, r.timestamp) for r in after] == [(r.offset, r.timestamp) for r in before]
    assert len(after) == 2
    assert (masked[:22], masked[23:HEADER]) == (entry[:17] + masked[17:21] + entry[21:22], entry[23:HEADER])
    assert masked[22] & 0xF8 == attributes
    assert (len(masked), crc_mistake(masked)) == (len(entry), 0)
    assert [each for each in said if each in masked] == []


def test_what_a_client_writes_into_a_records_attributes_is_not_kept() -> None:
    entry = bytearray(batch([(0, 0, b"k", b"v", [])]))
    entry[HEADER + 1] = ord("S")
    assert masked_entry(bytes(entry), zeroed)[HEADER + 1] == 1
    assert masked_entry(batch([(0, 0, b"k", b"v", [])]), zeroed)[HEADER + 1] == 0


def test_a_checksum_that_failed_fails_by_the_same_bits_and_the_records_are_read(tmp_path: Path) -> None:
    yard = Yard(tmp_path / "dump")
    yard.broker(1, wrote(0, 0, 3))
    entry = entries_of(next(yard.root.rglob("t-0/*.log")))[0]
    rotten = entry[:-2] + bytes([entry[-2] ^ 4]) + entry[-1:]
    masked = masked_entry(rotten, zeroed)
    assert crc_mistake(entry) == 0
    assert crc_mistake(masked) == crc_mistake(rotten) != 0
    before, after = (decode_entry(each, ORIGIN, 0).rows for each in (entry, masked_entry(entry, zeroed)))
    assert [(r.offset, r.timestamp, r.key_size, r.value_size) for r in after] == [
        (r.offset, r.timestamp, r.key_size, r.value_size) for r in before
    ]
    assert {bytes(r.value or b"").strip(b"\0") for r in decode_contents(masked, ORIGIN, 0, limit=BATCH_LIMIT).rows} <= {
        b""
    }
