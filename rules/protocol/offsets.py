"""Offsets, epochs and broker ids as distinct types, and the half-open range that every end is exclusive in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NewType

from msgspec import Struct

Offset = NewType("Offset", int)
Epoch = NewType("Epoch", int)
BrokerId = NewType("BrokerId", int)

UNDEFINED_EPOCH: Final = Epoch(-1)
UNDEFINED_EPOCH_OFFSET: Final = Offset(-1)
UNKNOWN_OFFSET: Final = Offset(-1)
"""What a new leader holds as a follower's log end offset until that follower has fetched once."""


class OffsetRange(Struct, frozen=True, kw_only=True):
    """Offsets `[start_offset, end_offset)`; every range that ends at or before its start is empty."""

    start_offset: Offset
    end_offset: Offset

    @property
    def empty(self) -> bool:
        """Whether the range holds no offset."""
        return self.end_offset <= self.start_offset

    @property
    def width(self) -> int:
        """How many offsets the range holds."""
        return max(0, self.end_offset - self.start_offset)

    def contains(self, offset: Offset) -> bool:
        """Whether the offset lies in the range; its end does not."""
        return self.start_offset <= offset < self.end_offset

    def intersection(self, other: OffsetRange) -> OffsetRange:
        """The offsets that both ranges hold; empty ranges compare by `empty`, not by their ends."""
        start_offset = max(self.start_offset, other.start_offset)
        end_offset = min(self.end_offset, other.end_offset)
        return OffsetRange(start_offset=start_offset, end_offset=max(start_offset, end_offset))


def without(start: int, end: int, taken: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of a range that no other range covers."""
    for low, high in sorted(taken):
        if low < end and high > start:
            if start < low:
                yield start, low
            start = max(start, high)
    if start < end:
        yield start, end
