"""Offsets to places: evenly where that shows everything, else each stretch between two marks by its order of size."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import log2
from typing import Final

from msgspec import Struct

LEAST_EVEN: Final = 26.0
"""Where every stretch gets this much room on an even scale, the scale is even."""
BASE: Final = 3.0
"""What the shortest stretch weighs; each doubling adds one."""
SQUEEZED: Final = 5.0
"""A stretch that has so many times fewer places an offset than the widest one is marked."""


class Scale(Struct, frozen=True, kw_only=True):
    """Where each offset stands."""

    knots: tuple[int, ...]
    places: tuple[float, ...]
    even: bool

    def at(self, offset: int) -> float:
        """The place of an offset; those outside stand at the edge."""
        if offset <= self.knots[0]:
            return self.places[0]
        if offset >= self.knots[-1]:
            return self.places[-1]
        right = bisect_right(self.knots, offset)
        low, high = self.knots[right - 1], self.knots[right]
        share = (offset - low) / (high - low)
        return self.places[right - 1] + share * (self.places[right] - self.places[right - 1])

    @property
    def one(self) -> float:
        """Room of one offset where the scale is even; else none."""
        span = self.knots[-1] - self.knots[0]
        return (self.places[-1] - self.places[0]) / span if self.even and span else 0.0

    @property
    def squeezed(self) -> Iterator[float]:
        """The middles of stretches that are drawn much shorter than others."""
        if self.even:
            return
        pieces = list(zip(pairwise(self.knots), pairwise(self.places), strict=True))
        widest = max((right - left) / (high - low) for (low, high), (left, right) in pieces)
        for (low, high), (left, right) in pieces:
            if (right - left) / (high - low) * SQUEEZED < widest:
                yield (left + right) / 2


def scale_through(offsets: Iterable[int], left: float, right: float) -> Scale:
    """A scale on which each of these offsets stands apart from its neighbours."""
    knots = sorted(set(offsets))
    if len(knots) < 2:  # noqa: PLR2004 - a single offset has no stretch
        first = knots[0] if knots else 0
        knots = [first, first + 1]
    lengths = [high - low for low, high in pairwise(knots)]
    even = min(lengths) * (right - left) / sum(lengths) >= LEAST_EVEN
    weights = [float(length) if even else BASE + log2(length) for length in lengths]
    places, reached = [left], 0.0
    for weight in weights:
        reached += weight
        places.append(left + (right - left) * reached / sum(weights))
    return Scale(knots=tuple(knots), places=tuple(places), even=even)
