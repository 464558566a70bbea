"""Milliseconds as a time that people read, always of UTC."""

from __future__ import annotations

import datetime as dt
from typing import Final

LAST_MOMENT: Final = 253_402_300_800_000
"""Milliseconds up to the end of the year 9999."""


def moment(milliseconds: int | None) -> str:
    """A time as text, empty where none is told or none that a calendar knows."""
    if milliseconds is None or not 0 <= milliseconds < LAST_MOMENT:
        return ""
    instant = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
    return instant.strftime("%Y-%m-%d %H:%M:%S.") + f"{milliseconds % 1000:03d}"
