"""A leader's log end and high watermark over one reign, as intervals, from its answers' order and the ISR in force.

No high watermark that anybody told goes into this: only what was asked, what was appended, and who was counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from rules.history.moments import Moment
from rules.protocol.watermarks import Bound, ExpectedHighWatermark
from rules.replay.acknowledged import acknowledged_end, committed, taken
from rules.replay.bounds import at_least, at_most, between, why_counted, why_in_sync
from rules.replay.in_force import NOTHING_KNOWN, InForceOverTime, Isr, Possible
from rules.replay.in_sync import IsrHistory
from rules.replay.rank import LAG_TIME, MIN_IN_SYNC, Rank
from rules.replay.reigns import Reign, follower_runs
from rules.replay.tracks import IN_FLIGHT_MS, NEVER, RemoteEnd, Track, accepted
from rules.replay.weighing import Weighing

LONGEST_LAG_MS: Final = 30_000
"""What no release's default for a follower's lag exceeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRow:
    """The leader after one answer: what it held, and what an answer of this row could tell."""

    moment: Moment
    last: bool
    """Whether this is the last of a run of equal answers, of which the first has a row of its own."""
    log_end: ExpectedHighWatermark
    high_watermark: ExpectedHighWatermark
    answer: ExpectedHighWatermark
    """The high watermark that this answer could carry: it was read before the asker's next fetch, after its former."""
    remotes: tuple[RemoteEnd, ...]
    isr: tuple[frozenset[int], ...]
    """The ISRs that may be in force."""
    likely_isr: frozenset[int] | None
    """The one that is, by the best estimate of clocks."""


