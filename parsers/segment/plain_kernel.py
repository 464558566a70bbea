"""The kernel without compiled code: `struct` over what is held finds the chain, numpy gathers the fields.

Small files take it, because loading a compiler costs more than reading them; machines without numba take it always.
"""

from __future__ import annotations

import numpy as np

from parsers.segment.checksum import crc_holds
from parsers.segment.columns import HeaderColumns, gather_legacy, gather_v2
from parsers.segment.entry_header import HEADER_BYTES, LENGTH_END, MAX_LENGTH, V2_HEADER, sane_v2, sound
from parsers.segment.held_bytes import HEADER_ROOM, HeldSegment


class PlainKernel:
    """Follows sound headers, one `struct` call each."""

    def walk(
        self, segment: HeldSegment, position: int, stop: int, columns: HeaderColumns, filled: int, *, verify: bool
    ) -> tuple[int, int]:
        """Fill rows from `position` while headers are sound, start before `stop` and find room.

        Only the first of them may end behind what is held. Returns the number of rows then filled and the position
        after the last of them.
        """
        starts: list[int] = []
        room = len(columns.span_start) - filled
        while position < stop and len(starts) < room and (end := next_held(segment, position)):
            if end > segment.end and starts:
                break
            starts.append(position)
            position = end
        rows = slice(filled, filled + len(starts))
        columns.span_start[rows] = starts
        magics = segment.data[columns.span_start[rows] - segment.start + 16]
        for gather, own in ((gather_v2, magics == 2), (gather_legacy, magics < 2)):
            if count := np.count_nonzero(own):
                gather(segment, columns, rows if count == len(own) else filled + np.flatnonzero(own))
        if verify:
            ends = [*starts[1:], position]
            columns.crc_valid[rows] = [crc_holds(segment, start, end) for start, end in zip(starts, ends, strict=False)]
        return filled + len(starts), position

    def skip(self, segment: HeldSegment, position: int, stop: int) -> tuple[int, int]:
        """Follow sound headers up to `stop`; the last entry's start (-1 for none) and the position after it."""
        previous = -1
        while position < stop and (end := next_held(segment, position)):
            previous, position = position, end
        return previous, position


def next_held(segment: HeldSegment, position: int) -> int:
    """Where the entry at a position ends; 0 where the chain breaks, or where what is held ends."""
    return next_entry(segment, position) if segment.holds(position, HEADER_ROOM) else 0


def next_entry(segment: HeldSegment, position: int) -> int:
    """`sound`, with the everyday case decided by one `struct` call."""
    if position + HEADER_BYTES <= segment.size:
        header = segment.unpack(V2_HEADER, position)
        end: int = position + LENGTH_END + header[1]
        possible = HEADER_BYTES - LENGTH_END <= header[1] <= MAX_LENGTH
        if header[3] == 2 and possible and end <= segment.size and sane_v2(header):
            return end
    return sound(segment, position)
