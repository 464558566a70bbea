"""The stretch of a timeline that was asked for: times as the rows print them, or with their day, and offsets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from msgspec import Struct

from auditor.config import ConfigError
from auditor.config.settings import shortened
from rules.timeline.rows import Timeline
from rules.timeline.rows_of_range import touching

EXAMPLE = "2026-11-21T05:49:42"
LONGEST_TIME = 15
"""Digits of milliseconds: enough for thirty thousand years."""


class Window(Struct, frozen=True, kw_only=True):
    """What is shown of a timeline."""

    since: int | None = None
    until: int | None = None
    """On the reference clock, both inclusive."""
    offsets: tuple[int, int] | None = None
    """The first and the last."""

    def shows(self, drawn: Timeline) -> Timeline:
        """The rows that are shown."""
        within = drawn.within(self.since, self.until)
        return within if self.offsets is None else touching(within, *self.offsets)


def window_of(
    drawn: Timeline, since: str | None = None, until: str | None = None, offsets: str | None = None
) -> Window:
    """From one time to another of the reference clock, and from one offset to another."""
    times = [datetime.fromtimestamp(row.time / 1000, UTC) for row in drawn.rows if row.time is not None]
    first, last = _time(since, "--from", times), _time(until, "--to", times)
    if first is not None and last is not None and first > last:
        raise ConfigError(f"--from {since} is later than --to {until}: expected the earlier time first")
    return Window(since=first, until=last, offsets=None if offsets is None else _offsets(offsets))


def _offsets(text: str) -> tuple[int, int]:
    """`100-149` as people say it; the last one is in it."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        expected = "expected an offset such as 100, or a range such as 100-149"
        raise ConfigError(f"--offsets: {expected}; found {shortened(text)}")
    first, last = int(found[1]), int(found[2] or found[1])
    if first > last:
        raise ConfigError(f"--offsets {text}: expected the lower offset first")
    return first, last


_RANGE = re.compile(r"([0-9]{1,19})(?:(?:-|–|\.\.)([0-9]{1,19}))?")


def _time(text: str | None, option: str, times: Sequence[datetime]) -> int | None:
    """Milliseconds on the reference clock, in the zone in which it writes."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_TIME:
        return int(text)
    example = min(times).replace(tzinfo=None).isoformat(timespec="milliseconds") if times else EXAMPLE
    try:
        return _milliseconds(datetime.fromisoformat(text))
    except ValueError:
        pass
    try:
        of_day = time.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"{option}: expected a time such as {example}, found {shortened(text)}") from error
    return _milliseconds(datetime.combine(_only_day(text, option, times, example), of_day))


def _only_day(text: str, option: str, times: Sequence[datetime], example: str) -> date:
    days = sorted({moment.date() for moment in times})
    if len(days) != 1:
        spanned = f"the events are of {days[0]} to {days[-1]}" if days else "no event has a time"
        raise ConfigError(f"{option}: {spanned}; expected a time with its day, such as {example}, found {text!r}")
    return days[0]


def _milliseconds(instant: datetime) -> int:
    return int((instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp() * 1000)
