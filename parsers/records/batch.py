"""Records of one magic 2 batch."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from parsers.records.codecs import CODEC_MASK, decompress
from parsers.records.record_rows import Entry, Header, content_hash, headers_hash, key_hash
from parsers.records.undecodable import Undecodable
from parsers.records.varint import varint, varlong
from parsers.tables import RecordRow

HEADER_SIZE: Final = 61
LOG_APPEND_TIME: Final = 0x08
CONTROL: Final = 0x20
BYTES_PER_ROW: Final = 256
"""What a row is charged against the limit: a row weighs more than the seven bytes of the smallest record."""

_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_CONTROL_KEY: Final = struct.Struct(">hh")
_INT64_MAX: Final = (1 << 63) - 1
_SEQUENCES: Final = 1 << 31


class BatchFields(NamedTuple):
    """The 61 bytes before the records, in their order."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


class StoredRecord(NamedTuple):
    """One record as it is stored: deltas, and contents cut out of the stream."""

    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]
    end: int


def batch_fields(view: memoryview) -> BatchFields:
    """The header fields of a magic 2 entry."""
    if len(view) < HEADER_SIZE:
        raise Undecodable(f"a batch header of {HEADER_SIZE} bytes", f"{len(view)} bytes")
    return BatchFields._make(_HEADER.unpack_from(view))


def batch_rows(view: memoryview, entry: Entry) -> list[RecordRow]:
    """All records of a batch, or `Undecodable`: a batch is read whole or not at all."""
    batch = batch_fields(view)
    make = entry.maker(leader_epoch=batch.leader_epoch)
    stored = enumerate(stored_records(view, batch, entry.limit))
    return [_row(batch, fields, number, make, entry.payloads) for number, fields in stored]


def stored_records(view: memoryview, batch: BatchFields, limit: int) -> Iterator[StoredRecord]:
    """The records of a batch as they are stored, one by one; `Undecodable` may come after some of them."""
    count = batch.record_count
    most = max(limit // BYTES_PER_ROW, 1)
    if count < 0:
        raise Undecodable("a record count of 0 or more", str(count))
    if count > most:
        raise Undecodable(f"at most {most} records", f"a count of {count}", "too_large")
    records, base = stored_bytes(view, batch, limit)
    at = 0
    for number in range(count):
        fields = _record(records, at, number, base)
        yield fields
        at = fields.end
    if at != len(records):
        raise Undecodable(f"{count} records to end at byte {base + at}", f"{len(records) - at} bytes left over")


def stored_bytes(view: memoryview, batch: BatchFields, limit: int) -> tuple[bytes, int]:
    """The records' bytes, and the byte at which they begin as refusals count it: in the entry, or decompressed."""
    codec = batch.attributes & CODEC_MASK
    stored = view[HEADER_SIZE:]
    if codec == 0:
        return bytes(stored), HEADER_SIZE
    if batch.record_count == 0 and not stored:
        return b"", 0
    return decompress(codec, stored, magic=batch.magic, limit=limit), 0


def _record(data: bytes, at: int, number: int, base: int) -> StoredRecord:
    try:
        length, start = varint(data, at)
        end = start + length
        if length < 0 or end > len(data):
            raise Undecodable(
                f"record {number} of {length} bytes at byte {base + start}", f"{len(data) - start} bytes left"
            )
        fields = _fields(data, start + 1)
    except IndexError:
        raise Undecodable(
            f"record {number}, which begins at byte {base + at}, to end", f"{len(data) - at} bytes left"
        ) from None
    if fields.end != end:
        raise Undecodable(f"record {number} to end at byte {base + end}", f"its fields end at byte {base + fields.end}")
    return fields


def _fields(data: bytes, at: int) -> StoredRecord:
    """The fields behind a record's attributes byte; a length past the end shows in `end`, which the caller checks."""
    timestamp_delta, at = varlong(data, at)
    offset_delta, at = varint(data, at)
    key, at = _nullable(data, at)
    value, at = _nullable(data, at)
    count, at = varint(data, at)
    if count < 0:
        raise Undecodable("a header count of 0 or more", str(count))
    headers: list[Header] = []
    for _ in range(count):
        name, at = _nullable(data, at)
        if name is None:
            raise Undecodable("a header with a key", "a null header key")
        content, at = _nullable(data, at)
        headers.append((name, content))
    return StoredRecord(timestamp_delta, offset_delta, key, value, headers, at)


def _nullable(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = varint(data, at)
    if size < 0:
        return None, at
    return data[at : at + size], at + size


def _row(batch: BatchFields, fields: StoredRecord, number: int, make: partial[RecordRow], payloads: bool) -> RecordRow:
    delta, key, value = fields.offset_delta, fields.key, fields.value
    if not 0 <= delta <= batch.last_offset_delta or batch.base_offset + delta > _INT64_MAX:
        raise Undecodable(f"offset delta 0 to {batch.last_offset_delta} in record {number}", str(delta))
    timestamp = record_timestamp(batch, fields.timestamp_delta)
    return make(
        offset=batch.base_offset + delta,
        timestamp=timestamp,
        sequence=(batch.base_sequence + delta) % _SEQUENCES if batch.base_sequence >= 0 else -1,
        key_size=-1 if key is None else len(key),
        value_size=-1 if value is None else len(value),
        header_count=len(fields.headers),
        key_hash=key_hash(key),
        content_hash=content_hash(key, value, timestamp),
        headers_hash=headers_hash(fields.headers),
        control_type=_control_type(key, number) if batch.attributes & CONTROL else None,
        key=key if payloads else None,
        value=value if payloads else None,
    )


def record_timestamp(batch: BatchFields, delta: int) -> int:
    """Time of a record; under a delete horizon the formula is the same, the deltas count from the horizon."""
    if batch.attributes & LOG_APPEND_TIME:
        return batch.max_timestamp
    return (batch.base_timestamp + delta + (1 << 63)) % (1 << 64) - (1 << 63)


def _control_type(key: bytes | None, number: int) -> int:
    if key is None or len(key) < _CONTROL_KEY.size:
        raise Undecodable(f"a control key of 4 bytes in record {number}", "null" if key is None else key)
    return int(_CONTROL_KEY.unpack_from(key)[1])
