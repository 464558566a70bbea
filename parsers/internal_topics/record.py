"""What the coordinators' topics have in common: the record as it comes in, and what is refused of it."""

from __future__ import annotations

from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import Origin, Span
from parsers.refusal import refuse
from parsers.tables import RecordRow, Refusal, RefusalKind
from parsers.wire import Malformed, TooLarge, UnknownVersion


class InternalRecord(Struct, frozen=True, kw_only=True):
    """One record of an internal topic, decompressed.

    `producer_id` and `transactional` are its batch's; offsets committed in a transaction need them to know their fate.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    span: Span
    control_type: int | None = None
    producer_id: int = -1
    transactional: bool = False


def internal_record(row: RecordRow, *, producer_id: int = -1, transactional: bool = False) -> InternalRecord:
    """A decoded record of an internal topic, which must carry its payload, with two facts of its batch."""
    return InternalRecord(
        offset=row.offset,
        timestamp=row.timestamp,
        key=row.key,
        value=row.value,
        span=Origin(source=row.source).span(row.span_start, row.span_end),
        control_type=row.control_type,
        producer_id=producer_id,
        transactional=transactional,
    )


class RecordColumns(TypedDict):
    """What a record gives to its row, by the names that it has in every table of these topics."""

    cluster_id: str | None
    broker: int | None
    log_dir: str | None
    tombstone: bool
    record_partition: int | None
    record_offset: int
    source: str
    span_start: int
    span_end: int


def record_columns(record: InternalRecord, origin: Origin) -> RecordColumns:
    """The broker and the place in its files that a row came from."""
    return RecordColumns(
        cluster_id=origin.cluster_id,
        broker=origin.broker,
        log_dir=origin.log_dir,
        tombstone=record.value is None,
        record_partition=origin.partition,
        record_offset=record.offset,
        source=record.span.source,
        span_start=record.span.start,
        span_end=record.span.end,
    )


def refuse_record(origin: Origin, record: InternalRecord, error: Malformed | UnknownVersion) -> Refusal:
    """The refusal of a record that could not be decoded."""
    place = replace(origin, source=record.span.source)
    kind: RefusalKind = "malformed"
    expected, found = "a known version", str(error)
    if isinstance(error, UnknownVersion):
        kind = "unknown_version"
    else:
        expected, found = error.expected, error.found
        kind = "too_large" if isinstance(error, TooLarge) else kind
    found = f"{found} at offset {record.offset}"
    return refuse(place, kind, record.span.start, record.span.end, expected=expected, found=found)