class LeaderWalk:
    """The state of the walk over one reign's answers; lives only inside `walk`."""

    def __init__(self, reign: Reign, isr: IsrHistory, rank: Rank, start: ExpectedHighWatermark) -> None:
        self.reign, self.isr, self.rank = reign, InForceOverTime(isr), rank
        times = [row.last_time or row.time for row in reign.rows]
        self.end_time = max((time for time in times if time is not None), default=None)
        runs = follower_runs(reign)
        brokers = sorted((rank.replicas | runs.keys()) - {reign.leader})
        seen = {"begun_unseen": reign.begun_unseen, "holed": reign.holed}
        self.tracks = {b: Track(b, runs.get(b, ()), reign.follower_ends.get(b), **seen) for b in brokers}
        begin = 0 if reign.start_offset is None else reign.start_offset
        self.end_low = at_least(begin, reign.start_because)
        self.end_high = None if reign.end_offset is None else at_most(reign.end_offset, reign.end_because)
        self.low: Bound = start.low or at_least(0, "nothing is known of the high watermark before")
        self.first_low = self.low
        self.high: Bound | None = start.high
        self.proved_min_isr: int | None = None
        self.unseen: Isr = frozenset()
        self.opened = None if reign.opening is None else reign.opening.time
        self.weighing = Weighing(rank.version, self.opened)
        self.reached: dict[int, int | None] = dict.fromkeys(self.tracks, None if reign.begun_unseen else NEVER)
        """How far each follower can have asked at any time of the reign."""
        self.low_when_asked: dict[int | None, Bound] = {}
        """The lower bound when each follower's former answer was logged: its next fetch came after that."""

    def step(self, row: Moment, *, last: bool) -> LeaderRow:
        """Walk over one answer."""
        time = row.last_time if last else row.time
        asker = self.tracks.get(row.broker) if row.kind == "fetched" and row.broker is not None else None
        self.weighing.answer(row, asker, last=last)
        if asker is not None:
            asker.answer(row, last=last)
        self._append(row)
        self.unseen = frozenset(b for b, t in self.tracks.items() if t is not asker and self._asks_unseen(t, time))
        possible = self.isr.possible(time)
        self.end_low = taken(row, self.reign, self.tracks, possible.isrs, self.end_low)
        remotes = {b: self._remote(t, time, asking=False) for b, t in self.tracks.items()}
        asking = {} if asker is None else {asker.broker: self._remote(asker, time, asking=True)}
        self._raise_high({**remotes, **asking}, possible)
        answered_high = self.high
        self._raise_low(row, remotes, possible, time)
        if asking:
            self._raise_high(remotes, possible)
        answered_low = self.low_when_asked.get(row.broker, self.first_low)
        if asker is not None:
            answered_low = self.low if row.count > 1 else answered_low
            self.low_when_asked[row.broker] = self.low
        return LeaderRow(
            moment=row,
            last=last,
            log_end=between(self.end_low, self.end_high),
            high_watermark=between(self.low, self.high),
            answer=between(answered_low if asker is not None else self.first_low, answered_high),
            remotes=tuple(remotes.values()),
            isr=possible.isrs,
            likely_isr=self.isr.likely(time),
        )

    def _remote(self, track: Track, time: int | None, *, asking: bool) -> RemoteEnd:
        """Only the last fetches of a trace can have been applied without ever being logged."""
        return track.now(in_flight_at_end=self._is_late(time), asking=asking)

    def _asks_unseen(self, track: Track, time: int | None) -> bool:
        """Whether a follower that the trace tells no more of is silent for so long that no ISR would keep it.

        Where one does, the trace has a hole, and the follower may have asked for anything.
        """
        since = self.opened if track.answered is None else track.answered
        limit = 2 * (self.rank.lag_limit_ms or LONGEST_LAG_MS)
        return track.exhausted and time is not None and since is not None and time - since > limit

    def _is_late(self, time: int | None) -> bool:
        return time is None or self.end_time is None or self.end_time - time <= IN_FLIGHT_MS

    def _append(self, row: Moment) -> None:
        if row.error not in (None, 0) or row.offset is None or row.doubtful:
            return
        if row.kind == "produced" and row.offset + 1 > self.end_low.offset:
            self.end_low = at_least(row.offset + 1, f"a record was appended at offset {row.offset}")
        elif row.kind == "fetched" and accepted(row) and row.offset > self.end_low.offset:
            self.end_low = at_least(row.offset, f"broker {row.broker} asked for offset {row.offset}, in range")

    def _raise_low(self, row: Moment, remotes: dict[int, RemoteEnd], possible: Possible, time: int | None) -> None:
        end = acknowledged_end(row)
        if end is not None:
            everyone = self.tracks if self.rank.everyone_known else {}
            self.low = max(self.low, committed(end, self.reign, everyone, self.end_low), key=_offset)
            sizes = [len(isr) for isr in possible.isrs]
            if sizes:
                self.proved_min_isr = min(self.proved_min_isr or max(sizes), max(sizes))
        self._raise_to_log_start(row)
        sizes = [len(isr) for isr in possible.isrs]
        if not self.rank.surely_enough(sizes, self.proved_min_isr):
            return
        evaluated = self.weighing.last(possible.first)
        isrs = possible.isrs if self.weighing.at_changes else self.isr.possible_since(evaluated, time)
        awaited = self._perhaps_counted(isrs, time, evaluated)
        counted = [self._slowest(remotes[broker], time) for broker in sorted(awaited)]
        slowest = min(counted, key=lambda remote: remote.low, default=None)
        reached = self.end_low.offset if slowest is None else min(slowest.low, self.end_low.offset)
        if reached > self.low.offset:
            settings = self._relied_on(awaited, sizes)
            self.low = at_least(reached, why_counted(counted, reached) + settings)

    def _raise_to_log_start(self, row: Moment) -> None:
        """Nothing is deleted, by retention or by request, that is not committed."""
        start = row.log_start_offset
        if row.error in (None, 0) and not row.doubtful and start is not None and start > self.low.offset:
            self.low = at_least(start, f"its log starts at {start}, and only committed records are deleted")

    def _relied_on(self, awaited: frozenset[int], sizes: list[int]) -> str:
        """The settings without which the lower bound would not be so high."""
        rank, told = self.rank, []
        if awaited != self.tracks.keys() and rank.lag_time_max_ms is not None:
            told.append(f"{LAG_TIME} is {rank.lag_time_max_ms}")
        everyone = len(rank.replicas)
        if rank.gated is not False and rank.min_in_sync and min(sizes) < min(self.proved_min_isr or everyone, everyone):
            told.append(f"{MIN_IN_SYNC} is {rank.min_in_sync}")
        return "".join(f"; {setting}" for setting in told)

    def _slowest(self, remote: RemoteEnd, time: int | None) -> RemoteEnd:
        """A follower that has not been seen in this term may ask for any offset, unseen."""
        unseen = remote.last is None and self._may_ask_unseen(self.tracks[remote.broker], time)
        return replace(remote, low=NEVER) if unseen else remote

    def _perhaps_counted(self, isrs: tuple[Isr, ...], time: int | None, evaluated: int | None) -> frozenset[int]:
        """Everybody for whom the leader may have waited when it weighed its high watermark last.

        The ISR, and whoever may have passed for caught up outside it.
        """
        if not isrs:
            return frozenset(self.tracks)
        members = frozenset().union(*isrs) - {self.reign.leader}
        outside = frozenset(self.tracks) - members
        return (members & self.tracks.keys()) | {b for b in outside if self._may_catch_up(b, time, evaluated)}

    def _may_catch_up(self, broker: int, time: int | None, evaluated: int | None) -> bool:
        track, version, limit = self.tracks[broker], self.rank.version, self.rank.lag_limit_ms
        now = track.now(in_flight_at_end=False, asking=False)
        soon = now.following is not None and _within(time, now.following.time, IN_FLIGHT_MS)
        if soon or version is None or limit is None or time is None or self._may_ask_unseen(track, time):
            return True
        if now.last is None:
            return self.reign.begun_unseen or broker in self.isr.opened_with()
        seen = now.last.last_time or now.last.time
        if seen is None or evaluated is None:
            return True
        # A change of the ISR that is weighed settles what was proposed before it.
        if version.at_least(2, 7) and not self.isr.settled_since(seen, time if self.weighing.at_changes else evaluated):
            return True  # the leader may have proposed to take it in, and may still wait for the controller's word
        if version.at_least(3, 6) and seen < evaluated - max(IN_FLIGHT_MS, limit):
            return False
        return evaluated - seen <= 2 * limit

    def _may_ask_unseen(self, track: Track, time: int | None) -> bool:
        """Whether a fetch may be in flight that the trace does not tell of: the term ends without a word."""
        return self.reign.end_offset is None and track.exhausted and self._is_late(time)

    def _raise_high(self, remotes: dict[int, RemoteEnd], possible: Possible) -> None:
        for remote in remotes.values():
            before = self.reached[remote.broker]
            self.reached[remote.broker] = None if None in (before, remote.high) else max(before or 0, remote.high or 0)
        if self.rank.surely_too_few([len(isr) for isr in possible.isrs]):
            return
        surely = (frozenset.intersection(*possible.isrs) if possible.isrs else frozenset()) - self.unseen
        counted = [remotes[broker] for broker in sorted(surely) if broker in remotes]
        self._raise_to(min((r for r in counted if r.high is not None), key=attrgetter("high"), default=None))
        for broker in sorted(surely & self.tracks.keys() & possible.joined):
            reached = self.reached[broker]
            if reached is not None and (self.high is None or reached < self.high.offset):
                self.high = at_most(
                    reached, f"broker {broker} joined the ISR, and so had reached it, with offset {reached}"
                )

    def _raise_to(self, slowest: RemoteEnd | None) -> None:
        """No higher than the slowest of those in sync, or the leader's own log end."""
        end = self.end_high
        if self.high is None:
            return
        if slowest is not None and slowest.high is not None and (end is None or slowest.high <= end.offset):
            if slowest.high > self.high.offset:
                self.high = at_most(slowest.high, why_in_sync(slowest))
        elif end is None or end.offset > self.high.offset:
            self.high = end

    def finish(self) -> ExpectedHighWatermark:
        """When the reign is over: whatever came into force, or was asked, after the last answer that was logged."""
        remotes = {b: t.now(in_flight_at_end=True, asking=False) for b, t in self.tracks.items()}
        for possible in self.isr.remaining(self.end_time):
            self._raise_high(remotes, possible)
        if not self.isr.statements:
            self._raise_high(remotes, NOTHING_KNOWN)
        return between(self.low, self.high)


