"""The replay: from statements about a partition to what every replica must have held, beside what was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from rules.chronicle.request_logs import NONE_HERE, RequestLogs
from rules.history.clocks import Clocks, clocks_of
from rules.history.moments import ROLE_KINDS, Moment
from rules.history.statements import Fetched, LogEvent, RoleTaken
from rules.history.translation import translated
from rules.protocol.versions import parse_kafka_version
from rules.protocol.watermarks import ExpectedHighWatermark, expected_interval
from rules.replay.ends import RoleEnd, last_roles, role_ends
from rules.replay.followers import (
    UNKNOWN,
    LogRules,
    after_answers,
    after_cuts,
    capped,
    either,
    loosened,
    lowered,
    perhaps_told,
    reopened,
    restarted,
)
from rules.replay.leading.leader_walk import LeaderRow, walk
from rules.replay.leads.asked_in_sync import OverTime, nothing_over_time
from rules.replay.leads.by_clock_and_epoch import Statements, States, untold_states
from rules.replay.leads.in_sync import IsrHistory, isr_history
from rules.replay.leads.own_words import CUTS, OwnWords
from rules.replay.leads.rank import Lookup, Rank, assigned_to, nothing_told, once_assigned, rank_of, release_at
from rules.replay.leads.restarts import untelling, with_restarts
from rules.replay.leads.served_leads import ServedLead, served_leads
from rules.replay.missing import Missing, missing
from rules.replay.told_watermarks import ToldWatermark
from rules.replicas.replica import Replica


class Course(Struct, frozen=True, kw_only=True):
    """One lead as it was recomputed."""

    lead: ServedLead
    isr: IsrHistory
    rank: Rank
    start: ExpectedHighWatermark
    rows: tuple[LeaderRow, ...]
    end: ExpectedHighWatermark


class Replay(Struct, frozen=True, kw_only=True):
    """Everything recomputed about a partition over time."""

    clocks: Clocks
    courses: tuple[Course, ...]
    told_watermarks: tuple[ToldWatermark, ...]
    missing: tuple[Missing, ...]
    ends: Mapping[int, RoleEnd]
    """What each replica held at the end of its last role."""


def replay(
    moments: Sequence[Moment],
    replicas: Sequence[Replica],
    binaries: Mapping[int, str | None],
    settings: Lookup = nothing_told,
    request_logs: RequestLogs = NONE_HERE,
    clocks: Clocks | None = None,
    *,
    over_time: OverTime = nothing_over_time,
    states: States = untold_states,
) -> Replay:
    """Recompute log ends and high watermarks from the statements, in the order of leader epochs."""
    statements = Statements(with_restarts(moments, untelling(binaries)), replicas, request_logs, states)
    known = clocks_of(statements.moments) if clocks is None else clocks
    story = _Story(statements, binaries, settings, over_time, known)
    courses = tuple(story.follow(lead) for lead in served_leads(statements))
    return Replay(
        clocks=known,
        courses=courses,
        told_watermarks=tuple(story.told_watermarks),
        missing=tuple(m for c in courses for m in missing(c.lead, c.isr, c.rows)),
        ends=story.ends,
    )


class _Story:
    """What is known of every replica while the leads are walked; lives only inside `replay`."""

    def __init__(
        self,
        statements: Statements,
        binaries: Mapping[int, str | None],
        settings: Lookup,
        over_time: OverTime,
        clocks: Clocks,
    ) -> None:
        self.statements, self.binaries, self.settings, self.clocks = statements, binaries, settings, clocks
        self.over_time = over_time
        moments = statements.moments
        self.brokers = once_assigned(moments, statements.replicas)
        self.untelling = untelling(binaries)
        self.assigned = assigned_to(statements)
        self.held = dict.fromkeys(sorted(self.brokers), UNKNOWN)
        own_words: dict[int, list[Moment]] = {broker: [] for broker in self.brokers}
        for moment in moments:
            if moment.broker in own_words and moment.clock == f"broker {moment.broker}" and moment.kind != "produced":
                own_words[moment.broker].append(moment)
        self.own = {b: OwnWords(words) for b, words in own_words.items()}
        self.uncut = dict(self.held)
        """What each replica held before it cut its log in the lead that is walked."""
        self.places = dict.fromkeys(self.brokers, 0)
        self.last_roles = last_roles(moments, led=True)
        self.ends: dict[int, RoleEnd] = {}
        self.told_watermarks: list[ToldWatermark] = []

    def follow(self, lead: ServedLead) -> Course:
        """Walk through one lead."""
        for broker in sorted(self.brokers):
            self._until(broker, lead)
        why = f"its log ended at {lead.start_offset}: {lead.start_because}"
        start = capped(self.held.get(lead.leader, UNKNOWN), lead.start_offset, why)
        opening = lead.opening or next(iter(lead.rows), None)
        own = self.own.get(lead.leader)
        if own is not None and own.has_cut and not self._rules(lead.leader, opening).clamps:
            start = self.held.get(lead.leader, UNKNOWN)
        if lead.opening is None:
            start = lowered(start, UNKNOWN)  # its own log lacks that line, and may lack a restart before
        isr = isr_history(lead, self.statements, self.clocks)
        binary = self._release(lead.leader, opening)
        rank = rank_of(lead, self.brokers, self.assigned, binary, self.settings, self.clocks, over_time=self.over_time)
        rows, end = walk(lead, isr, rank, start)
        self._note_answers(rows)
        held = dict(self.held)
        course = Course(lead=lead, isr=isr, rank=rank, start=start, rows=rows, end=end)
        for broker in sorted(self.brokers):
            before = self.held[broker]
            heard, surely = self._before_next_role(broker, rows, lead)
            # Who follows asks at once: where no answer to it is told, one may have stood in a hole.
            if broker != lead.leader and (lead.unseen or not any(row.moment.broker == broker for row in heard)):
                before = perhaps_told(before, start)
            after = end if broker == lead.leader else after_answers(before, broker, heard, end.high, lead.epochs)
            if len(surely) < len(heard) and broker != lead.leader:
                after = lowered(after, after_answers(before, broker, surely, end.high, lead.epochs))
            self.held[broker] = either(before, loosened(after, broker, heard))
            load = self._within(broker, lead) or self._late_load(broker, rows, lead)
            loaded = after if load is None else self._after_restart(load, after, surely, lead)
            perhaps_later = load is not None and (load.latest_term or 0) > lead.epochs[-1]
            self.held[broker] = either(after, loaded) if perhaps_later else loaded
            for undated in self.own[broker].perhaps_in(lead.epochs[0]):
                self.held[broker] = either(self.held[broker], reopened(self.held[broker], undated))
        self.ends.update(role_ends(lead, rows, start, self.last_roles, held, self.held, estimated=isr.estimated))
        return course

    def _before_next_role(
        self, broker: int, rows: Sequence[LeaderRow], lead: ServedLead
    ) -> tuple[Sequence[LeaderRow], Sequence[LeaderRow]]:
        """The answers that a follower may have had before a later term of its own, and those that it surely had.

        Up to 2.0 fetches name no epoch: it may ask a leader that was deposed long ago.
        """
        later = self.own[broker].leads_after(lead.epochs[0])
        window = translated(later.time, later.clock, lead.clock, self.clocks) if later else None
        if window is None:
            return rows, rows
        maybe = [row for row in rows if row.moment.epoch is not None or (_last_time(row) or 0) <= window[1]]
        return maybe, [row for row in maybe if row.moment.epoch is not None or (_last_time(row) or 0) < window[0]]

    def _late_load(self, broker: int, rows: Sequence[LeaderRow], lead: ServedLead) -> LogEvent | None:
        """A restart that its broker tells of before it has heard of this lead, and that may have come later yet."""
        asked = [row.moment for row in rows if row.moment.broker == broker and row.moment.kind == "fetched"]
        first = min((m.time for m in asked if m.time is not None and m.epoch is None), default=None)
        if first is None:
            return None
        load = self.own[broker].load_before(lead.epochs[0])
        window = translated(load.time, load.clock, lead.clock, self.clocks) if load else None
        return load if window is None or window[1] >= first else None

    def _after_restart(
        self, load: LogEvent, after: ExpectedHighWatermark, rows: Sequence[LeaderRow], lead: ServedLead
    ) -> ExpectedHighWatermark:
        """At the end of a lead in which the replica restarted: what it was surely told since, or its checkpoint.

        Of answers that it may have had only after its next role nothing follows.
        """
        window = translated(load.time, load.clock, lead.clock, self.clocks)
        later = [row for row in rows if window and row.moment.time is not None and row.moment.time > window[1]]
        low = restarted(UNKNOWN, load).low
        lowest = low
        if later and low is not None:
            begun = expected_interval((low,))
            lowest = after_answers(begun, load.broker or 0, later, after.high, lead.epochs).low
        return expected_interval(tuple(bound for bound in (lowest, after.high) if bound is not None))

    def _until(self, broker: int, lead: ServedLead) -> None:
        """What befell a replica between its last role and the one that it takes in this lead."""
        own = self.own[broker]
        if lead.untold:
            self.held[broker] = UNKNOWN
        for place in range(self.places[broker], len(own.moments)):
            moment = own.moments[place]
            if moment.term is not None and moment.term >= lead.epochs[0]:
                break
            if moment.kind in ROLE_KINDS and moment.epoch is not None and moment.epoch > lead.epochs[-1]:
                break
            before = self.held[broker]
            self._befall(broker, moment)
            if moment.kind == "log-loaded" and (moment.latest_term or 0) >= lead.epochs[0]:
                self.held[broker] = either(before, self.held[broker])  # it may have come in this lead, or after it
            if moment.term in lead.untold:
                self.held[broker] = UNKNOWN  # what it was told in that term since, nobody saw
            self.places[broker] = place + 1
        if own.silent or f"broker {broker}" in self.untelling:
            self.held[broker] = lowered(self.held[broker], UNKNOWN)
        self.uncut[broker] = self.held[broker]
        if broker != lead.leader:
            cuts = list(own.in_terms(lead.epochs, self.places[broker]))
            self.held[broker] = after_cuts(self.held[broker], broker, cuts, self._rules(broker, next(iter(cuts), None)))

    def _within(self, broker: int, lead: ServedLead) -> LogEvent | None:
        """What befell a replica during a lead; where in it is not asked, so its state is the loosest of all.

        Returns its last restart.
        """
        own = self.own[broker].moments
        load, cut = None, False
        for place in range(self.places[broker], len(own)):
            moment = own[place]
            if moment.term is None or not lead.covers(moment.term):
                break
            if moment.kind in ROLE_KINDS and moment.epoch is not None and moment.epoch > lead.epochs[-1]:
                break
            if moment.kind == "log-loaded":
                load = moment
                # It goes on to fetch in the same lead: only its low side is what the restart left.
                self.held[broker] = reopened(self.held[broker], moment)
            elif isinstance(moment, RoleTaken) and not cut:
                # It may take a later epoch of the same leader before it cuts anything for an earlier one.
                self._note(broker, moment, either(self.held[broker], self.uncut[broker]))
            else:
                self._befall(broker, moment)
            cut = cut or moment.kind in CUTS
            self.places[broker] = place + 1
        return load

    def _befall(self, broker: int, moment: Moment) -> None:
        if moment.kind == "log-loaded":
            untold = moment.latest_term is not None or self.own[broker].grew_untold(self.places[broker], moment)
            before = UNKNOWN if untold else self.held[broker]
            self.held[broker] = restarted(before, moment)
        elif moment.kind == "log-created":
            # It takes the place of a log that is gone, or it is filled beside one that stays.
            self.held[broker] = either(self.held[broker], UNKNOWN)
        elif isinstance(moment, RoleTaken) or moment.kind == "high-watermark-loaded":
            self._note(broker, moment, self.held[broker])

    def _note(self, broker: int, moment: RoleTaken | LogEvent, held: ExpectedHighWatermark) -> None:
        # Up to 2.3 one line an assigned replica is printed, remote ones with 0, and a cut left the value alone.
        if moment.high_watermark is None or moment.doubtful or not self._rules(broker, moment).clamps:
            return
        if moment.kind == "high-watermark-loaded" and self._of_unknown_epoch(broker, moment):
            return
        # What was learnt, perhaps, in an epoch of which its own log tells nothing is bounded by its log alone.
        expected = held if moment.latest_term is None else UNKNOWN
        if moment.kind in ROLE_KINDS:
            expected = capped(expected, moment.offset, f"its log ended at {moment.offset}")
        watermark = ToldWatermark(moment=moment, by_leader=False, expected=expected, observed=moment.high_watermark)
        self.told_watermarks.append(watermark)

    def _of_unknown_epoch(self, broker: int, moment: Moment) -> bool:
        """Whether it stands before the first role that the log shows, which was not the process's first."""
        first = self.own[broker].first_role
        if first is None or first.time is None or moment.time is None:
            return False
        return moment.time <= first.time and not first.fresh and (first.epoch or 0) > 0

    def _note_answers(self, rows: Sequence[LeaderRow]) -> None:
        for row in rows:
            fetch = row.moment
            if isinstance(fetch, Fetched) and not row.last and fetch.error in (None, 0) and not fetch.doubtful:
                answer = ToldWatermark(moment=fetch, by_leader=True, expected=row.answer, observed=fetch.high_watermark)
                self.told_watermarks.append(answer)

    def _release(self, broker: int, at: Moment | None) -> str | None:
        return release_at(broker, at, self.settings, self.clocks, self.binaries.get(broker))

    def _rules(self, broker: int, at: Moment | None) -> LogRules:
        binary = self._release(broker, at)
        version = parse_kafka_version(binary) if binary else None
        return LogRules(clamps=version is not None and version.at_least(2, 4))


def _last_time(row: LeaderRow) -> int | None:
    return row.moment.last_time if row.moment.last_time is not None else row.moment.time
