"""Finding the next batch behind damage, in linear time whatever the bytes are.

A candidate must be plausible in every field and carry a matching checksum. Hostile bytes may pretend a huge entry at
every position, so checksums are paid from a credit that grows with the position in the file: at most
`CREDIT_BASE + CREDIT_RATE * file size` bytes are ever summed. What costs more than is left is passed over, and stays in
the reported hole. The credit depends on the bytes before it alone, so every part of a split file spends it alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from parsers.segment.checksum import crc_holds
from parsers.segment.entry_header import INT32, LEGACY_HEADER_BYTES, LENGTH_END, MAX_LENGTH, MIN_LENGTH, plausible
from parsers.segment.held_bytes import HEADER_ROOM, Bytes, HeldSegment

CREDIT_BASE: Final = 64 << 20
CREDIT_RATE: Final = 4
NARROW: Final = 1 << 9
WIDE: Final = 1 << 18
SIGN_BIT: Final = 0x80
Positions = npt.NDArray[np.int64]

_MINIMUM: Final = np.array([MIN_LENGTH[magic] for magic in range(3)], dtype=np.int64)


class ChecksumCredit:
    """Bytes that may still be summed in search of a batch."""

    __slots__ = ("_spent",)

    def __init__(self) -> None:
        self._spent = 0

    def left(self, position: int) -> int:
        """What may be summed once the file was read up to `position`."""
        return CREDIT_BASE + CREDIT_RATE * position - self._spent

    def spend(self, amount: int) -> None:
        """Take note of bytes that were summed."""
        self._spent += amount


def next_batch(segment: HeldSegment, start: int, stop: int, credit: ChecksumCredit) -> int | None:
    """Position of the first batch in `[start, stop)` whose checksum holds."""
    for low, high in widening(start, stop):
        for candidate in candidates(segment, low, high, credit.left(low)):
            end = plausible(segment, candidate)
            if not end or end - candidate > credit.left(candidate):
                continue
            credit.spend(end - candidate)
            if crc_holds(segment, candidate, end):
                return candidate
    return None


def widening(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """`[start, stop)` in steps that begin small, because most holes are, and double up to a size the cache holds."""
    width = NARROW
    while start < stop:
        end = min(start + width, stop)
        yield start, end
        start, width = end, min(width * 2, WIDE)


def candidates(segment: HeldSegment, low: int, high: int, limit: int) -> list[int]:
    """Positions in `[low, high)` that look like an entry of at most `limit` bytes; nearly all of what is none is gone.

    Every byte of a hole is looked at, so this is done column by column, and only what is left one by one.
    """
    segment.hold(low, high - low + HEADER_ROOM)
    data, first = segment.data, segment.start
    starts = _possible_starts(segment, low, high)
    magics = data[starts - first + 16]
    lengths = _int32(data, starts - first + 8)
    ends = starts + LENGTH_END + lengths
    fitting = (lengths >= _MINIMUM[magics]) & (lengths <= min(limit - LENGTH_END, MAX_LENGTH)) & (ends <= segment.size)
    starts, ends, magics = starts[fitting], ends[fitting], magics[fitting]
    batches, legacy = starts[magics == 2], magics < 2
    batches = batches[_signs_hold(data, batches - first)]
    older = _filled_exactly(segment, starts[legacy], ends[legacy], magics[legacy])
    found: list[int] = np.sort(np.concatenate((batches, older))).tolist()
    return found


def _possible_starts(segment: HeldSegment, low: int, high: int) -> Positions:
    """Positions whose magic is known, and whose offset and length are not negative, nor the length nothing."""
    count = min(high, segment.size - LEGACY_HEADER_BYTES + 1) - low
    if count <= 0:
        return np.empty(0, dtype=np.int64)
    data = segment.data[low - segment.start : low - segment.start + count + LEGACY_HEADER_BYTES]
    possible = data[16 : 16 + count] <= 2
    possible &= (data[:count] | data[8 : 8 + count]) < SIGN_BIT
    # A run of zeros looks like magic 0 at every byte, but has no length.
    possible &= (data[9 : 9 + count] | data[10 : 10 + count] | data[11 : 11 + count] | data[8 : 8 + count]) != 0
    return np.flatnonzero(possible) + low


def _signs_hold(data: Bytes, starts: Positions) -> npt.NDArray[np.bool_]:
    """Which magic 2 headers have attributes in use, and neither a negative count nor a negative last offset delta."""
    negative = (data[starts + 22] | data[starts + 23] | data[starts + 57]) >= SIGN_BIT
    signs: npt.NDArray[np.bool_] = (data[starts + 21] == 0) & ~negative
    return signs


def _filled_exactly(segment: HeldSegment, starts: Positions, ends: Positions, magics: Bytes) -> Positions:
    """Those entries of magic 0 and 1 whose key and value fill them to the last byte."""
    key_at = starts + 18 + 8 * magics.astype(np.int64)
    key_length = _int32(segment.data, key_at - segment.start)
    value_at = key_at + 4 + np.maximum(key_length, 0)
    inside = (key_length >= -1) & (value_at + 4 <= ends)
    starts, ends, value_at = starts[inside], ends[inside], value_at[inside]
    value_length = _lengths_at(segment, value_at)
    exact: Positions = starts[(value_length >= -1) & (value_at + 4 + np.maximum(value_length, 0) == ends)]
    return exact


def _lengths_at(segment: HeldSegment, at: Positions) -> Positions:
    """The numbers at these positions, of which a hostile key may put any outside what is held."""
    found = np.empty(len(at), dtype=np.int64)
    held = at + INT32.size <= segment.end
    found[held] = _int32(segment.data, at[held] - segment.start)
    found[~held] = [segment.unpack(INT32, place)[0] for place in at[~held].tolist()]
    return found


def _int32(data: Bytes, at: Positions) -> Positions:
    value = data[at].astype(np.int8).astype(np.int64)
    for byte in range(1, 4):
        value = (value << 8) | data[at + byte]
    return value


def zeros_end(segment: HeldSegment, start: int) -> int:
    """Position of the first byte at or after `start` that is not zero; the file's size when there is none."""
    for low, high in widening(start, segment.size):
        block = segment.array(low, high)
        if block.max():
            return low + int(np.flatnonzero(block)[0])
    return segment.size
