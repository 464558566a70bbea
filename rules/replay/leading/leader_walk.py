"""A leader's log end and high watermark over one lead, as intervals, from its answers' order and the ISR in force.

No high watermark that anybody told goes into this: only what was asked, what was appended, and who was counted.
"""

from __future__ import annotations

from operator import attrgetter

from msgspec import Struct

from rules.history.moments import accepted
from rules.history.statements import Fetched
from rules.protocol.watermarks import Bound, ExpectedHighWatermark
from rules.replay.leading.acknowledged_by_all import acknowledged_end, committed, taken
from rules.replay.leading.answers import Answers, LeaderThen
from rules.replay.leading.bounds import at_least, at_most, between, why_counted, why_in_sync, why_resting
from rules.replay.leading.counting import Counting
from rules.replay.leading.gate import MinIsrGate
from rules.replay.leading.instants import Instant, taken_in_before
from rules.replay.leading.log_order import in_log_order
from rules.replay.leading.silences import Silences
from rules.replay.leading.tracks import NEVER, RemoteEndBounds, Track
from rules.replay.leading.weighing import Weighing
from rules.replay.leads.by_clock_and_epoch import Served
from rules.replay.leads.in_force import NOBODY, NOTHING_KNOWN, InForceOverTime, Isr, PossibleIsrs
from rules.replay.leads.in_sync import IsrHistory
from rules.replay.leads.rank import Rank
from rules.replay.leads.served_leads import ServedLead, follower_runs


class LeaderRow(Struct, frozen=True, kw_only=True):
    """The leader after one answer: what it held, and what an answer of this row could tell."""

    moment: Served
    last: bool
    """Whether this is the last of a run of equal answers, of which the first has a row of its own."""
    log_end: ExpectedHighWatermark
    high_watermark: ExpectedHighWatermark
    answer: ExpectedHighWatermark
    """The high watermark that this answer could carry: it was read before the asker's next fetch, after its former."""
    remotes: tuple[RemoteEndBounds, ...]
    isr: tuple[frozenset[int], ...]
    """The ISRs that may be in force."""
    likely_isr: frozenset[int] | None
    """The one that is, by the best estimate of clocks."""

    @property
    def fetch(self) -> Fetched | None:
        """The answer, where it was a replica's fetch."""
        return self.moment if self.moment.kind == "fetched" else None

    def stands_alone(self, leader: int) -> bool | None:
        """Whether nobody but the leader was in sync when it answered for a record; null where that may be so or not.

        Times are estimates: who may be in sync was not where its fetches had not reached the record, and whoever had
        asked for more held it.
        """
        offset, alone = self.moment.offset or 0, frozenset({leader})
        if self.likely_isr != alone or any(remote.low > offset for remote in self.remotes):
            return False
        ends = {remote.broker: remote.reached_by(self.moment.time) for remote in self.remotes}
        others: frozenset[int] = frozenset[int]().union(*self.isr) - alone
        reached = [ends.get(broker) for broker in others]
        return True if all(end is not None and end <= offset for end in reached) else None


