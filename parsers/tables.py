"""The one schema module: each table is a frozen row class; Arrow schema, column docs and admission checks follow from it."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

__all__ = [
    "TABLES", "BatchHeader", "Column", "EpochEntry", "IndexEntry", "OffsetCheckpoint", "ProducerState", "RecordRow",
    "Refusal", "RefusalKind", "SourceRow", "arrow_schema", "columns", "from_arrow", "to_arrow",
]  # fmt: skip


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Column:
    """What a column means and what its values may be; `type` fixes the width in which it travels."""

    doc: str
    type: str
    minimum: int | None = None
    maximum: int | None = None
    nullable: bool = False
    name: str = ""


def i64(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """A 64-bit signed integer column."""
    return Column(doc, "int64", minimum, maximum)


def i32(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """A 32-bit signed integer column."""
    return Column(doc, "int32", minimum, maximum)


def i16(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """A 16-bit signed integer column."""
    return Column(doc, "int16", minimum, maximum)


def i8(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """An 8-bit signed integer column."""
    return Column(doc, "int8", minimum, maximum)


def text(doc: str) -> Column:
    """A text column."""
    return Column(doc, "string")


def flag(doc: str) -> Column:
    """A true/false column."""
    return Column(doc, "bool")


def raw(doc: str) -> Column:
    """A bytes column."""
    return Column(doc, "binary")


ClusterId = Annotated[str | None, text("cluster.id of the log dir's meta.properties; null where the broker wrote none.")]
Broker = Annotated[int | None, i32("Broker (node) id.", minimum=0)]
LogDir = Annotated[str | None, text("Log dir (one entry of log.dirs), as a path inside the dump.")]
Topic = Annotated[str | None, text("Topic name.")]
TopicId = Annotated[str | None, text("Topic id of partition.metadata, 22 base64url characters; null before 2.8.")]
Partition = Annotated[int | None, i32("Partition number.", minimum=0)]
SourcePath = Annotated[str, text("File the row was read from, as a path inside the dump.")]
SpanStart = Annotated[int, i64("First byte of the row in its source.", minimum=0)]
SpanEnd = Annotated[int, i64("First byte after the row in its source.", minimum=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHeader:
    """One record batch (magic 2) or legacy entry (magic 0/1) as its header states it, in physical order."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    base_offset: Annotated[int | None, i64("First offset; null for a compressed legacy entry, whose header does not tell it.")]
    last_offset: Annotated[int, i64("Last offset of the batch, inclusive, as baseOffset + lastOffsetDelta.")]
    leader_epoch: Annotated[int | None, i32("partitionLeaderEpoch; -1 in legacy entries; null where a dump text omits it.", minimum=-1)]
    magic: Annotated[int, i8("Record format: 0, 1 or 2.", minimum=0, maximum=2)]
    size: Annotated[int, i32("Bytes of the whole entry, 12 + its length field.", minimum=14)]
    crc: Annotated[int | None, i64("Checksum as stored, unsigned.", minimum=0, maximum=0xFFFFFFFF)]
    crc_valid: Annotated[bool | None, flag("Whether the recomputed checksum equals the stored one; null where it was not recomputed.")]
    attributes: Annotated[int | None, i16("Attribute bits as stored.")]
    record_count: Annotated[int | None, i32("Records in the batch; null where only decompression would tell.", minimum=0)]
    base_timestamp: Annotated[int | None, i64("baseTimestamp, ms; the delete horizon when attribute bit 6 is set.")]
    max_timestamp: Annotated[int | None, i64("maxTimestamp, ms; -1 for none.")]
    producer_id: Annotated[int | None, i64("Producer id; -1 for none.", minimum=-1)]
    producer_epoch: Annotated[int | None, i16("Producer epoch; -1 for none.", minimum=-1)]
    base_sequence: Annotated[int | None, i32("First sequence; -1 for none.", minimum=-1)]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One record, decoded on demand; contents travel as hashes, payload bytes only when asked for."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    offset: Annotated[int, i64("Offset of the record.")]
    timestamp: Annotated[int, i64("Timestamp, ms; -1 for none.")]
    leader_epoch: Annotated[int, i32("partitionLeaderEpoch of the batch; -1 in legacy entries.")]
    sequence: Annotated[int, i32("Sequence of the record; -1 for none.")]
    key_size: Annotated[int, i32("Bytes of the key; -1 for null.", minimum=-1)]
    value_size: Annotated[int, i32("Bytes of the value; -1 for null.", minimum=-1)]
    header_count: Annotated[int, i32("Number of headers.", minimum=0)]
    key_hash: Annotated[str | None, text("Hash of the key, 16 hex characters; null for a null key.")]
    content_hash: Annotated[str, text("Hash of key, value and timestamp, 16 hex characters; equal contents have equal hashes.")]
    headers_hash: Annotated[str, text("Hash of the headers, 16 hex characters.")]
    control_type: Annotated[int | None, i16("Control record type (0 ABORT, 1 COMMIT, …); null for data.")]
    key: Annotated[bytes | None, raw("Key bytes; null unless payloads were asked for.")]
    value: Annotated[bytes | None, raw("Value bytes; null unless payloads were asked for.")]
    source: SourcePath
    span_start: Annotated[int, i64("First byte of the batch that holds the record.", minimum=0)]
    span_end: Annotated[int, i64("First byte after the batch that holds the record.", minimum=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEntry:
    """One line of a leader-epoch-checkpoint: an epoch and the first offset written in it."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    epoch: Annotated[int, i32("Leader epoch.", minimum=0)]
    start_offset: Annotated[int, i64("First offset of the epoch.", minimum=0)]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


CheckpointKind = Literal["replication", "recovery-point", "log-start", "cleaner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCheckpoint:
    """One line of an offset checkpoint of a log dir."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    kind: Annotated[CheckpointKind, text("Which checkpoint: replication (high watermark), recovery-point, log-start or cleaner.")]
    offset: Annotated[int, i64("The offset that stands in the file.")]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState:
    """One entry of a producer snapshot."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    snapshot_offset: Annotated[int, i64("Offset up to which (exclusive) the snapshot speaks; the file's name.", minimum=0)]
    producer_id: Annotated[int, i64("Producer id.")]
    producer_epoch: Annotated[int, i16("Producer epoch.")]
    last_sequence: Annotated[int, i32("Last sequence; -1 when only markers were seen.")]
    last_offset: Annotated[int, i64("Last data offset; -1 when only markers were seen.")]
    offset_delta: Annotated[int, i32("Offsets between the first and last record of the last batch.")]
    timestamp: Annotated[int, i64("Time of the last append, ms.")]
    coordinator_epoch: Annotated[int, i32("Transaction coordinator epoch of the last marker.")]
    current_txn_first_offset: Annotated[int, i64("First offset of the open transaction; -1 for none.")]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


IndexKind = Literal["offset", "time", "transaction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """One slot of an offset, time or transaction index."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    kind: Annotated[IndexKind, text("Which index: offset, time or transaction.")]
    segment_base_offset: Annotated[int, i64("Base offset of the index's segment.", minimum=0)]
    offset: Annotated[int, i64("Absolute offset: indexed offset, or last offset of the aborted transaction.")]
    position: Annotated[int | None, i32("Byte position in the segment (offset index).", minimum=0)]
    timestamp: Annotated[int | None, i64("Timestamp, ms (time index).")]
    producer_id: Annotated[int | None, i64("Producer id (transaction index).")]
    first_offset: Annotated[int | None, i64("First offset of the aborted transaction (transaction index).")]
    last_stable_offset: Annotated[int | None, i64("Last stable offset when the transaction ended (transaction index).")]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


RefusalKind = Literal[
    "torn_tail",  # the last batch is cut short: the file ends inside it
    "zero_tail",  # zeros up to the end of the file: preallocation or lost pages
    "damage",  # bytes that are no batch, with valid batches behind them or not
    "undecodable",  # a sound batch whose records cannot be decoded
    "malformed",  # a file or line that breaks its grammar
    "unknown_version",  # a version this reader does not know
    "too_large",  # a size beyond what is read
    "unreadable",  # the operating system refused
    "ambiguous",  # two things claim one place
    "escapes_dump",  # a link that leaves the dump
    "truncated_line",  # a text line that ends inside itself
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What could not be read: where, what was expected there, and what was found instead."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    kind: Annotated[RefusalKind, text("Class of the refusal.")]
    expected: Annotated[str, text("What should have stood there.")]
    found: Annotated[str, text("What stood there, shortened and escaped.")]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One file of the dump as the inventory found it."""

    cluster_id: ClusterId
    broker: Broker
    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
    kind: Annotated[str, text("What the file is.")]
    state: Annotated[str, text("State of its replica dir: current, future, deleted or stray.")]
    size: Annotated[int, i64("Bytes of the file.", minimum=0)]
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


TABLES: dict[str, type] = {
    "batches": BatchHeader,
    "records": RecordRow,
    "epochs": EpochEntry,
    "checkpoints": OffsetCheckpoint,
    "producers": ProducerState,
    "indexes": IndexEntry,
    "refusals": Refusal,
    "sources": SourceRow,
}

_ARROW: dict[str, pa.DataType] = {
    "int64": pa.int64(), "int32": pa.int32(), "int16": pa.int16(), "int8": pa.int8(),
    "string": pa.string(), "bool": pa.bool_(), "binary": pa.binary(),
}  # fmt: skip
_PLAIN: dict[type, pa.DataType] = {int: pa.int64(), str: pa.string(), bool: pa.bool_(), bytes: pa.binary(), float: pa.float64()}


@cache
def columns(row_class: type) -> tuple[Column, ...]:
    """The columns of a table, in order, with name and nullability taken from the row class."""
    hints = get_type_hints(row_class, include_extras=True)
    return tuple(_column(field.name, hints[field.name]) for field in dataclasses.fields(row_class))


def _column(name: str, hint: Any) -> Column:
    base, column = get_args(hint)[:2]
    return dataclasses.replace(column, name=name, nullable=_optional(base) is not None)


def _optional(hint: Any) -> Any:
    """The type inside `X | None`, or None where the hint admits no null."""
    if get_origin(hint) not in (Union, types.UnionType):
        return None
    return next(argument for argument in get_args(hint) if argument is not type(None))


@cache
def arrow_schema(row_class: type) -> pa.Schema:
    """The Arrow schema of a row class; nested frozen classes become structs, tuples become lists."""
    hints = get_type_hints(row_class, include_extras=True)
    return pa.schema([_arrow_field(field.name, hints[field.name]) for field in dataclasses.fields(row_class)])


def _arrow_field(name: str, hint: Any) -> pa.Field:
    if get_origin(hint) is Annotated:
        base, column = get_args(hint)[:2]
        return pa.field(name, _ARROW[column.type], nullable=_optional(base) is not None, metadata={"comment": column.doc})
    inner = _optional(hint)
    return pa.field(name, _arrow_type(inner or hint), nullable=inner is not None)


def _arrow_type(hint: Any) -> pa.DataType:
    if get_origin(hint) is Annotated:
        return _ARROW[get_args(hint)[1].type]
    if get_origin(hint) is Literal:
        return pa.string()
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    if dataclasses.is_dataclass(hint):
        return pa.struct(list(arrow_schema(hint)))  # type: ignore[arg-type]
    return _PLAIN[hint]


def to_arrow(rows: Sequence[Any], row_class: type) -> pa.RecordBatch:
    """Rows of one class as one Arrow batch."""
    return pa.RecordBatch.from_pylist([dataclasses.asdict(row) for row in rows], schema=arrow_schema(row_class))


def from_arrow(batch: pa.RecordBatch | pa.Table, row_class: type[Row]) -> list[Row]:
    """The rows of an Arrow batch as values of their class; the inverse of `to_arrow`."""
    return [_value(row, row_class) for row in batch.to_pylist()]


def _value(value: Any, hint: Any) -> Any:
    if value is None:
        return None
    if dataclasses.is_dataclass(hint):
        hints = _plain_hints(hint)  # type: ignore[arg-type]
        return hint(**{name: _value(value[name], inner) for name, inner in hints.items()})  # type: ignore[operator]
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        return tuple(_value(item, inner) for item in value)
    return value


@cache
def _plain_hints(row_class: type) -> dict[str, Any]:
    return {name: _optional(hint) or hint for name, hint in get_type_hints(row_class).items()}


def describe(row_class: type) -> Iterable[str]:
    """One line a column, for the generated reference."""
    return (f"{column.name} ({column.type}{', nullable' if column.nullable else ''}): {column.doc}" for column in columns(row_class))
