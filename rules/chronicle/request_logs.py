"""Logs of the requests that brokers answered: when each of them speaks, and why it does not at any other time.

Whoever says that something was not asked, or not answered, asks `LoggedRequests.unheard` first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from rules.chronicle.silence import Log, Silence
from rules.history.moments import Moment
from rules.history.steady import QUIET_MS, Times, joined
from rules.history.trace_ends import TraceEnd, TraceGap

FIRST_FETCH_MS: Final = 1000
"""A request log of which the first line is that much younger than a lead did not see it begin."""

Why = Literal["not here", "begins later", "a hole", "a pause", "ends", "ends early", "silent", "unplaced", "a session"]
"""The last three are said of a lead: no line is of its time, or lines may be of another lead or another offset."""
_ASKED_FOR: Final[Mapping[Why, tuple[Log, str, str]]] = {
    "not here": ("requests in full", "of the time when it led", ""),
    "begins later": ("requests in full", "of the time when it led", "it begins later here"),
    "a hole": ("requests", "whole", "some of its lines cannot be read here"),
    "a pause": ("requests in full", "of the time when it led", "it has pauses here"),
    "ends": ("requests in full", "of the time when it led", "it ends before that here"),
    "ends early": ("requests", "up to its very end (nothing cut off)", "its last answers are not here"),
    "silent": ("requests in full", "of the time when it led", "no line here is of it"),
    "unplaced": ("roles", "", ""),
    "a session": ("requests", "whole", "fetch sessions began before it does here"),
}


class Unheard(Struct, frozen=True, kw_only=True):
    """A time of which a broker's request log does not tell, whatever it answered then."""

    broker: int
    why: Why
    since: int | None = None
    """Null where nothing tells when it begins."""
    until: int | None = None

    @property
    def silence(self) -> Silence:
        """What is to be brought, so that it is told."""
        log, window, perhaps = _ASKED_FOR[self.why]
        return Silence(broker=self.broker, log=log, window=window, perhaps=perhaps)


class LoggedRequests(Struct, frozen=True, kw_only=True):
    """All that is here of one broker's log of requests, on that broker's clock."""

    broker: int
    here: bool = False
    """Whether any of it is, whatever partitions it tells of."""
    begun: int | None = None
    """When its first line was written."""
    until: int = 0
    """When its last line was written that tells of any partition; 0 where there is none."""
    spoken: tuple[Times, ...] = ()
    """When lines about any partition follow each other, in order."""
    gaps: tuple[TraceGap, ...] = ()

    def unheard(self, since: int | None, until: int | None) -> Iterator[Unheard]:
        """Every time between two of which it does not tell, and why; the whole where it is not here.

        Null is before all, or after all.
        """
        if not self.here:
            yield Unheard(broker=self.broker, why="not here", since=since, until=until)
            return
        if self.begins_after(since):
            yield Unheard(broker=self.broker, why="begins later", since=since, until=self.begun)
        # Nothing tells when unread lines were written.
        if any(gap.told_by is None for gap in self.gaps):
            yield Unheard(broker=self.broker, why="a hole", since=since, until=until)
        yield from self._pauses(since, until)

    def _pauses(self, since: int | None, until: int | None) -> Iterator[Unheard]:
        begun = [time for time in (since, self.begun) if time is not None]
        reached = max(begun, default=self.until)
        for first, last in self.spoken:
            if until is not None and first >= until:
                break
            if first - reached > QUIET_MS:
                yield Unheard(broker=self.broker, why="a pause", since=reached, until=first)
            reached = max(reached, last)
        if self.ends_before(until):
            yield Unheard(broker=self.broker, why="ends early", since=reached, until=until)
        elif until is None or until - reached > QUIET_MS:
            yield Unheard(broker=self.broker, why="ends", since=reached, until=until)

    def begins_after(self, since: int | None) -> bool:
        """Whether it is here, and begins so long after a time that requests may have been answered between."""
        return self.here and (since is None or self.begun is None or self.begun - since > FIRST_FETCH_MS)

    def ends_before(self, until: int | None) -> bool:
        """Whether its broker surely gave answers, up to a time, that it no longer tells."""
        early = (gap for gap in self.gaps if gap.told_by is not None)
        return any(until is None or gap.since is None or until > gap.since for gap in early)

    def holed_before(self, rows: Iterable[Moment]) -> bool:
        """Whether answers may be missing among, or before, these rows of it."""
        last: dict[str, int] = {}
        for row in rows if self.gaps else ():
            last[row.span.source] = max(last.get(row.span.source, -1), row.span.start)
        return any(gap.start <= last.get(gap.source, -1) for gap in self.gaps)


RequestLogs = Mapping[int, LoggedRequests]
NONE_HERE: Final[RequestLogs] = MappingProxyType({})


def request_logs(ends: Iterable[TraceEnd], gaps: Iterable[TraceGap]) -> dict[int, LoggedRequests]:
    """Each broker's, from where the stretches of it end and where they are not whole."""
    by_broker: dict[int, tuple[list[TraceEnd], list[TraceGap]]] = {}
    for end in ends:
        by_broker.setdefault(end.broker, ([], []))[0].append(end)
    for gap in gaps:
        by_broker.setdefault(gap.broker, ([], []))[1].append(gap)
    return {broker: _log(broker, *own) for broker, own in sorted(by_broker.items())}


def _log(broker: int, ends: list[TraceEnd], gaps: list[TraceGap]) -> LoggedRequests:
    return LoggedRequests(
        broker=broker,
        here=bool(ends),
        begun=min((end.begun for end in ends if end.begun is not None), default=None),
        until=max((end.time for end in ends if end.time is not None), default=0),
        spoken=tuple(joined(((each.first, each.last) for end in ends for each in end.spoken), QUIET_MS)),
        gaps=tuple(gaps),
    )


def log_of(logs: RequestLogs, broker: int) -> LoggedRequests:
    """A broker's; one that is not here where nothing tells of any."""
    return logs.get(broker) or LoggedRequests(broker=broker)
