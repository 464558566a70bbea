"""What is known of clocks if one of them was set forward: it is two clocks, before and since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from rules.history.set_forward import PerhapsSet

FAR: Final = 1 << 60
"""Beyond every time: what is not bounded."""
UNBOUNDED: Final = (-FAR, FAR)
Pair = tuple[str, str]
"""The clock of causes, and that of their effects."""


class IfSet(Struct, frozen=True, kw_only=True):
    """What is known of the differences if one clock was set: it is two clocks, the later one by a name of its own."""

    change: PerhapsSet
    most: Mapping[Pair, int]

    def windows(self, time: int, source: str, target: str) -> Iterator[tuple[int, int]]:
        """The earliest and the latest times on the target's clock, before it was set and since.

        It may not have been set yet if it would show, had it been, no more than the first line since. It may have been
        if it would show, had it not been, no less than the last line before.
        """
        for began in self._sides(time, source):
            if target != self.change.clock:
                yield self._between_lines(began, window_of(time, began, target, self.most), target)
                continue
            before, since = (window_of(time, began, name, self.most) for name in (target, set_clock(target)))
            if since[0] <= self.change.since:
                yield before[0], min(before[1], self.change.since)
            if before[1] >= self.change.until:
                yield max(since[0], self.change.until), since[1]

    def _between_lines(self, began: str, window: tuple[int, int], target: str) -> tuple[int, int]:
        """A line before it was set comes before the first one since, and one since then after the last one before."""
        first, last = window
        if began == self.change.clock:
            return first, min(last, window_of(self.change.since, set_clock(began), target, self.most)[1])
        if began == set_clock(self.change.clock):
            return max(first, window_of(self.change.until, self.change.clock, target, self.most)[0]), last
        return window

    def _sides(self, time: int, clock: str) -> Iterator[str]:
        if clock != self.change.clock or time < self.change.since:
            yield clock
        if clock == self.change.clock and time > self.change.until:
            yield set_clock(clock)


def window_of(time: int, source: str, target: str, most: Mapping[Pair, int]) -> tuple[int, int]:
    """The times on the target's clock that a time on the source's may be, by such bounds."""
    less, more = most.get((target, source)), most.get((source, target))
    return -FAR if less is None else time - less, FAR if more is None else time + more


def set_clock(clock: str) -> str:
    """The name of a clock since it was set."""
    return f"{clock}, set"