class LeaderWalk:
    """The state of the walk over one lead's answers; lives only inside `walk`."""

    def __init__(self, lead: ServedLead, isr: IsrHistory, rank: Rank, start: ExpectedHighWatermark) -> None:
        self.lead, self.isr, self.rank = lead, InForceOverTime(isr), rank
        runs = follower_runs(lead)
        brokers = sorted((rank.replicas | runs.keys()) - {lead.leader})
        seen = {"begun_unseen": lead.begun_unseen, "holed": lead.holed}
        self.tracks = {b: Track(b, runs.get(b, ()), lead.follower_ends.get(b), **seen) for b in brokers}
        begin = 0 if lead.start_offset is None else lead.start_offset
        self.end_low = at_least(begin, lead.start_because)
        self.end_high = None if lead.end_offset is None else at_most(lead.end_offset, lead.end_because)
        self.low: Bound = start.low or at_least(0, "nothing is known of the high watermark before")
        self.first_low = self.low
        self.high: Bound | None = start.high
        self.gate = MinIsrGate(rank)
        self.passed = self.isr.window()
        self.before: int | None = None
        """When the answer before was logged, which is walked over already."""
        self.advancing: tuple[Isr, ...] = ()
        """The ISRs under which the high watermark may have advanced when it was."""
        self.unseen = lead.begun_unseen
        """Whether it may have advanced before the first answer that is told, in a larger ISR than then."""
        self.uncounted = isr.unassigned
        self.counting = Counting(lead, self.isr, rank, self.tracks)
        self.silences = Silences(self.counting)
        self.weighing = Weighing(rank.version, self.counting.opened)
        self.counting.weighs_changes = self.weighing.at_changes
        self.answers = Answers(self.tracks, self.counting, self.isr, self.gate, self.first_low)
        self.reached: dict[int, int | None] = dict.fromkeys(self.tracks, None if lead.begun_unseen else NEVER)
        """How far each follower can have asked at any time of the lead."""

    def step(self, row: Served, *, last: bool) -> LeaderRow:
        """Walk over one answer."""
        time = row.last_time if last else row.time
        fetch = row if row.kind == "fetched" else None
        asker = None if fetch is None or fetch.broker is None else self.tracks.get(fetch.broker)
        self.silences.see(row, time, self.end_low.offset)
        self.weighing.answer(row, asker, last=last)
        if fetch is not None and asker is not None:
            asker.answer(fetch, last=last)
        self._append(row)
        silent = (b for b, t in self.tracks.items() if t is not asker and self.counting.asks_unseen(t, time))
        possible = self.isr.possible(time)
        # Who joined without any fetch that is told has sent one that nobody tells of.
        unseen = (broker for broker in possible.joined if self.reached.get(broker) == NEVER)
        self.uncounted = self.isr.unassigned.union(silent, self.silences.perhaps_out(possible.untold_since), unseen)
        self.end_low = taken(row, self.lead, self.tracks, possible.surely - self.isr.unassigned, self.end_low)
        instant = Instant(log_end=self.end_low.offset, time=time)
        late = self.counting.is_late(time)
        remotes = {b: self._remote(t, instant, late=late) for b, t in self.tracks.items()}
        since = self.before, time
        asking = remotes if asker is None else {**remotes, asker.broker: asker.asking()}
        advancing = self._raise_high(asking, possible, since, gone=True)
        answered_high = self.high
        self._raise_low(row, remotes, possible, time)
        if asker is not None:
            advancing = self._raise_high(remotes, possible, (time, time))
        self.before, self.advancing, self.unseen = time, advancing, False
        answered_low = self._answered_low(row)
        if fetch is not None and asker is not None:
            self._note(fetch, asker.broker, remotes, possible, time)
        return LeaderRow(
            moment=row,
            last=last,
            log_end=between(self.end_low, self.end_high),
            high_watermark=between(self.low, self.high),
            answer=between(answered_low, answered_high),
            remotes=tuple(remotes.values()),
            isr=possible.isrs,
            likely_isr=self.isr.likely(time),
        )

    def _answered_low(self, row: Served) -> Bound:
        if row.kind != "fetched" or row.broker not in self.tracks:
            return self.first_low
        low = self.answers.low(row)
        # Of a run of equal answers the last was made when this one had been logged.
        return max(low, self.low, key=_offset) if row.count > 1 else low

    def _note(
        self, row: Fetched, broker: int, remotes: dict[int, RemoteEndBounds], possible: PossibleIsrs, time: int | None
    ) -> None:
        asked = LeaderThen(
            row=row,
            time=time,
            low=self.low,
            log_end=self.end_low.offset,
            evaluated=self.weighing.last(possible.first),
            places={b: track.index for b, track in self.tracks.items()},
            remotes=remotes,
        )
        self.answers.note(broker, asked)

    def _remote(self, track: Track, instant: Instant, *, late: bool) -> RemoteEndBounds:
        """Only the last fetches of a trace can have been applied without ever being logged."""
        asks_again = track.following is not None
        applied = asks_again and taken_in_before(track, track.index + 1, instant, self.isr.holds)
        return track.now(in_flight_at_end=late, applied=applied)

    def _append(self, row: Served) -> None:
        if row.error not in (None, 0) or row.offset is None or row.doubtful:
            return
        if row.kind == "produced" and row.offset + 1 > self.end_low.offset:
            self.end_low = at_least(row.offset + 1, f"a record was appended at offset {row.offset}")
        elif row.kind == "fetched" and accepted(row) and row.offset > self.end_low.offset:
            self.end_low = at_least(row.offset, f"broker {row.broker} asked for offset {row.offset}, in range")

    def _raise_low(
        self, row: Served, remotes: dict[int, RemoteEndBounds], possible: PossibleIsrs, time: int | None
    ) -> None:
        end, sizes = acknowledged_end(row), [len(isr) for isr in possible.isrs]
        if end is not None:
            everyone = self.tracks if self.rank.everyone_known else {}
            self.low = max(self.low, committed(end, self.lead, everyone, self.end_low), key=_offset)
            self.gate.acknowledged(sizes, time)
        self._raise_to_log_start(row)
        evaluated = self.weighing.last(possible.first)
        if not self.gate.surely_open(sizes, evaluated, time):
            return
        isrs = possible.isrs if self.weighing.at_changes else self.isr.possible_since(evaluated, time)
        awaited = self.counting.awaited(isrs, time, evaluated)
        ends = (self.counting.counted_at(broker, remotes[broker].low, time) for broker in awaited)
        reached = min((self.end_low.offset, *ends))
        if reached > self.low.offset:
            settings = self.counting.relied_on(awaited, self.gate.relied_on(sizes, evaluated, time))
            self.low = at_least(reached, why_counted(sorted(awaited), reached) + settings)

    def _raise_to_log_start(self, row: Served) -> None:
        """Nothing is deleted, by retention or by request, that is not committed."""
        start = row.log_start_offset
        if row.error in (None, 0) and not row.doubtful and start is not None and start > self.low.offset:
            self.low = at_least(start, f"its log starts at {start}, and only committed records are deleted")

    def _raise_high(
        self,
        remotes: dict[int, RemoteEndBounds],
        possible: PossibleIsrs,
        meanwhile: tuple[int | None, int | None],
        *,
        gone: bool = False,
    ) -> tuple[Isr, ...]:
        """As far as an ISR lets it advance that may be in force, or where all rest, one that is `gone` meanwhile."""
        for broker, remote in remotes.items():
            before, high = self.reached[broker], remote.high
            self.reached[broker] = None if before is None or high is None else max(before, high)
        enough = None if self.unseen else self.gate.enough(*meanwhile)
        raising = tuple(isr for isr in possible.isrs if enough is None or len(isr) >= enough)
        if raising == possible.isrs:
            self._raise_under(possible.surely, remotes, possible.joined)
        elif raising:
            self._raise_under(frozenset.intersection(*raising), remotes, possible.joined)
        elif gone and enough is not None and (passed := self._gone(meanwhile, enough)):
            self._raise_under(frozenset.intersection(*passed), remotes, NOBODY)
        if len(raising) < len(possible.isrs) and self.high is not None:
            self.high = at_most(self.high.offset, why_resting(self.high.because, enough))
        return raising

    def _gone(self, meanwhile: tuple[int | None, int | None], enough: int) -> tuple[Isr, ...]:
        """ISRs of that size in force since the answer before, but for those under which it had advanced by then."""
        return tuple(isr for isr in self.passed(*meanwhile) if len(isr) >= enough and isr not in self.advancing)

    def _raise_under(
        self, members: frozenset[int], remotes: dict[int, RemoteEndBounds], joined: frozenset[int]
    ) -> None:
        """As far as any ISR may have let it advance; `members` are in all of them."""
        surely = members - self.uncounted
        counted = [r for broker, r in remotes.items() if broker in surely and r.high is not None]
        self._raise_to(min(counted, key=attrgetter("high"), default=None))
        for broker in sorted(joined & surely & self.tracks.keys()):
            reached = self.reached[broker]
            if reached is not None and (self.high is None or reached < self.high.offset):
                self.high = at_most(
                    reached, f"broker {broker} joined the ISR, and so had reached it, with offset {reached}"
                )

    def _raise_to(self, slowest: RemoteEndBounds | None) -> None:
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
        """When the lead is over: whatever came into force, or was asked, after the last answer that was logged."""
        if self.lead.ends_unseen:
            return between(self.low, self.end_high)
        remotes = {b: t.now(in_flight_at_end=True) for b, t in self.tracks.items()}
        self.silences.end(self.lead.ended)
        uncounted, until_then = self.uncounted, (self.counting.end_time, self.lead.ended)
        for possible in self.isr.remaining(self.counting.end_time):
            self.uncounted = uncounted.union(self.silences.perhaps_out(possible.untold_since))
            self._raise_high(remotes, possible, until_then)
        if not self.isr.statements:
            self._raise_high(remotes, NOTHING_KNOWN, until_then)
        return between(self.low, self.high)


def walk(
    lead: ServedLead, isr: IsrHistory, rank: Rank, start: ExpectedHighWatermark
) -> tuple[tuple[LeaderRow, ...], ExpectedHighWatermark]:
    """The leader after each of its answers, in the order of its log, and its high watermark at the end.

    Once an answer of its leader may be of this lead or of another, who was in sync is not known.
    """
    if not lead.unplaced:
        return _walked(lead, isr, rank, start)
    placed, rest_of_it = lead.parted()
    rows, reached = _walked(placed, isr, rank, start)
    rest, end = _walked(rest_of_it, IsrHistory(statements=()), rank, reached)
    return (*rows, *rest), end


def _walked(
    lead: ServedLead, isr: IsrHistory, rank: Rank, start: ExpectedHighWatermark
) -> tuple[tuple[LeaderRow, ...], ExpectedHighWatermark]:
    state = LeaderWalk(lead, isr, rank, start)
    rows = tuple(state.step(row, last=last) for row, last in in_log_order(lead.rows))
    return rows, state.finish()


def _offset(bound: Bound) -> int:
    return bound.offset
