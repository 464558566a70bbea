"""Times of one clock as another shows them: from when to when, as far as bounds go, and where most likely."""

from __future__ import annotations

from msgspec.structs import replace

from rules.history.clocks import Clocks, of_two_zones
from rules.history.if_set import FAR, UNBOUNDED, window_of


def translated(time: int | None, source: str, target: str, clocks: Clocks) -> tuple[int, int] | None:
    """The earliest and the latest time on the target's clock that a time on the source's may be.

    A side that nothing bounds lies beyond every time. None where neither is bounded.
    """
    if time is None or source == target:
        return None if time is None else (time, time)
    asked = (time, source, target)
    if asked not in clocks.translations:
        clocks.translations[asked] = _translated(time, source, target, clocks)
    return clocks.translations[asked]


def _translated(time: int, source: str, target: str, clocks: Clocks) -> tuple[int, int] | None:
    less, more = _alike(source, target, clocks)
    windows = [(-FAR if less == FAR else time - less, FAR if more == FAR else time + more)]
    if windows[0] == UNBOUNDED:
        return None
    own = (one for one in clocks.perhaps if one.change.clock in (source, target))
    windows.extend(window for one in own for window in one.windows(time, source, target))
    widest = min(first for first, _ in windows), max(last for _, last in windows)
    return None if widest == UNBOUNDED else widest


def _alike(source: str, target: str, clocks: Clocks) -> tuple[int, int]:
    if (source, target) not in clocks.alike:
        others = (one.most for one in clocks.perhaps if one.change.clock not in (source, target))
        known = (clocks.most, *others)
        less = max(most.get((target, source), FAR) for most in known)
        clocks.alike[source, target] = less, max(most.get((source, target), FAR) for most in known)
    return clocks.alike[source, target]


def if_none_was_set(known: Clocks) -> Clocks:
    """What is known of the differences if no clock was set, unless one shows it."""
    return replace(known, perhaps=())


def estimated(time: int | None, source: str, target: str, clocks: Clocks) -> int | None:
    """Where a time lies on the target's clock if none was set and both show as nearly the same as they may.

    It proves nothing. Clocks that surely differ are most likely of two zones. None where neither side is bounded.
    """
    if time is None or source == target:
        return time
    window = window_of(time, source, target, clocks.most)
    if window == UNBOUNDED:
        return None
    earliest, latest = window[0] - time, window[1] - time
    return time + of_two_zones(min(max(0, earliest), latest), earliest, latest)
