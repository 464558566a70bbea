"""Raw `.log` segments to rows: the chain of batch headers, their checksums, and the places where the chain breaks.

The *true chain* of a file starts at byte 0, follows sound headers, and takes up again behind damage. A scan of
`[start, end)` yields the batches of that chain whose first byte lies there, and the refusals that start there: a file
may be cut anywhere, and the parts add up to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from parsers.files import locate, open_regular
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.segment.breaks import UnreadableBytes, gap, refusal_of, swallowed
from parsers.segment.columns import HeaderColumns, empty_columns, to_headers
from parsers.segment.entry_header import LEGACY_HEADER_BYTES, sound
from parsers.segment.held_bytes import HEADER_ROOM, WINDOW, HeldSegment
from parsers.segment.links import Links
from parsers.segment.plain_kernel import PlainKernel, next_entry
from parsers.segment.resync import ChecksumCredit
from parsers.tables import Refusal

CHUNK_ROWS: Final = 1 << 14
"""A column of a chunk is then small enough for the allocator to hand out again; a larger one costs fresh pages."""
CHUNK_REFUSALS: Final = 1 << 12
ENTRY_HELD: Final = 16 << 20
"""An entry that is asked for is held whole up to this size; a longer one is read again when it is."""
MAX_SEGMENT: Final = 2**31 - 1
COMPILED_FROM: Final = 8 << 20
"""Smaller files are read before numba would be loaded."""
PLACE: Final = ("span_start", "span_end")

_PLAIN: Final = PlainKernel()


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentChunk:
    """A stretch of a segment: headers in physical order (HEADER_SCHEMA), and what could not be read in it."""

    headers: pa.RecordBatch
    refusals: tuple[Refusal, ...]
    segment: HeldSegment | None = field(default=None, repr=False, compare=False)
    """The open file; until the next chunk is asked for, it gives the bytes of these batches."""

    def bytes_of(self, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        """Some bytes of these batches, copied."""
        return (self.segment.read(start, end) for start, end in spans if self.segment is not None)

    def entries(self, columns: Sequence[str] = ()) -> Iterator[tuple[dict[str, Any], memoryview]]:
        """The batches whose checksums were not found wrong, each as a row of these columns and with its bytes.

        A scan that is told of it holds these bytes still; else they are read again.
        """
        if self.segment is None:
            return
        valid = pc.fill_null(self.headers["crc_valid"], fill_value=True)
        for row in self.headers.filter(valid).select([*PLACE, *columns]).to_pylist():
            yield row, self.segment.entry(row["span_start"], row["span_end"])


def unread_chunk(reason: Refusal, *, verify: bool = True) -> SegmentChunk:
    """A stretch of which nothing was read."""
    return SegmentChunk(headers=to_headers(empty_columns(0), 0, verified=verify), refusals=(reason,))


class Kernel(Protocol):
    """The inner loop, plain or compiled, with equal results."""

    def walk(
        self, segment: HeldSegment, position: int, stop: int, columns: HeaderColumns, filled: int, *, verify: bool
    ) -> tuple[int, int]:
        """Fill rows while headers are sound, start before `stop` and find room; rows filled and position reached."""
        ...

    def skip(self, segment: HeldSegment, position: int, stop: int) -> tuple[int, int]:
        """Follow sound headers up to `stop`; start of the last entry (-1 for none) and position reached."""
        ...


def scan(  # noqa: PLR0913 - what is read, and by whose choices
    path: Path,
    origin: Origin,
    *,
    start: int = 0,
    end: int | None = None,
    listed: int = 0,
    links: Links | None = None,
    verify: bool = True,
    entries: bool = False,
    chunk_rows: int = CHUNK_ROWS,
    kernel: Kernel | None = None,
) -> Iterator[SegmentChunk]:
    """The batches of the true chain that begin in `[start, end)`, in physical order, a bounded chunk at a time.

    `listed` is the size that the file had when it was listed: one that is shorter now is not read to its end.
    `links` hands on where the chain goes on, from one stretch of a file to the next.
    `verify=False` leaves `crc_valid` null. `entries=True` makes every chunk end before its bytes are given up: whoever
    asks it for them reads no byte twice, and learns of each whether its checksum holds.
    `kernel` overrides the choice by file size.
    """
    place = max(start, 0)
    try:
        with HeldSegment(open_regular(path), WINDOW) as segment:
            if segment.size > MAX_SEGMENT:
                if place == 0:
                    yield unread_chunk(_too_large(origin, segment.size), verify=verify)
                return
            stop = segment.size if end is None else min(end, segment.size)
            chosen, known = kernel or choose_kernel(segment.size), links or Links()
            walk = _Walk(segment, origin, chosen, known, verify=verify or entries, entries=entries)
            for chunk in walk.chunks(place, stop, max(chunk_rows, 1)):
                yield chunk
                place = walk.reached
            segment.require(listed)
    except (OSError, ValueError) as error:
        if place <= 0 or listed:
            yield unread_chunk(_unopened(origin, place, error), verify=verify)


def scan_source(
    root: Path | str,
    origin: Origin,
    *,
    start: int = 0,
    end: int | None = None,
    listed: int = 0,
    links: Links | None = None,
    verify: bool = True,
    entries: bool = False,
) -> Iterator[SegmentChunk]:
    """`scan` of a dump's segment, found by its origin; one that lies outside the dump is refused like any other."""
    place = locate(root, origin.source)
    if isinstance(place, Path):
        yield from scan(
            place, origin, start=start, end=end, listed=listed, links=links, verify=verify, entries=entries
        )
    elif start <= 0:
        yield unread_chunk(place.refusal(origin), verify=verify)


