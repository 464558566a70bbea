"""Hand-made entries for the record tests, proved against published bytes before anything leans on them."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Sequence

import cramjam
import google_crc32c

from parsers.records.varint import encode_varint

Record = tuple[int, int, bytes | None, bytes | None, Sequence[tuple[bytes, bytes | None]]]
"""Timestamp delta, offset delta, key, value, headers."""


def field(content: bytes | None) -> bytes:
    return encode_varint(-1) if content is None else encode_varint(len(content)) + content


def record(item: Record) -> bytes:
    timestamp_delta, offset_delta, key, value, headers = item
    body = b"\0" + encode_varint(timestamp_delta) + encode_varint(offset_delta) + field(key) + field(value)
    body += encode_varint(len(headers)) + b"".join(field(name) + field(content) for name, content in headers)
    return encode_varint(len(body)) + body


def raw_batch(
    records: bytes,
    *,
    count: int,
    base: int = 0,
    epoch: int = 0,
    attributes: int = 0,
    last_delta: int | None = None,
    base_time: int = 0,
    max_time: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
) -> bytes:
    last = max(count - 1, 0) if last_delta is None else last_delta
    covered = struct.pack(">hiqqqhii", attributes, last, base_time, max_time, *producer, count) + records
    crc = google_crc32c.value(covered)
    return struct.pack(">qiibI", base, 9 + len(covered), epoch, 2, crc) + covered


def batch(items: Sequence[Record], *, codec: int = 0, attributes: int = 0, **header: object) -> bytes:
    body = CODECS[codec](b"".join(record(item) for item in items))
    return raw_batch(body, count=len(items), attributes=attributes | codec, **header)  # type: ignore[arg-type]


def message(
    offset: int, key: bytes | None, value: bytes | None, *, magic: int = 1, attributes: int = 0, timestamp: int = -1
) -> bytes:
    covered = struct.pack(">bb", magic, attributes) + (struct.pack(">q", timestamp) if magic else b"")
    for content in (key, value):
        covered += struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def wrapper(
    offset: int, inner: bytes, *, codec: int = 1, magic: int = 1, attributes: int = 0, timestamp: int = -1
) -> bytes:
    packed = CODECS[codec](inner)
    return message(offset, None, packed, magic=magic, attributes=attributes | codec, timestamp=timestamp)


def xerial(data: bytes, *, header_between: bool = False) -> bytes:
    head = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    out = head
    for at in range(0, len(data), 32768):
        block = bytes(cramjam.snappy.compress_raw(data[at : at + 32768]))
        out += (head if header_between and at else b"") + struct.pack(">i", len(block)) + block
    return out


def lz4(data: bytes, *, checksum: int = 0x82, end: bytes = b"\0\0\0\0") -> bytes:
    out = b"\x04\x22\x4d\x18\x60\x40" + bytes([checksum])
    for at in range(0, len(data), 65536):
        block = bytes(cramjam.lz4.compress_block(data[at : at + 65536], store_size=False))
        out += struct.pack("<I", len(block)) + block
    return out + end


def zstd(data: bytes) -> bytes:
    """A frame without content size, as a streaming compressor writes it."""
    stream = cramjam.zstd.Compressor()
    stream.compress(data)
    return bytes(stream.finish())


CODECS: dict[int, Callable[[bytes], bytes]] = {0: bytes, 1: gzip.compress, 2: xerial, 3: lz4, 4: zstd}

T = 1_700_000_000_000
TWO_RECORDS = (
    "00000000000000640000004500000005029122812e0000000000010000018bcfe568000000018bcfe56801ffffffffffffffffffffffffff"
    "ff0000000218000000026b027602026802780c000202010100"
)
COMMIT_MARKER = (
    "0000000000000066000000420000000502d9312b3e0030000000000000018bcfe568000000018bcfe56800000000000000000700"
    "00ffffffff000000012000000008000000010c00000000000300"
)
EMPTIED = (
    "0000000000000067000000310000000602f9530d6b001000000004ffffffffffffffff0000018bcfe568000000000000000007000000000000"
    "00000000"
)
MAGIC_0 = "0000000000000009000000101fecd70a0000000000016b0000000176"
MAGIC_1 = "000000000000000a00000017c1672ac501000000018bcfe56800ffffffff0000000176"


def test_two_records_are_written_as_kafka_writes_them() -> None:
    made = batch(
        [(0, 0, b"k", b"v", [(b"h", b"x")]), (1, 1, None, None, [])], base=100, epoch=5, base_time=T, max_time=T + 1
    )
    assert made.hex() == TWO_RECORDS


def test_a_commit_marker_is_written_as_kafka_writes_it() -> None:
    items: list[Record] = [(0, 0, bytes.fromhex("00000001"), bytes.fromhex("000000000003"), [])]
    made = batch(items, base=102, epoch=5, attributes=0x30, base_time=T, max_time=T, producer=(7, 0, -1))
    assert made.hex() == COMMIT_MARKER


def test_an_emptied_batch_is_written_as_the_cleaner_writes_it() -> None:
    made = raw_batch(
        b"", count=0, base=103, epoch=6, attributes=0x10, last_delta=4, base_time=-1, max_time=T, producer=(7, 0, 0)
    )
    assert made.hex() == EMPTIED


def test_legacy_messages_are_written_as_kafka_wrote_them() -> None:
    assert message(9, b"k", b"v", magic=0).hex() == MAGIC_0
    assert message(10, None, b"v", timestamp=T).hex() == MAGIC_1
