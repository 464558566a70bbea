"""The zones in which brokers wrote the times of their logs, as far as someone told: they are never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from parsers.provenance import broker_id

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
    broker = broker_id(owner) if separator else None
    return (None, text) if broker is None else (broker, value)


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