def walk(
    reign: Reign, isr: IsrHistory, rank: Rank, start: ExpectedHighWatermark
) -> tuple[tuple[LeaderRow, ...], ExpectedHighWatermark]:
    """The leader after each of its answers, in the order of its log, and its high watermark at the end."""
    state = LeaderWalk(reign, isr, rank, start)
    rows = tuple(state.step(row, last=last) for row, last in in_log_order(reign.rows))
    return rows, state.finish()


def in_log_order(rows: Iterable[Moment]) -> Iterator[tuple[Moment, bool]]:
    """Answers one by one; of a run of equal ones the first and the last.

    Where in its millisecond the last was logged is not told. It is walked over before all others: whoever was answered
    then may have asked anew already.
    """
    placed: list[tuple[int, int, str, int, Moment, bool]] = []
    for row in rows:
        time = row.time if row.time is not None else 0
        placed.append((time, 1, row.span.source, row.span.start, row, False))
        if row.count > 1:
            until = row.last_time if row.last_time is not None else time
            placed.append((until, 0 if until > time else 1, row.span.source, row.span.start, row, True))
    for entry in sorted(placed, key=lambda p: p[:4]):
        yield entry[4], entry[5]


def _within(time: int | None, later: int | None, limit: int) -> bool:
    return time is None or later is None or later - time <= limit


def _offset(bound: Bound) -> int:
    return bound.offset
