"""Times in log lines: read as the wall clock they are, without a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_WALL: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?(?:Z|[+\-]\d\d:?\d\d|[A-Z]{1,5}))?\Z",
    re.ASCII,
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


@lru_cache(maxsize=4096)
def wall_clock(time_text: str) -> int | None:
    """Milliseconds from 1970-01-01 00:00 on the writer's own clock; a printed zone is not applied.

    None for what is no date: which instant a wall time means is the reader's decision, never this function's.
    """
    match = _WALL.match(time_text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    fraction = (match[7] or "").ljust(3, "0")[:3]
    return (moment - _EPOCH) // _MILLISECOND + int(fraction)
