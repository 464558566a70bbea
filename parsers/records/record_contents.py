"""Everything that a record holds, for those who write it again: key, value and headers as bytes."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from parsers.provenance import Origin
from parsers.records.batch import CONTROL, BatchFields, StoredRecord, batch_fields, record_timestamp, stored_records
from parsers.records.legacy import message_set
from parsers.records.record_rows import Header
from parsers.records.undecodable import Undecodable
from parsers.refusal import Parsed, refuse

_TRANSACTIONAL = 0x10
_INT64_MAX = (1 << 63) - 1
_SEQUENCES = 1 << 31


class RecordContent(Struct, frozen=True, kw_only=True):
    """One record with its contents, and what its batch says of it."""

    offset: int
    timestamp: int
    leader_epoch: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    producer_id: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    transactional: bool = False
    control: bool = False


def decode_contents(entry: bytes, origin: Origin, position: int, *, limit: int) -> Parsed[RecordContent]:
    """The contents of one entry, whole or refused; its checksum and its length are the segment reader's business."""
    view = memoryview(entry).cast("B")
    try:
        return Parsed(rows=tuple(_batch(view, limit) if entry[16] > 1 else _legacy(view, limit)))
    except (Undecodable, IndexError) as stop:
        fault = stop if isinstance(stop, Undecodable) else Undecodable("a whole entry", f"{len(entry)} bytes")
        end = position + len(entry)
        return Parsed(refusals=(refuse(origin, fault.kind, position, end, expected=fault.expected, found=fault.found),))


def _batch(view: memoryview, limit: int) -> Iterator[RecordContent]:
    batch = batch_fields(view)
    for number, fields in enumerate(stored_records(view, batch, limit)):
        delta = fields.offset_delta
        if not 0 <= delta <= batch.last_offset_delta or batch.base_offset + delta > _INT64_MAX:
            raise Undecodable(f"offset delta 0 to {batch.last_offset_delta} in record {number}", str(delta))
        yield _content(batch, fields)


def _content(batch: BatchFields, fields: StoredRecord) -> RecordContent:
    sequence = (batch.base_sequence + fields.offset_delta) % _SEQUENCES if batch.base_sequence >= 0 else -1
    return RecordContent(
        offset=batch.base_offset + fields.offset_delta,
        timestamp=record_timestamp(batch, fields.timestamp_delta),
        leader_epoch=batch.leader_epoch,
        key=fields.key,
        value=fields.value,
        headers=tuple(fields.headers),
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        sequence=sequence,
        transactional=bool(batch.attributes & _TRANSACTIONAL),
        control=bool(batch.attributes & CONTROL),
    )


def _legacy(view: memoryview, limit: int) -> Iterator[RecordContent]:
    for message in message_set(view, limit).messages:
        yield RecordContent(
            offset=message.offset,
            timestamp=message.timestamp,
            leader_epoch=-1,
            key=message.key,
            value=message.value,
        )
