"""A lookup as a broker does it, every step told, and beside it what a scan of the segment finds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.engines.opened.opening import entry_at
from auditor.find.segment import OpenSegment, PlacedBatch
from parsers.provenance import Span
from parsers.records import decode_entry
from rules.evidence import Replica
from rules.finding import offsets_told

SCANNED: Final = 8
"""Batches that a scan passes over and that are told, the last ones."""


class ReplicaLookup(Struct, frozen=True, kw_only=True):
    """What a lookup came to on one replica."""

    replica: Replica
    steps: tuple[str, ...] = ()
    found: PlacedBatch | None = None
    offset: int | None = None
    """Of the record that a lookup by time is answered with."""
    remark: str = ""
    """Why nothing is found, or what is to be known of what is."""
    misled: str = ""
    """Where an index leads a broker to another batch than the log holds, or to none."""
    unread: bool = False
    outside: bool = False
    """Whether a broker refuses the offset as out of range."""


def find_offset(replica: Replica, segments: Sequence[OpenSegment], offset: int) -> ReplicaLookup:
    """The batch that a fetch from this offset is answered with."""
    start, end = replica.log_start_offset, replica.log_end_offset
    held = f"holds {offsets_told(start, end)}"
    steps = [f"the log of broker {replica.broker} {held}"]
    if replica.unseen(offset, offset + 1):
        remark = f"offset {offset} may be in a segment that is not here or cannot be read"
        return ReplicaLookup(replica=replica, steps=tuple(steps), remark=remark, unread=True)
    if not start <= offset < end or not segments:
        where = "where the log ends: nothing is there yet" if offset == end else f"outside of the log, which {held}"
        remark = f"offset {offset} is {where}"
        return ReplicaLookup(replica=replica, steps=tuple(steps), remark=remark, outside=offset != end)
    place = max((i for i, one in enumerate(segments) if one.file.base_offset <= offset), default=0)
    segment = segments[place]
    base = segment.file.base_offset
    steps.append(f"segment {base}: the last one that begins at or below {offset}; relative offset {offset - base}")
    position = _position(segment, offset, steps)
    answer = _scan(replica, segments[place:], position, steps, segment.column("last_offset"), offset)
    found = answer.found
    if found is not None and found.base_offset is not None and found.base_offset > offset:
        return replace(answer, remark=f"offset {offset} is not held: the next batch begins at {found.base_offset}")
    return answer


def find_time(replica: Replica, segments: Sequence[OpenSegment], timestamp: int) -> ReplicaLookup:
    """The first record at or after a time, as ListOffsets is answered."""
    start, end = replica.log_start_offset, replica.log_end_offset
    steps = [f"the log of broker {replica.broker} holds {offsets_told(start, end)}"]
    place = next((i for i, one in enumerate(segments) if _latest(one) >= timestamp), None)
    if place is None:
        unread = bool(replica.unopened)
        return ReplicaLookup(replica=replica, steps=tuple(steps), remark="no record is so late", unread=unread)
    segment = segments[place]
    base = segment.file.base_offset
    steps.append(f"segment {base}: the first one with a timestamp as late; its latest is {_latest(segment)}")
    entry = segment.floor("time", timestamp)
    source = segment.index_source("time")
    if entry is None:
        why = f"no entry at or below {timestamp}" if segment.has_index("time") else "not here"
        steps.append(f"{source}: {why}")
    else:
        steps.append(f"{source}: entry {entry.number}, timestamp {entry.value} at offset {entry.offset}")
    offset = max(base if entry is None else entry.offset, start)
    position = _position(segment, offset, steps)
    answer = _scan(replica, segments[place:], position, steps, segment.column("max_timestamp"), timestamp)
    hidden = replica.unseen(segments[place - 1].file.base_offset if place else 0, base)
    return _first_record(replace(answer, unread=True) if hidden else answer, segment, timestamp)


def _position(segment: OpenSegment, offset: int, steps: list[str]) -> int:
    """The byte from which the segment is scanned for an offset."""
    entry = segment.floor("offset", offset)
    source = segment.index_source("offset")
    base = segment.file.base_offset
    if entry is None:
        why = f"no entry at or below {offset}" if segment.has_index("offset") else "not here"
        steps.append(f"{source}: {why}; scan from byte 0")
        return 0
    steps.append(
        f"{source}: floor entry ({entry.offset - base}, {entry.value}), number {entry.number}: offset {entry.offset};"
        f" scan from byte {entry.value}"
    )
    return entry.value


def _scan(
    replica: Replica,
    segments: Sequence[OpenSegment],
    position: int,
    steps: list[str],
    values: Sequence[int],
    wanted: int,
) -> ReplicaLookup:
    """The first batch from a byte on whose value is as high, and the first one of the segment."""
    first = segments[0]
    starts = first.starts()
    row = bisect_left(starts, position)
    aligned = position == 0 or (row < len(starts) and starts[row] == position)
    due = _first(values, 0, wanted)
    got = _first(values, row, wanted) if aligned else None
    unread = any(one.unread for one in segments)
    if aligned:
        steps.extend(_passed(first, row, len(starts) if got is None else got))
    misled = ""
    if not aligned:
        misled = f"no batch begins at byte {position} of {first.file.source}"
    elif due != got and due is not None:
        misled = f"a scan from byte {position} of {first.file.source} begins behind the batch"
    if due is not None:
        found = first.at(due)
        steps.append(_words(found) + (": found by a scan from byte 0" if misled else ": it is this one"))
        return ReplicaLookup(replica=replica, steps=tuple(steps), found=found, misled=misled, unread=unread)
    for later in segments[1:]:
        if later.starts():
            found = later.at(0)
            steps.append(f"the segment ends before; the next one begins with {_words(found)}")
            return ReplicaLookup(replica=replica, steps=tuple(steps), found=found, misled=misled, unread=unread)
    return ReplicaLookup(replica=replica, steps=tuple(steps), remark="no batch holds it", misled=misled, unread=unread)


def _first(values: Sequence[int], start: int, wanted: int) -> int | None:
    return next((place for place in range(start, len(values)) if values[place] >= wanted), None)


def _passed(segment: OpenSegment, start: int, end: int) -> list[str]:
    """The batches that a scan passes over."""
    passed = [f"{_words(segment.at(row))}: passed over" for row in range(max(start, end - SCANNED), end)]
    hidden = max(0, end - start - SCANNED)
    return [f"{hidden} batches are passed over", *passed] if hidden else passed


def _words(held: PlacedBatch) -> str:
    return f"batch of {held.offsets} at byte {held.start}, latest timestamp {held.max_timestamp}"


def _latest(segment: OpenSegment) -> int:
    """As a broker knows it: by the last entry of the time index, and what was written since."""
    return max(segment.last_time() or -1, max(segment.column("max_timestamp"), default=-1))


def _first_record(answer: ReplicaLookup, segment: OpenSegment, timestamp: int) -> ReplicaLookup:
    if answer.found is None:
        return answer
    held = answer.found
    content = entry_at(str(segment.root), Span(source=held.source, start=held.start, end=held.end))
    rows = decode_entry(content, segment.origin, held.start).rows
    start = answer.replica.log_start_offset
    record = next((row for row in rows if row.timestamp >= timestamp and row.offset >= start), None)
    if record is None:
        return replace(answer, remark="the records of this batch cannot be told apart by time")
    step = f"in it the first record as late: offset {record.offset}, timestamp {record.timestamp}"
    return replace(answer, steps=(*answer.steps, step), offset=record.offset)
