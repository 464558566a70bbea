"""Raw `.log` segments to rows: the chain of batch headers, their checksums, and the places where the chain breaks.

The *true chain* of a file starts at byte 0, follows sound headers, and takes up again behind damage. A scan of
`[start, end)` yields the batches of that chain whose first byte lies there, and the refusals that start there: a file
may be cut anywhere, and the parts add up to the whole.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from parsers.files import file_type, locate
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.segment.breaks import Hole, gap, refusal_of, swallowed
from parsers.segment.columns import HeaderColumns, empty_columns, to_headers
from parsers.segment.layout import LEGACY_HEADER_BYTES, WINDOW, Mapped, sound
from parsers.segment.plain import PlainKernel
from parsers.segment.resync import ChecksumCredit
from parsers.tables import Refusal

CHUNK_ROWS: Final = 1 << 14
"""A column of a chunk is then small enough for the allocator to hand out again; a larger one costs fresh pages."""
CHUNK_REFUSALS: Final = 1 << 12
COMPILED_FROM: Final = 8 << 20
"""Smaller files are read before numba would be loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentChunk:
    """A stretch of a segment: headers in physical order (HEADER_SCHEMA), and what could not be read in it."""

    headers: pa.RecordBatch
    refusals: tuple[Refusal, ...]


def unread_chunk(reason: Refusal, *, verify: bool = True) -> SegmentChunk:
    """A stretch of which nothing was read."""
    return SegmentChunk(headers=to_headers(empty_columns(0), 0, verified=verify), refusals=(reason,))


class Kernel(Protocol):
    """The inner loop, plain or compiled, with equal results."""

    def walk(
        self, segment: Mapped, position: int, stop: int, columns: HeaderColumns, filled: int, *, verify: bool
    ) -> tuple[int, int]:
        """Fill rows while headers are sound, start before `stop` and find room; rows filled and position reached."""
        ...

    def skip(self, segment: Mapped, position: int, stop: int) -> tuple[int, int]:
        """Follow sound headers up to `stop`; start of the last entry (-1 for none) and position reached."""
        ...


def scan(
    path: Path,
    origin: Origin,
    *,
    start: int = 0,
    end: int | None = None,
    verify: bool = True,
    chunk_rows: int = CHUNK_ROWS,
    kernel: Kernel | None = None,
) -> Iterator[SegmentChunk]:
    """The batches of the true chain that begin in `[start, end)`, in physical order, a bounded chunk at a time.

    `verify=False` leaves `crc_valid` null. `kernel` overrides the choice by file size.
    """
    try:
        segment = _map(path)
    except (OSError, ValueError) as error:
        if start <= 0:
            found = getattr(error, "strerror", None) or str(error)
            reason = refuse(origin, "unreadable", 0, 0, expected="a readable file", found=found)
            yield unread_chunk(reason, verify=verify)
        return
    if segment is not None:
        stop = segment.size if end is None else min(end, segment.size)
        chosen = kernel or choose_kernel(segment.size)
        yield from _Walk(segment, origin, chosen, verify=verify).chunks(max(start, 0), stop, max(chunk_rows, 1))


def scan_source(
    root: Path, origin: Origin, *, start: int = 0, end: int | None = None, verify: bool = True
) -> Iterator[SegmentChunk]:
    """`scan` of a dump's segment, found by its origin; one that lies outside the dump is refused like any other."""
    place = locate(root, origin.source)
    if isinstance(place, Path):
        yield from scan(place, origin, start=start, end=end, verify=verify)
    elif start <= 0:
        yield unread_chunk(place.refusal(origin), verify=verify)


def choose_kernel(size: int) -> Kernel:
    """The compiled kernel where it pays and is there, else the plain one."""
    if size >= COMPILED_FROM:
        from parsers.segment.compiled import compiled_kernel

        return compiled_kernel() or PlainKernel()
    return PlainKernel()


def _map(path: Path) -> Mapped | None:
    """The file, mapped read-only; None for an empty one, which has nothing to map."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        # Opening a FIFO would wait for a writer for ever.
        raise OSError(errno.EINVAL, file_type(mode))
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return None
        mapping = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    return Mapped(mapping=mapping, data=np.frombuffer(mapping, dtype=np.uint8), size=size)


class _Walk:
    """One pass over one file."""

    def __init__(self, segment: Mapped, origin: Origin, kernel: Kernel, *, verify: bool) -> None:
        self._segment = segment
        self._origin = origin
        self._kernel = kernel
        self._verify = verify
        self._credit = ChecksumCredit()
        self._released = 0

    def chunks(self, start: int, stop: int, chunk_rows: int) -> Iterator[SegmentChunk]:
        """Rows and refusals that begin in `[start, stop)`."""
        if start >= stop:
            return
        position, met = self._reach(start, stop)
        refusals = [refusal_of(self._segment, self._origin, met)] if met is not None and met.start < stop else []
        while position < stop:
            columns = empty_columns(min(chunk_rows, (stop - position) // LEGACY_HEADER_BYTES + 1))
            filled, position = self._fill(columns, position, stop, refusals)
            yield self._chunk(columns, filled, refusals)
            refusals = []
        if refusals:
            yield self._chunk(empty_columns(0), 0, refusals)

    def _chunk(self, columns: HeaderColumns, filled: int, refusals: list[Refusal]) -> SegmentChunk:
        headers = to_headers(columns, filled, verified=self._verify)
        return SegmentChunk(headers=headers, refusals=tuple(refusals))

    def _reach(self, start: int, stop: int) -> tuple[int, Hole | None]:
        """Where the true chain goes on at or after `start`, and a hole met on the way that begins there."""
        position, previous = 0, -1
        while position < start:
            previous, position = self._kernel.skip(self._segment, position, min(start, position + WINDOW))
            self._release(position)
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
            window = min(stop, position + WINDOW)
            filled, position = self._kernel.walk(self._segment, position, window, columns, filled, verify=self._verify)
            previous = int(columns.span_start[filled - 1]) if filled else -1
            self._release(position)
            hole = self._broken(previous, position, stop)
            if hole is not None:
                filled -= hole.start == previous
                position = hole.end
                refusals.append(refusal_of(self._segment, self._origin, hole))
        return filled, position

    def _broken(self, previous: int, position: int, stop: int) -> Hole | None:
        """The hole at `position`, or the one that `previous` turns out to be; None while the chain holds.

        A hole that begins at or after `stop` is another part's to report.
        """
        if position == self._segment.size or sound(self._segment, position):
            return None
        hole = swallowed(self._segment, previous, position, self._credit) if previous >= 0 else None
        if hole is None and position < stop:
            hole = gap(self._segment, previous, position, self._credit)
        return hole

    def _release(self, position: int) -> None:
        """Give back the pages before `position`."""
        self._released = self._segment.release(self._released, position)
