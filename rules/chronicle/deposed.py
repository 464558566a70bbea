"""Leaders in whose place another had come: by their own next role, or by the clocks while they still answered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct

from rules.chronicle.stories import Story
from rules.history.clocks import Clocks
from rules.history.moments import Moment
from rules.history.statements import Produced, RoleTaken
from rules.history.translation import translated

SLACK_MS: Final = 5000
"""How long an answer may lie before it is logged as sent."""


class Deposed(Struct, frozen=True, kw_only=True):
    """A broker that took a follower's role straight after it had led."""

    broker: int
    led: int
    role: RoleTaken
    until: Moment | None
    """Its next role, loading or cut."""


def deposed(stories: Mapping[str, Story]) -> Iterator[Deposed]:
    """Every one whose log tells in which epoch it led, and where its log ended when it followed."""
    for clock in sorted(stories):
        for led, role, until in stories[clock].deposed():
            known = role.offset is not None and not role.doubtful and not led.doubtful
            if known and role.broker is not None and led.epoch is not None:
                yield Deposed(broker=role.broker, led=led.epoch, role=role, until=until)


class AnsweredAfter(Struct, frozen=True, kw_only=True):
    """An answer for all replicas, given when another broker had opened a newer epoch below it."""

    broker: int
    led: int
    offset: int
    answer: Produced
    opening: RoleTaken


def answered_after(
    moments: Sequence[Moment],
    openings: Mapping[int, RoleTaken],
    clocks: Clocks,
    untold: Mapping[int, int],
) -> Iterator[AnsweredAfter]:
    """Every one by the estimated clocks, but those that may be of a newer epoch, told by their broker or not."""
    epochs = sorted(openings)
    lowest = _lowest_from_each(openings, epochs)
    for m in moments:
        if m.kind != "produced" or m.acks != -1 or m.error != 0 or m.term is None or m.offset is None or m.time is None:
            continue
        latest = m.newest_term(m.term)
        newer = bisect_right(epochs, latest)
        if m.witness is None or newer == len(epochs) or lowest[newer] > m.offset:
            continue
        if untold.get(m.witness, -1) > m.term:
            continue
        for epoch, opening in openings.items():
            below = opening.offset is not None and opening.offset <= m.offset
            if epoch <= latest or opening.broker == m.witness or not below:
                continue
            window = translated(opening.time, opening.clock, m.clock, clocks)
            if window is not None and m.time > window[1] + SLACK_MS:
                yield AnsweredAfter(broker=m.witness, led=m.term, offset=m.offset, answer=m, opening=opening)
                break


def _lowest_from_each(openings: Mapping[int, RoleTaken], epochs: Sequence[int]) -> list[int]:
    """The lowest offset at which each epoch or any newer one opened."""
    return list(accumulate((openings[epoch].offset or 0 for epoch in reversed(epochs)), min))[::-1]
