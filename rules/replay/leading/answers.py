"""What a leader's high watermark surely was when it made an answer: later than the answer's asker had asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from rules.history.moments import accepted
from rules.history.statements import Fetched
from rules.protocol.watermarks import Bound
from rules.replay.leading.bounds import at_least, why_counted
from rules.replay.leading.counting import Counting
from rules.replay.leading.gate import MinIsrGate
from rules.replay.leading.instants import Instant, overtaken, read_since, taken_in_before
from rules.replay.leading.tracks import NEVER, RemoteEndBounds, Track
from rules.replay.leads.in_force import InForceOverTime, Isr


class LeaderThen(Struct, frozen=True, kw_only=True):
    """The leader when it had logged an answer: its asker's next fetch came after that."""

    row: Fetched
    time: int | None
    low: Bound
    log_end: int
    evaluated: int | None
    """When it had weighed its high watermark last, at the earliest."""
    places: Mapping[int, int]
    """Which of its fetches each follower had been answered last."""
    remotes: Mapping[int, RemoteEndBounds]
    """How far each follower was counted."""


class Answers:
    """Each follower's former answer, and what its next one can tell; lives only inside the walk over one lead."""

    def __init__(
        self, tracks: Mapping[int, Track], counting: Counting, isr: InForceOverTime, gate: MinIsrGate, first_low: Bound
    ) -> None:
        self.tracks, self.counting, self.isr, self.gate, self.first_low = tracks, counting, isr, gate, first_low
        self.former: dict[int, LeaderThen] = {}
        self.windows: dict[int, Callable[[int | None, int | None], tuple[Isr, ...]]] = {}

    def note(self, broker: int, asked: LeaderThen) -> None:
        """An answer was logged."""
        self.former[broker] = asked

    def low(self, row: Fetched) -> Bound:
        """The lower bound of what an answer that is walked over tells, before it is noted."""
        former = None if row.broker is None else self.former.get(row.broker)
        if former is None or row.broker is None or overtaken(row, former.time):
            return self.first_low
        if row.doubtful or not accepted(row) or (row.count > 1 and row.last_time is None):
            return former.low
        counting = self.counting
        if row.broker not in self.windows:
            self.windows[row.broker] = self.isr.window()
        isrs = self.windows[row.broker](former.time if counting.weighs_changes else former.evaluated, row.time)
        sizes, since = [len(isr) for isr in isrs], former.evaluated
        if not self.gate.surely_open(sizes, since, row.time):
            return former.low
        awaited = counting.awaited(isrs, row.time, former.evaluated) | counting.awaited(
            isrs, former.time, former.evaluated
        )
        instant = Instant(log_end=self._log_end(row, former), time=read_since(row, former.row, former.time))
        ends = (self._counted(broker, row, former, instant) for broker in awaited)
        reached = min(ends, default=former.low.offset)
        if reached <= former.low.offset:
            return former.low
        settings = counting.relied_on(awaited, self.gate.relied_on(sizes, since, row.time))
        return at_least(reached, why_counted(sorted(awaited), reached) + settings)

    def _log_end(self, row: Fetched, former: LeaderThen) -> int:
        """How far the leader's log had come when it answered: what its follower went on with, it had been sent."""
        track = self.tracks[row.broker or 0]
        end, place = max(former.log_end, row.offset or 0), track.index + 1
        told_last = 0 < place < len(track.runs) and track.runs[place - 1] is row
        if row.count > 1 or row.left_out or track.holed or not told_last:
            return end
        following = track.runs[place]
        trusted = accepted(following) and not following.doubtful and following.session == row.session
        return max(end, following.offset or 0) if trusted else end

    def _counted(self, broker: int, row: Fetched, former: LeaderThen, instant: Instant) -> int:
        """How far a follower surely had come in the leader's memory when the answer was made."""
        if broker == row.broker:
            low = (row.offset or 0) if row.waited else min(former.remotes[broker].low, row.offset or 0)
        else:
            low = self._lowest(self.tracks[broker], former, instant)
        return self.counting.counted_at(broker, low, row.time)

    def _lowest(self, track: Track, former: LeaderThen, instant: Instant) -> int:
        """The lowest of a follower's offsets since the last fetch that surely was taken in by then."""
        furthest = min(track.index + track.done, len(track.runs) - 1)
        lowest: int | None = None
        for place in range(furthest, former.places[track.broker], -1):
            run = track.runs[place]
            offset = NEVER if run.doubtful or run.offset is None else run.offset
            lowest = offset if lowest is None else min(lowest, offset)
            if taken_in_before(track, place, instant, self.isr.holds):
                return lowest
        known = former.remotes[track.broker].low
        return known if lowest is None else min(known, lowest)
