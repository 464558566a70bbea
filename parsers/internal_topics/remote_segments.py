"""`__remote_log_metadata`: which segments brokers copied to remote storage, and which of those still stand there.

A record names a segment or a change of its state (KIP-405, Kafka 3.6 on). Its frame is that of metadata records.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.internal_topics.record import InternalRecord, refuse_record
from parsers.provenance import Origin, Span
from parsers.tables import Refusal
from parsers.wire import Cursor, Malformed, UnknownVersion

FRAME: Final = 1
SEGMENT, UPDATE, PARTITION_DELETED, SNAPSHOT = range(4)
STARTED, FINISHED = 0, 1
"""States of a segment: its copy was begun, or it is there whole; higher ones delete it."""
REMOTE_LIMIT: Final = 200_000
"""Segments of one partition of the topic that are kept."""
_EPOCH_BYTES: Final = 13


class RemoteSegment(Struct, frozen=True, kw_only=True):
    """A segment that was copied to remote storage."""

    topic: str
    topic_id: str
    partition: int
    id: str
    start_offset: int
    end_offset: int
    """Behind its last offset; the record names the last."""
    broker: int
    """Who copied it."""
    epochs: tuple[tuple[int, int], ...]
    """Leader epochs, and where each begins in it."""
    size: int
    state: int
    span: Span


class RemoteSegments(Struct, frozen=True, kw_only=True):
    """The segments that stand whole in remote storage where the log ends, and what could not be read."""

    standing: tuple[RemoteSegment, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    left_out: int = 0
    """Records for whose segments there was no room."""


def remote_segments(records: Iterable[InternalRecord], origin: Origin, limit: int = REMOTE_LIMIT) -> RemoteSegments:
    """What is said of every segment, the last word of each counting; one that is deleted, or may be, is none."""
    known: dict[str, RemoteSegment] = {}
    refusals: list[Refusal] = []
    left_out = 0
    for record in records:
        if record.control_type is not None or record.value is None:
            continue
        try:
            decoded = _decoded(Cursor(record.value), record.span)
        except (Malformed, UnknownVersion) as error:
            refusals.append(refuse_record(origin, record, error))
            continue
        if isinstance(decoded, RemoteSegment) and decoded.id not in known and len(known) >= limit:
            left_out += 1
        elif isinstance(decoded, RemoteSegment):
            known[decoded.id] = decoded
        elif decoded is not None and decoded[0] in known:
            segment, state = decoded
            known[segment] = replace(known[segment], state=state)
    standing = tuple(segment for segment in known.values() if segment.state == FINISHED)
    return RemoteSegments(standing=standing, refusals=tuple(refusals), left_out=left_out)


def _decoded(cursor: Cursor, span: Span) -> RemoteSegment | tuple[str, int] | None:
    """A segment, or the new state of one; None of what says nothing of a segment's copy."""
    frame = cursor.uvarint()
    if frame != FRAME:
        raise UnknownVersion(f"frame version {frame}")
    kind, version = cursor.uvarint(), cursor.uvarint()
    if version != 0:
        raise UnknownVersion(f"version {version} of remote log metadata record {kind}, known up to 0")
    if kind in (PARTITION_DELETED, SNAPSHOT):
        return None
    if kind not in (SEGMENT, UPDATE):
        raise UnknownVersion(f"remote log metadata record {kind}")
    topic, topic_id, partition, segment = _segment_id(cursor)
    if kind == UPDATE:
        cursor.int32()
        cursor.int64()
        state = _state(cursor)
        return segment, state
    start, last, broker = cursor.int64(), cursor.int64(), cursor.int32()
    cursor.int64()
    cursor.int64()
    epochs = _epochs(cursor)
    size = cursor.int32()
    state = _state(cursor)
    if not 0 <= start <= last:
        raise Malformed("a last offset at or behind the first", f"first {start}, last {last}")
    return RemoteSegment(
        topic=topic,
        topic_id=topic_id,
        partition=partition,
        id=segment,
        start_offset=start,
        end_offset=last + 1,
        broker=broker,
        epochs=epochs,
        size=size,
        state=state,
        span=span,
    )


def _segment_id(cursor: Cursor) -> tuple[str, str, int, str]:
    topic, topic_id, partition = cursor.string(), cursor.uuid(), cursor.int32()
    cursor.tags()
    segment = cursor.uuid()
    cursor.tags()
    return topic, topic_id, partition, segment


def _epochs(cursor: Cursor) -> tuple[tuple[int, int], ...]:
    found = []
    for _ in range(cursor.count(_EPOCH_BYTES) or 0):
        found.append((cursor.int32(), cursor.int64()))
        cursor.tags()
    return tuple(found)


def _state(cursor: Cursor) -> int:
    """The state that ends a record, behind what its plugin added; nothing may follow but tagged fields."""
    size = cursor.length()
    if size > 0:
        cursor.take(size, "custom metadata")
    state = cursor.int8()
    cursor.tags()
    cursor.finish()
    return state
