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
    """Offsets `[start_offset, end_offset)`."""

    start_offset: Offset
    end_offset: Offset


def without(start: int, end: int, taken: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of a range that no other range covers."""
    for low, high in sorted(taken):
        if low < end and high > start:
            if start < low:
                yield start, low
            start = max(start, high)
    if start < end:
        yield start, end
