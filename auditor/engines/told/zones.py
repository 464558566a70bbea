"""The zones in which brokers wrote the times of their logs, as far as someone told: they are never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from rules.history.moments import TIMES, Moment
from rules.settings import Setting

_OFFSET: Final = re.compile(r"(?:UTC|GMT)?([+\-])(\d\d):?(\d\d)")
_NAME: Final = re.compile(r"[A-Za-z0-9_+\-]+(?:/[A-Za-z0-9_+\-]+){0,2}")
_STEP: Final = 900_000
"""Zones change their offsets at quarters of an hour."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def zone_named(text: str) -> tzinfo | None:
    """A zone such as `Europe/Berlin`, `UTC` or `+02:00`; None for what is none."""
    if text in ("UTC", "Z"):
        return UTC
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes)) if minutes < 24 * 60 else None
    if not _NAME.fullmatch(text):
        return None
    try:
        return ZoneInfo(text)
    except (OSError, ValueError, KeyError):
        return None


def given_for(broker: int | None, given: Sequence[str]) -> list[str]:
    """The values of an option that hold for a broker: its own first, those for all behind them."""
    pairs = [owner_and_value(text) for text in given]
    own = [text for owner, text in pairs if owner == broker and owner is not None]
    return [*own, *(text for owner, text in pairs if owner is None)]


def owner_and_value(text: str) -> tuple[int | None, str]:
    """`BROKER=VALUE` in two; a value without a broker may hold the sign too."""
    owner, separator, value = text.partition("=")
    return (int(owner), value) if separator and owner.isascii() and owner.isdigit() else (None, text)


def instant_of(zone: str | None) -> Callable[[int | None], int | None]:
    """Milliseconds since the epoch of a wall clock's milliseconds; as they stand where nobody told the zone.

    Of an hour that the zone repeats, its first pass is meant.
    """
    known = zone_named(zone) if zone else None
    if known is None:
        return lambda wall: wall

    def instant(wall: int | None) -> int | None:
        return None if wall is None else wall - _offset(known, wall // _STEP)

    return instant


@lru_cache(maxsize=4096)
def _offset(zone: tzinfo, quarter: int) -> int:
    try:
        local = (_EPOCH + timedelta(milliseconds=quarter * _STEP)).replace(tzinfo=zone)
        return round((local.utcoffset() or timedelta()).total_seconds() * 1000)
    except OverflowError:
        return 0


class Zones:
    """Wall clocks of brokers whose zone was given, as instants; the controller's times are instants already."""

    def __init__(self, given: Sequence[str]) -> None:
        self._given = given
        self._instants: dict[str, Callable[[int | None], int | None]] = {}

    def _of(self, clock: str) -> Callable[[int | None], int | None]:
        if clock not in self._instants:
            broker = clock.removeprefix("broker ")
            zones = given_for(int(broker), self._given) if broker.isdigit() else []
            self._instants[clock] = instant_of(zones[0] if zones else None)
        return self._instants[clock]

    def of_moments(self, moments: Iterable[Moment]) -> tuple[Moment, ...]:
        """The moments, each with its times on its broker's clock as instants."""
        if not self._given:
            return tuple(moments)
        return tuple(replace(moment, **self._instants_of(moment)) for moment in moments)

    def _instants_of(self, moment: Moment) -> dict[str, Any]:
        instant = self._of(moment.clock)
        return {name: instant(time) for name in TIMES if (time := getattr(moment, name)) is not None}

    def of_settings(self, settings: Sequence[Setting]) -> tuple[Setting, ...]:
        """The settings, each since an instant."""
        return tuple(replace(setting, since=self._of(setting.clock)(setting.since)) for setting in settings)
