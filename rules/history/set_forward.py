"""Where a clock may have been set forward amid its logs: nothing was written for as long as it was set by, or longer.

Its lines stay in their order, so no log shows it. What was a bound of the clock before holds no longer since.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from rules.history.causes import Precedence
from rules.history.steady import Times, joined, pauses


class PerhapsSet(Struct, frozen=True, kw_only=True):
    """That a clock was set forward at some time, as one of several that one story may tell."""

    clock: str
    until: int
    """Before this it surely had not been."""
    since: int
    """From then on it surely had."""
    by: int
    """By so much at most."""


def perhaps_set(
    found: Sequence[Precedence], written: Iterable[tuple[str, int]], steady: Mapping[str, Sequence[Times]]
) -> Iterator[PerhapsSet]:
    """Where clocks may have been set, so far apart that causes or effects lie between; by when lines were written."""
    lines: dict[str, list[Times]] = {clock: [*times] for clock, times in steady.items()}
    for clock, time in written:
        lines.setdefault(clock, []).append((time, time))
    for clock, dated in sorted(_times_by_clock(found).items()):
        between: dict[tuple[int, int], list[Times]] = {}
        for last, first in pauses(joined(lines.get(clock, ()))):
            between.setdefault((bisect_right(dated, last), bisect_left(dated, first)), []).append((last, first))
        for silent in between.values():
            by = max(first - last for last, first in silent)
            yield PerhapsSet(clock=clock, until=silent[0][0], since=silent[-1][1], by=by)


def _times_by_clock(found: Iterable[Precedence]) -> Mapping[str, Sequence[int]]:
    """By clock the times of its causes and effects."""
    times: dict[str, set[int]] = {}
    for each in found:
        times.setdefault(each.cause, set()).add(each.earlier)
        times.setdefault(each.effect, set()).add(each.later)
    return {clock: sorted(own) for clock, own in times.items()}
