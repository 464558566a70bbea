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
from parsers.segment.layout import LEGACY_HEADER_BYTES, LENGTH_END, MAX_LENGTH, MIN_LENGTH, Bytes, Mapped, plausible

CREDIT_BASE: Final = 64 << 20
CREDIT_RATE: Final = 4
NARROW: Final = 1 << 12
WIDE: Final = 1 << 20
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


def next_batch(segment: Mapped, start: int, stop: int, credit: ChecksumCredit) -> int | None:
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


def candidates(segment: Mapped, low: int, high: int, limit: int) -> list[int]:
    """Positions in `[low, high)` where magic, length and signs allow an entry of at most `limit` bytes."""
    count = min(high, segment.size - LEGACY_HEADER_BYTES + 1) - low
    if count <= 0:
        return []
    data = segment.data[low : low + count + LEGACY_HEADER_BYTES]
    possible = data[16 : 16 + count] <= 2
    possible &= (data[:count] | data[8 : 8 + count]) < 0x80
    # A run of zeros looks like magic 0 at every byte, but has no length.
    possible &= (data[9 : 9 + count] | data[10 : 10 + count] | data[11 : 11 + count] | data[8 : 8 + count]) != 0
    hits = np.flatnonzero(possible)
    lengths = _big_endian(data, hits + 8)
    fitting = lengths >= _MINIMUM[data[hits + 16]]
    fitting &= lengths <= min(limit - LENGTH_END, MAX_LENGTH)
    fitting &= low + hits + LENGTH_END + lengths <= segment.size
    found: list[int] = (hits[fitting] + low).tolist()
    return found


def _big_endian(data: Bytes, at: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    value = np.zeros(len(at), dtype=np.int64)
    for byte in range(4):
        value = (value << 8) | data[at + byte]
    return value


def zeros_end(segment: Mapped, start: int) -> int:
    """Position of the first byte at or after `start` that is not zero; the file's size when there is none."""
    for low, high in widening(start, segment.size):
        block = segment.data[low:high]
        if block.max():
            return low + int(np.flatnonzero(block)[0])
    return segment.size
