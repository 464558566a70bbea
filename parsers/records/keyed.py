"""The keys of one entry's records, without the rows: what tells whether compaction left the same on every replica."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from parsers.records.batch import CONTROL, BatchFields, batch_fields, stored_bytes
from parsers.records.undecodable import Undecodable
from parsers.records.varint import varint

TRANSACTIONAL: Final = 0x10
_ATTRIBUTES: Final = 1


KeyedRecord = tuple[int, bytes | None, bool]
"""A record as a compacted topic sees it: its offset, its key, and whether its null value deletes the key."""


class KeyedBatch(Struct, frozen=True, kw_only=True):
    """The keys of a magic 2 batch of data."""

    producer_id: int
    transactional: bool
    records: Sequence[KeyedRecord]


def keyed_batch(entry: bytes | memoryview, limit: int) -> KeyedBatch | None:
    """The keys of a batch; None for control batches, older formats and what cannot be decoded in one walk.

    For those `decode_entry` gives rows or says what is wrong.
    """
    view = memoryview(entry).cast("B")
    if len(view) < 17 or view[16] != 2:
        return None
    try:
        batch = batch_fields(view)
        if batch.attributes & CONTROL or batch.length != len(view) - 12:
            return None
        data, _ = stored_bytes(view, batch, limit)
        records = _walk(data, batch)
    except (Undecodable, IndexError):
        return None
    transactional = bool(batch.attributes & TRANSACTIONAL)
    return KeyedBatch(producer_id=batch.producer_id, transactional=transactional, records=records)


def _walk(data: bytes, batch: BatchFields) -> list[KeyedRecord]:
    """Every record's offset, key and kind of value; its headers are stepped over.

    Small numbers, which most are, are read where they stand: a call costs more than the number.
    """
    records: list[KeyedRecord] = []
    at, base, last, size = 0, batch.base_offset, batch.last_offset_delta, len(data)
    for _ in range(batch.record_count):
        length, at = varint(data, at)
        end = at + length
        at += _ATTRIBUTES
        while data[at] > 0x7F:
            at += 1
        delta, at = (data[at + 1] >> 1, at + 2) if not data[at + 1] & 0x81 else varint(data, at + 1)
        width, at = (data[at] >> 1, at + 1) if not data[at] & 0x81 else varint(data, at)
        key = None
        if width >= 0:
            key = data[at : at + width]
            at += width
        value, at = varint(data, at)
        if at + max(value, 0) > end or end > size or not 0 <= delta <= last:
            raise Undecodable("fields that end within their record", f"byte {at} of {end}")
        records.append((base + delta, key, value < 0))
        at = end
    if at != size:
        raise Undecodable("records that end with their batch", f"{size - at} bytes left over")
    return records
