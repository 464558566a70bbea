"""The stretch of a timeline that was asked for: times as the rows print them, or with their day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from auditor.config import ConfigError
from auditor.config.settings import shortened
from rules.timeline.rows import Timeline

EXAMPLE = "2026-11-21T05:49:42"
LONGEST_TIME = 15
"""Digits of milliseconds: enough for thirty thousand years."""


def asked_for(drawn: Timeline, since: str | None, until: str | None) -> Timeline:
    """The rows from one time to another of the reference clock."""
    told = [_moment(row.time) for row in drawn.rows if row.time is not None]
    first, last = _time(since, "--from", told), _time(until, "--to", told)
    if first is not None and last is not None and first > last:
        raise ConfigError(f"--from {since} is later than --to {until}: expected the earlier time first")
    return drawn.within(first, last)


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _time(text: str | None, option: str, told: Sequence[datetime]) -> int | None:
    """Milliseconds on the reference clock, in the zone in which it writes."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_TIME:
        return int(text)
    example = min(told).replace(tzinfo=None).isoformat(timespec="milliseconds") if told else EXAMPLE
    try:
        return _milliseconds(datetime.fromisoformat(text))
    except ValueError:
        pass
    try:
        of_day = time.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"{option}: expected a time such as {example}, found {shortened(text)}") from error
    return _milliseconds(datetime.combine(_only_day(text, option, told, example), of_day))


def _only_day(text: str, option: str, told: Sequence[datetime], example: str) -> date:
    days = sorted({moment.date() for moment in told})
    if len(days) != 1:
        spanned = f"the events are of {days[0]} to {days[-1]}" if days else "no event has a time"
        raise ConfigError(f"{option}: {spanned}; expected a time with its day, such as {example}, found {text!r}")
    return days[0]


def _milliseconds(told: datetime) -> int:
    return int((told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp() * 1000)
