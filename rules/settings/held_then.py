"""Which of several statements about a setting may have held at a moment, by the clocks of who told them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from rules.history.clocks import Clocks
from rules.history.moments import Moment
from rules.history.translation import translated
from rules.settings.setting import Setting


def held_then(
    statements: Sequence[Setting], at: Moment | None, clocks: Clocks
) -> tuple[Sequence[Setting], bool]:
    """The statements of one rank that may have been in force, and whether one of them surely was."""
    timeless = [setting for setting in statements if setting.since is None]
    dated = [setting for setting in statements if setting.since is not None]
    if at is None:
        # A log that ends early knows no later change; whoever keeps the settings does.
        kept = [setting for setting in dated if setting.origin != "applied"] or dated
        newest = list({setting.clock: setting for setting in kept}.values())
        return newest or timeless, bool(statements)
    own = [s for s in dated if s.origin == "applied" and s.clock == at.clock and _standing(s, at, clocks) == "past"]
    if own:  # whoever tells of a moment had taken over what it says itself, and perhaps what others tell of later
        return [own[-1], *_told_since(dated, own[-1], at, clocks)], True
    past: dict[str, Setting] = {}
    unsettled: list[Setting] = []
    for setting in dated:
        standing = _standing(setting, at, clocks)
        if standing == "past":
            past[setting.clock] = setting
        elif standing == "open":
            unsettled.append(setting)
    if past:
        return [*past.values(), *unsettled], True
    return [*timeless, *unsettled], bool(timeless)


def _told_since(dated: Iterable[Setting], own: Setting, at: Moment, clocks: Clocks) -> Iterator[Setting]:
    """What others told after a broker had taken over a value, and before a moment, for all that clocks tell.

    All take changes over in one order: what somebody told before that very value is older.
    """
    then = replace(at, time=own.since)
    later: dict[str, list[Setting]] = {}
    for setting in (each for each in dated if each.clock != at.clock):
        since, by_now = _standing(setting, then, clocks), _standing(setting, at, clocks)
        if setting.value == own.value and (since != "future" or by_now == "past"):
            later.pop(setting.clock, None)
        elif setting.value != own.value and since != "past" and by_now != "future":
            later.setdefault(setting.clock, []).append(setting)
    return (setting for found in later.values() for setting in found)


def _standing(setting: Setting, at: Moment, clocks: Clocks) -> Literal["past", "open", "future"]:
    """Whether a statement was made before a moment, as far as their clocks tell."""
    if at.time is None:
        return "open"
    if setting.clock == at.clock:
        return "past" if (setting.since or 0) <= at.time else "future"
    window = translated(setting.since, setting.clock, at.clock, clocks)
    if window is None or window[0] <= at.time < window[1]:
        return "open"
    return "past" if window[1] <= at.time else "future"
