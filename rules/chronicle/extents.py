"""Sets of offsets: what a log held, what was acknowledged, what is gone; and such sets known only in part.

Whatever a rule over time says is the difference of two such sets. Of what is known in part one set surely belongs and
another may: the truth lies between the two, and so does every union, intersection and difference that is made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from rules.protocol.offsets import Offset, OffsetRange, without


class Extents(Struct, frozen=True):
    """Offsets as ranges in order; none of them is empty, and no two touch."""

    ranges: tuple[OffsetRange, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[tuple[int, int]]) -> Extents:
        """Of pairs of a start and an end, in any order and overlapping or not."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(parts):
            if start >= end:
                continue
            if joined and start <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(joined[-1][1], end)
            else:
                joined.append((start, end))
        return cls(tuple(OffsetRange(start_offset=Offset(start), end_offset=Offset(end)) for start, end in joined))

    @property
    def parts(self) -> Iterator[tuple[int, int]]:
        """The same as pairs of a start and an end."""
        return ((held.start_offset, held.end_offset) for held in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, offset: int) -> bool:
        return any(start <= offset < end for start, end in self.parts)

    def __or__(self, other: Extents) -> Extents:
        return Extents.of((*self.parts, *other.parts))

    def __sub__(self, other: Extents) -> Extents:
        taken = [*other.parts]
        return Extents.of(part for start, end in self.parts for part in without(start, end, taken))

    def __and__(self, other: Extents) -> Extents:
        return self - (self - other)

    def __le__(self, other: Extents) -> bool:
        return not self - other


NO_OFFSETS: Final = Extents()


class Possible(Struct, frozen=True, kw_only=True):
    """Offsets of which some surely belong, and others may."""

    sure: Extents = NO_OFFSETS
    possible: Extents = NO_OFFSETS
    """All that may belong, the sure ones included."""

    @classmethod
    def known(cls, *parts: tuple[int, int]) -> Possible:
        """Exactly these."""
        extents = Extents.of(parts)
        return cls(sure=extents, possible=extents)

    @property
    def in_doubt(self) -> Possible:
        """The same, none of which is sure any more."""
        return Possible(possible=self.possible)

    def __or__(self, other: Possible) -> Possible:
        return Possible(sure=self.sure | other.sure, possible=self.possible | other.possible)

    def __and__(self, other: Possible) -> Possible:
        return Possible(sure=self.sure & other.sure, possible=self.possible & other.possible)

    def __sub__(self, other: Possible) -> Possible:
        """Surely gone is what was surely there and cannot be left; perhaps gone what may have been and need not be."""
        return Possible(sure=self.sure - other.possible, possible=self.possible - other.sure)


NOTHING_POSSIBLE: Final = Possible()
