"""When a clock's lines follow each other closely: nobody set it forward then, or the lines would stand apart.

The lines of all partitions are looked at together. What is told of one partition may be too little to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from rules.history.falling_times import dated_lines
from rules.history.moments import Moment
from rules.history.repetitions import standing_for

CLOSE_MS: Final = 500
"""How long a broker that is asked writes nothing at most: fetches wait no longer, as they come."""
QUIET_MS: Final = 60_000
"""Where a log of requests says nothing for so long, lines may be missing."""
ASKING_MS: Final = 500
"""How long a fetch that finds nothing waits by default, whoever asks."""
_MOST: Final = 1 << 12
"""Stretches of one file that are told, the longest ones: where fewer are told, more may have been set."""
Times = tuple[int, int]
"""The first and the last of a stretch."""

NOTHING_STEADY: Final[Mapping[str, Sequence[Times]]] = MappingProxyType({})


class Steady(Struct, frozen=True, kw_only=True):
    """From a line of a file to a later one, with never more than so long between two lines."""

    clock: str
    source: str
    first: int
    last: int


def steady_in(moments: Iterable[Moment]) -> tuple[Steady, ...]:
    """The stretches of each file that statements are of, whatever partition they are about."""
    files: dict[tuple[str, str], list[Times]] = {}
    for moment in moments:
        if dated_lines(moment):
            stretches = files.setdefault((moment.clock, moment.span.source), [])
            stretches.extend((time, time) for _, time in stamps([moment]))
    return tuple(
        Steady(clock=clock, source=source, first=first, last=last)
        for (clock, source), times in files.items()
        for first, last in _longest(joined(times))
    )


def stamps(moments: Iterable[Moment]) -> Iterator[tuple[str, int]]:
    """By which clock and when lines were written: of several that say the same, the first one and the last."""
    for moment in moments:
        yield from ((moment.clock, time) for time in (moment.time, moment.last_time) if time is not None)


def by_clock(steady: Iterable[Steady]) -> Mapping[str, Sequence[Times]]:
    """The stretches of each clock, those that touch as one."""
    found: dict[str, list[Times]] = {}
    for each in steady:
        found.setdefault(each.clock, []).append((each.first, each.last))
    return {clock: joined(times) for clock, times in sorted(found.items())}


def goes_on_until(answer: Moment, quiet: int) -> int | None:
    """The last of equal answers to one asker, which are told once; too few of them for all that time hide a silence."""
    if answer.time is None or answer.last_time is None:
        return answer.time
    filled = answer.last_time - answer.time - quiet <= (standing_for(answer) - 1) * ASKING_MS
    return answer.last_time if filled else answer.time


def spoken_in(moments: Iterable[Moment]) -> Iterator[Times]:
    """From when to when each statement of a log shows that the log goes on."""
    for moment in moments:
        reached = goes_on_until(moment, QUIET_MS)
        if moment.time is not None and reached is not None:
            yield moment.time, reached
        if moment.last_time is not None:
            yield moment.last_time, moment.last_time


def joined(times: Iterable[Times], apart: int = CLOSE_MS) -> list[Times]:
    """Stretches in order of time, those that lie close to each other as one."""
    found: list[Times] = []
    for first, last in sorted(times):
        if found and first - found[-1][1] <= apart:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def pauses(steady: Sequence[Times]) -> list[Times]:
    """From the end of each stretch to where the next begins."""
    return [(before[1], after[0]) for before, after in pairwise(steady)]


def _longest(steady: Sequence[Times]) -> Sequence[Times]:
    return sorted(sorted(steady, key=lambda times: times[0] - times[1])[:_MOST])
