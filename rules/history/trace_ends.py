"""Where request logs are not whole; of one that ends too early its followers' logs tell how far their sessions went.

Requests of a fetch session are numbered. Who cannot send one writes down its session and number: all before it had been
answered, and whoever answers logs that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from parsers.provenance import Span

WHOLE: Final = 1 << 13
"""Request logs whose lines name partitions no more often than this are kept as they are."""
NEAR_MS: Final = 5000
"""What two brokers wrote at one time by their clocks may be so much apart."""
STOPPING_MS: Final = 1000
"""Up to so long before a broker says that it stops it answers surely; since then 4.0 logs no answer."""


class TraceGap(Struct, frozen=True, kw_only=True):
    """From the first to the last place that could not be read in one log of a broker's answers.

    Behind a log that ends too early it is empty, and tells since when lines are missing.
    """

    broker: int
    source: str
    start: int
    end: int
    since: int | None = None
    """When the last line of a log that ends too early was written, on its broker's clock."""
    told_by: Span | None = None
    """Who tells that it ends too early; null where lines are missing amid the log."""
    unread: bool = False
    """Whether lines are there that cannot be read: each is refused, and its refusal says what it leaves open."""


class SessionLeft(Struct, frozen=True, kw_only=True):
    """A fetch session when a log ends; no number where its end is told."""

    session: int
    next_epoch: int | None


class SpokenStretch(Struct, frozen=True, kw_only=True):
    """From a line that tells of a partition to a later one, between which the log never says nothing for long."""

    first: int
    last: int


class TraceEnd(Struct, frozen=True, kw_only=True):
    """Where a stretch of a broker's request log ends; the last one tells how all sessions of the log stood then."""

    broker: int
    source: str
    end: int
    begun: int | None
    """When the whole log begins."""
    is_last: bool
    spoken: tuple[SpokenStretch, ...] = ()
    """When it tells of partitions, on the broker's clock."""
    sessions: tuple[SessionLeft, ...] = ()
    names: int = 0
    """How often a line of the stretch names a partition with a fetch or a produce."""

    @property
    def time(self) -> int | None:
        """When the last line was written that tells of a partition."""
        return max((each.last for each in self.spoken), default=None)


class SessionBroken(Struct, frozen=True, kw_only=True):
    """A follower's word that it could not send the fetch of a number to its leader."""

    leader: int
    replica: int
    session: int
    epoch: int
    time: int | None
    span: Span


def ended_early(
    ends: Iterable[TraceEnd], broken: Iterable[SessionBroken], stops: Mapping[int, Sequence[int]]
) -> Iterator[TraceGap]:
    """A gap behind every log that lacks answers which its followers had; `stops` is when brokers began to stop.

    None where parts of a log lie in disorder, and none behind a log that reaches to where its broker stopped.
    """
    by_broker: dict[int, list[TraceEnd]] = {}
    for end in ends:
        by_broker.setdefault(end.broker, []).append(end)
    logs = {broker: log for broker, own in by_broker.items() if (log := _log_of(own)) is not None}
    seen: set[int] = set()
    for each in sorted(broken, key=lambda one: (one.leader, one.span.source, one.span.start)):
        log = logs.get(each.leader)
        if log is None or each.leader in seen or not log.lacks(each) or log.reaches(stops.get(each.leader, ()), each):
            continue
        seen.add(each.leader)
        end = log.last
        yield TraceGap(
            broker=each.leader, source=end.source, start=end.end, end=end.end, since=log.time, told_by=each.span
        )


def busy_logs(ends: Iterable[TraceEnd]) -> frozenset[int]:
    """The brokers whose request logs are thinned, however they are cut into files."""
    named: dict[int, int] = {}
    for end in ends:
        named[end.broker] = named.get(end.broker, 0) + end.names
    return frozenset(broker for broker, count in named.items() if count > WHOLE)


class _Log(Struct, frozen=True, kw_only=True):
    """All stretches of a broker's request logs together."""

    last: TraceEnd
    begun: int | None
    time: int
    """When its last line was written that tells of a partition."""
    left: Mapping[int, int | None]

    def lacks(self, broken: SessionBroken) -> bool:
        """Whether it ends before answers that a follower had."""
        if broken.time is None or self.time > broken.time + NEAR_MS:
            return False
        if broken.session in self.left:
            following = self.left[broken.session]
            return following is not None and following < broken.epoch
        # Of a session that the log never saw it is open whether it was over before the log begins.
        return broken.epoch > 0 and self.begun is not None and broken.time - self.begun > NEAR_MS

    def reaches(self, stops: Sequence[int], broken: SessionBroken) -> bool:
        """Whether it goes on up to the stop at which a session broke."""
        near = (stop for stop in stops if abs((broken.time or 0) - stop) < NEAR_MS)
        return any(self.time >= stop - STOPPING_MS for stop in near)


def _log_of(ends: Sequence[TraceEnd]) -> _Log | None:
    """None where no line has a time, or the last stretch is not the latest one."""
    last = max((end for end in ends if end.is_last), key=lambda end: end.time or 0, default=None)
    time = max((end.time for end in ends if end.time is not None), default=None)
    if last is None or time is None or (last.time is not None and time > last.time + NEAR_MS):
        return None
    left: dict[int, int | None] = {}
    for each in (each for end in ends for each in end.sessions):
        before = left.get(each.session, 0)
        left[each.session] = None if None in (before, each.next_epoch) else max(before or 0, each.next_epoch or 0)
    begun = min((end.begun for end in ends if end.begun is not None), default=None)
    return _Log(last=last, begun=begun, time=time, left=left)
