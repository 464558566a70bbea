"""Where a broker's log begins by its own log, and which logs began higher when they were loaded than anybody tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from rules.history.moments import BEGUN_ANEW, Moment
from rules.history.statements import LogCut, LogEvent, RoleTaken


class RisenStart(Struct, frozen=True, kw_only=True):
    """A log that lacked its first records when it was loaded, and with which its broker led next."""

    broker: int
    start_offset: int
    """Where it had begun before."""
    end_offset: int
    """Where it began when it was loaded."""
    before: int | None
    """The newest epoch before of which a leader is told."""
    after: int
    loaded: LogEvent
    leads: RoleTaken


def log_start_after(moment: LogEvent | LogCut, start: int | None, *, tells: bool) -> int | None:
    """Where the log begins after a statement; null where that is not told."""
    match moment.kind:
        case "log-loaded":
            return moment.log_start_offset
        case "log-created":
            return 0 if tells else None
        case "log-start-moved" if start is not None:
            return max(start, moment.log_start_offset or 0)
        case "log-reset":
            return moment.log_start_offset if moment.offset is None else moment.offset
        case "log-deleted":
            return None
        case _:
            return start


def risen_starts(own: Iterable[Sequence[Moment]], leaders: Mapping[int, int]) -> Iterator[RisenStart]:
    """Every such log whose broker tells of no move of its start between, if it tells of every move.

    Followers delete what lies below their leader's start. So what such a leader lacks goes from their logs too.
    """
    for story in own:
        start: int | None = None
        risen: tuple[int, LogEvent] | None = None
        for moment in story:
            if isinstance(moment, RoleTaken) and moment.kind == "leader-starts":
                if risen is not None:
                    yield from _led_with(*risen, moment, leaders)
                risen = None
            if isinstance(moment, LogEvent | LogCut):
                now = log_start_after(moment, start, tells=True)
                back = risen is not None and now is not None and now <= risen[0]
                if back or moment.kind in (*BEGUN_ANEW, "log-start-moved"):
                    risen = None
                elif isinstance(moment, LogEvent) and start is not None and now is not None and start < now:
                    risen = start, moment
                start = now


def _led_with(start: int, loaded: LogEvent, leads: RoleTaken, leaders: Mapping[int, int]) -> Iterator[RisenStart]:
    if leads.broker is not None and leads.epoch is not None:
        yield RisenStart(
            broker=leads.broker,
            start_offset=start,
            end_offset=loaded.log_start_offset or 0,
            before=max((epoch for epoch in leaders if epoch < (leads.epoch or 0)), default=None),
            after=leads.epoch,
            loaded=loaded,
            leads=leads,
        )
