"""Segments written byte by byte as Kafka writes them: the inverse of `parsers.segment`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from struct import Struct
from typing import Final, Literal

import cramjam
import google_crc32c
import msgspec

Codec = Literal["none", "gzip", "snappy", "lz4", "zstd"]

CODECS: Final[tuple[Codec, ...]] = ("none", "gzip", "snappy", "lz4", "zstd")
"""Codec names in the order of their number in the attributes."""
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
XERIAL_BLOCK: Final = 32 * 1024
XERIAL_MAGIC: Final = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2

LZ4_BLOCK: Final = 64 * 1024
LZ4_STORED: Final = 1 << 31
LZ4_HEADER: Final = bytes.fromhex("04224d18604082")
LZ4_OLD_HEADER: Final = bytes.fromhex("04224d1860401a")
"""Magic 0 sums its frame header wrongly, magic included; readers of the time expect just that."""

_V2_BEFORE_CRC: Final = Struct(">qiib")
_V2_UNDER_CRC: Final = Struct(">hiqqqhii")
_LEGACY_BEFORE_CRC: Final = Struct(">qi")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a magic 2 batch, relative to its batch."""

    offset_delta: int = 0
    timestamp_delta: int = 0
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


def varint(value: int) -> bytes:
    """Zig-zag base-128, as record fields are written."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def record_bytes(record: Record) -> bytes:
    """A record with its length in front."""
    body = b"".join(
        (
            b"\x00",
            varint(record.timestamp_delta),
            varint(record.offset_delta),
            _sized(record.key),
            _sized(record.value),
            varint(len(record.headers)),
            *(_sized(key) + _sized(value) for key, value in record.headers),
        )
    )
    return varint(len(body)) + body


def _sized(content: bytes | None) -> bytes:
    return varint(-1) if content is None else varint(len(content)) + content


def compress(payload: bytes, codec: Codec) -> bytes:
    """A payload as Kafka's Java clients frame it."""
    match codec:
        case "none":
            return payload
        case "gzip":
            return bytes(cramjam.gzip.compress(payload))
        case "snappy":
            return _xerial(payload)
        case "lz4":
            return lz4_frame(payload, LZ4_HEADER)
        case "zstd":
            return bytes(cramjam.zstd.compress(payload))


def _xerial(payload: bytes) -> bytes:
    """Snappy in the framing of snappy-java: a header, then blocks with their length."""
    blocks = (payload[at : at + XERIAL_BLOCK] for at in range(0, len(payload), XERIAL_BLOCK))
    packed = (bytes(cramjam.snappy.compress_raw(block)) for block in blocks)
    return XERIAL_MAGIC + b"".join(len(block).to_bytes(4, "big") + block for block in packed)


def lz4_frame(payload: bytes, header: bytes) -> bytes:
    """An LZ4 frame of independent blocks, the only kind that Kafka reads."""
    frame = [header]
    for at in range(0, len(payload), LZ4_BLOCK):
        block = payload[at : at + LZ4_BLOCK]
        packed = bytes(cramjam.lz4.compress_block(block, store_size=False))
        if len(packed) < len(block):
            frame.append(len(packed).to_bytes(4, "little") + packed)
        else:
            frame.append((len(block) | LZ4_STORED).to_bytes(4, "little") + block)
    return b"".join(frame) + bytes(4)


def batch_bytes(  # noqa: PLR0913 - a header has that many fields
    *,
    base_offset: int,
    leader_epoch: int = 0,
    records: Sequence[Record] = (),
    payload: bytes | None = None,
    codec: Codec = "none",
    attributes: int = 0,
    last_offset_delta: int | None = None,
    record_count: int | None = None,
    base_timestamp: int = 0,
    max_timestamp: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    crc: int | None = None,
) -> bytes:
    """A magic 2 batch. What is not given follows from the records.

    `payload` stands for the records as stored, compressed or not; nothing is compressed here then, and `attributes`
    must name its codec. `crc` replaces the checksum that would hold.
    """
    if payload is None:
        payload = compress(b"".join(map(record_bytes, records)), codec)
        attributes |= CODECS.index(codec)
    if last_offset_delta is None:
        last_offset_delta = max((record.offset_delta for record in records), default=max((record_count or 0) - 1, 0))
    if max_timestamp is None:
        max_timestamp = base_timestamp + max((record.timestamp_delta for record in records), default=0)
    summed = (
        _V2_UNDER_CRC.pack(
            attributes,
            last_offset_delta,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            len(records) if record_count is None else record_count,
        )
        + payload
    )
    stored = google_crc32c.value(summed) if crc is None else crc
    return _V2_BEFORE_CRC.pack(base_offset, 9 + len(summed), leader_epoch, 2) + stored.to_bytes(4, "big") + summed


def legacy_bytes(
    *,
    magic: Literal[0, 1],
    offset: int,
    key: bytes | None = None,
    value: bytes | None = None,
    timestamp: int = -1,
    attributes: int = 0,
) -> bytes:
    """A message of magic 0 or 1."""
    stamp = timestamp.to_bytes(8, "big", signed=True) if magic == 1 else b""
    summed = bytes((magic, attributes)) + stamp + _sized32(key) + _sized32(value)
    return _LEGACY_BEFORE_CRC.pack(offset, 4 + len(summed)) + zlib.crc32(summed).to_bytes(4, "big") + summed


def _sized32(content: bytes | None) -> bytes:
    length = -1 if content is None else len(content)
    return length.to_bytes(4, "big", signed=True) + (content or b"")


def write_segment(path: Path, batches: Iterable[bytes]) -> int:
    """Write batches back to back; the size of the file."""
    with path.open("wb") as file:
        return sum(map(file.write, batches))