def _unopened(origin: Origin, place: int, error: OSError | ValueError) -> Refusal:
    """A segment that was looked for and is not there has not been copied; any other one cannot be read."""
    if isinstance(error, FileNotFoundError):
        expected = "a segment that files beside it tell of"
        return refuse(origin, "not_copied", 0, 0, expected=expected, found="no such file")
    found = getattr(error, "strerror", None) or str(error)
    return refuse(origin, "unreadable", place, place, expected="a readable file", found=found)


def _too_large(origin: Origin, size: int) -> Refusal:
    """No broker writes or opens one: positions in it are numbers of 32 bits."""
    return refuse(origin, "too_large", 0, size, expected=f"at most {MAX_SEGMENT} bytes", found=f"{size} bytes")


def choose_kernel(size: int) -> Kernel:
    """The compiled kernel where it pays and is there, else the plain one."""
    if size >= COMPILED_FROM:
        from parsers.segment.compiled import compiled_kernel

        return compiled_kernel() or PlainKernel()
    return PlainKernel()


class _Walk:
    """One pass over one file."""

    def __init__(
        self, segment: HeldSegment, origin: Origin, kernel: Kernel, links: Links, *, verify: bool, entries: bool
    ) -> None:
        self._segment = segment
        self._origin = origin
        self._kernel = kernel
        self._links = links
        self._verify = verify
        self._entries = entries
        self._credit = ChecksumCredit()
        self._broke = False
        self.reached = 0
        """Where the next chunk begins."""

    def chunks(self, start: int, stop: int, chunk_rows: int) -> Iterator[SegmentChunk]:
        """Rows and refusals that begin in `[start, stop)`."""
        if start >= stop:
            return
        position, met = self._reach(start, stop)
        refusals = [refusal_of(self._segment, self._origin, met)] if met is not None and met.start < stop else []
        while position < stop:
            columns = empty_columns(min(chunk_rows, (stop - position) // LEGACY_HEADER_BYTES + 1))
            filled, position = self._fill(columns, position, stop, refusals)
            self.reached = position
            yield self._chunk(columns, filled, refusals)
            refusals = []
        if refusals:
            yield self._chunk(empty_columns(0), 0, refusals)
        if not self._broke:
            self._links.note(self._segment, stop, position)

    def _chunk(self, columns: HeaderColumns, filled: int, refusals: list[Refusal]) -> SegmentChunk:
        headers = to_headers(columns, filled, verified=self._verify)
        return SegmentChunk(headers=headers, refusals=tuple(refusals), segment=self._segment)

    def _reach(self, start: int, stop: int) -> tuple[int, UnreadableBytes | None]:
        """Where the true chain goes on at or after `start`, and a hole met on the way that begins there."""
        position = self._links.before(self._segment, start)
        while position < start:
            self._segment.hold(position)
            previous, end = self._kernel.skip(self._segment, position, start)
            if end == position:
                previous, end = _PLAIN.skip(self._segment, position, position + 1)
            position = end
            hole = self._broken(previous, position, stop)
            if hole is not None:
                position = hole.end
                if hole.start >= start:
                    return position, hole
        return position, None

    def _fill(self, columns: HeaderColumns, position: int, stop: int, refusals: list[Refusal]) -> tuple[int, int]:
        """Fill a chunk from `position`; the rows filled and where the next chunk begins."""
        filled = 0
        while position < stop and filled < len(columns.span_start) and len(refusals) < CHUNK_REFUSALS:
            if not self._bring(position, first=not filled):
                break
            filled, end = self._kernel.walk(self._segment, position, stop, columns, filled, verify=self._verify)
            if end == position:
                # An entry that no window holds, or none at all.
                filled, end = _PLAIN.walk(self._segment, position, position + 1, columns, filled, verify=self._verify)
            position = end
            previous = int(columns.span_start[filled - 1]) if filled else -1
            hole = self._broken(previous, position, stop)
            if hole is not None:
                filled -= hole.start == previous
                position = hole.end
                refusals.append(refusal_of(self._segment, self._origin, hole))
        return filled, position

    def _bring(self, position: int, *, first: bool) -> bool:
        """Hold the entry at a position, whole where its bytes count; false where that would give up bytes asked for."""
        segment = self._segment
        if self._entries and not first and not segment.holds(position, HEADER_ROOM):
            return False
        segment.hold(position)
        most = ENTRY_HELD if self._entries else WINDOW if self._verify else 0
        size = next_entry(segment, position) - position if most else 0
        if segment.end - position < size <= most:
            if self._entries and not first:
                return False
            segment.hold(position, size)
        return True

    def _broken(self, previous: int, position: int, stop: int) -> UnreadableBytes | None:
        """The hole at `position`, or the one that `previous` turns out to be; None while the chain holds.

        A hole that begins at or after `stop` is another part's to report.
        """
        if position == self._segment.size or sound(self._segment, position):
            return None
        self._broke = True
        hole = swallowed(self._segment, previous, position, self._credit) if previous >= 0 else None
        if hole is None and position < stop:
            hole = gap(self._segment, previous, position, self._credit)
        return hole
