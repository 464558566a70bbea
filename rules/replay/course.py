"""The replay: from statements about a partition to what every replica must have held, beside what was told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rules.history import ROLE_KINDS, Moment
from rules.protocol.versions import parse_kafka_version
from rules.protocol.watermarks import Bound, ExpectedHighWatermark, expected_interval
from rules.replay.clocks import ClockOffset, clock_offsets, translated
from rules.replay.followers import UNKNOWN, LogRules, after_answers, after_cuts, capped, either, reopened, restarted
from rules.replay.in_sync import IsrHistory, isr_history
from rules.replay.leader import LeaderRow, walk
from rules.replay.rank import Lookup, Rank, nothing_told, rank_of
from rules.replay.reigns import Reign, reigns
from rules.replica import Replica

Standing = Literal["inside", "above", "below"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A high watermark that somebody told, beside what it can have been."""

    moment: Moment
    by_leader: bool
    expected: ExpectedHighWatermark
    observed: int | None

    @property
    def standing(self) -> Standing | None:
        """Where the told value lies; null when none was told."""
        if self.observed is None:
            return None
        low, high = self.expected.interval.low, self.expected.interval.high
        if high is not None and self.observed > high:
            return "above"
        return "below" if low is not None and self.observed < low else "inside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Evidence that is not there, and what it leaves open."""

    kind: str
    """What sort of evidence it is, whichever term it is of."""
    evidence: str
    leaves_open: str
    epochs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One reign as it was recomputed."""

    reign: Reign
    isr: IsrHistory
    rank: Rank
    start: ExpectedHighWatermark
    rows: tuple[LeaderRow, ...]
    end: ExpectedHighWatermark


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Everything recomputed about a partition over time."""

    clocks: tuple[ClockOffset, ...]
    courses: tuple[Course, ...]
    told: tuple[Told, ...]
    missing: tuple[Missing, ...]


def replay(
    moments: Sequence[Moment],
    replicas: Sequence[Replica],
    binaries: Mapping[int, str | None],
    settings: Lookup = nothing_told,
) -> Replay:
    """Recompute log ends and high watermarks from the statements, in the order of leader epochs."""
    clocks = clock_offsets(moments)
    found = reigns(moments, replicas)
    story = _Story(moments, replicas, binaries, settings, {clock.clock: clock for clock in clocks})
    courses = tuple(story.follow(reign) for reign in found)
    return Replay(
        clocks=clocks, courses=courses, told=tuple(story.told), missing=tuple(m for c in courses for m in _missing(c))
    )


class _Story:
    """What is known of every replica while the reigns are walked; lives only inside `replay`."""

    def __init__(
        self,
        moments: Sequence[Moment],
        replicas: Sequence[Replica],
        binaries: Mapping[int, str | None],
        settings: Lookup,
        offsets: Mapping[str, ClockOffset],
    ) -> None:
        self.moments, self.binaries, self.settings, self.offsets = moments, binaries, settings, offsets
        self.brokers = _assignment(moments, replicas)
        self.held = dict.fromkeys(sorted(self.brokers), UNKNOWN)
        self.own = {b: [m for m in moments if m.clock == f"broker {b}" and m.broker == b] for b in self.brokers}
        self.places = dict.fromkeys(self.brokers, 0)
        self.told: list[Told] = []
        self.final_high: Bound | None = None

    def follow(self, reign: Reign) -> Course:
        """Walk through one reign."""
        for broker in sorted(self.brokers):
            self._until(broker, reign)
        why = f"its log ended at {reign.start_offset}: {reign.start_because}"
        start = capped(self.held.get(reign.leader, UNKNOWN), reign.start_offset, why)
        if not self._rules(reign.leader).clamps and self._has_cut(reign.leader):
            start = self.held.get(reign.leader, UNKNOWN)
        isr = isr_history(reign, self.moments, self.offsets)
        binary = self.binaries.get(reign.leader)
        rank = rank_of(reign, self.brokers, self.moments, binary, self.settings, self.offsets)
        rows, end = walk(reign, isr, rank, start)
        self._note_answers(rows)
        course = Course(reign=reign, isr=isr, rank=rank, start=start, rows=rows, end=end)
        for broker in sorted(self.brokers):
            before = self.held[broker]
            after = end if broker == reign.leader else after_answers(before, broker, rows, end.high)
            self.held[broker] = either(before, after)
            load = self._within(broker, reign)
            self.held[broker] = after if load is None else self._after_restart(load, after, rows, reign)
        return course

    def _after_restart(
        self, load: Moment, after: ExpectedHighWatermark, rows: Sequence[LeaderRow], reign: Reign
    ) -> ExpectedHighWatermark:
        """At the end of a reign in which the replica restarted: what it was surely told since, or its checkpoint."""
        window = translated(load.time, load.clock, reign.clock, self.offsets)
        later = [row for row in rows if window and row.moment.time is not None and row.moment.time > window[1]]
        low = restarted(UNKNOWN, load).low
        lowest = low
        if later and low is not None:
            lowest = after_answers(expected_interval((low,)), load.broker or 0, later, after.high).low
        return expected_interval(tuple(bound for bound in (lowest, after.high) if bound is not None))

    def _until(self, broker: int, reign: Reign) -> None:
        """What befell a replica between its last role and the one that it takes in this reign."""
        own = self.own[broker]
        while self.places[broker] < len(own):
            moment = own[self.places[broker]]
            if moment.term is not None and moment.term >= reign.epochs[0]:
                break
            if moment.kind in ROLE_KINDS and moment.epoch is not None and moment.epoch > reign.epochs[-1]:
                break
            self._befall(broker, moment)
            self.places[broker] += 1
        if broker != reign.leader:
            cuts = [m for m in own[self.places[broker] :] if m.term in reign.epochs]
            self.held[broker] = after_cuts(self.held[broker], broker, cuts, self._rules(broker))

    def _within(self, broker: int, reign: Reign) -> Moment | None:
        """What befell a replica during a reign; where in it is not asked, so its state is the loosest of all.

        Returns its last restart.
        """
        own = self.own[broker]
        load = None
        while self.places[broker] < len(own):
            moment = own[self.places[broker]]
            if moment.term is None or moment.term not in reign.epochs:
                break
            if moment.kind in ROLE_KINDS and moment.epoch is not None and moment.epoch > reign.epochs[-1]:
                break
            if moment.kind == "log-loaded":
                load = moment
                # It goes on to fetch in the same reign: only its low side is what the restart left.
                self.held[broker] = reopened(self.held[broker], moment)
            else:
                self._befall(broker, moment)
            self.places[broker] += 1
        return load

    def _befall(self, broker: int, moment: Moment) -> None:
        if moment.kind == "log-loaded":
            self.held[broker] = restarted(self.held[broker], moment)
        elif moment.kind in ROLE_KINDS or moment.kind == "high-watermark-loaded":
            self._note(broker, moment)

    def _note(self, broker: int, moment: Moment) -> None:
        # Up to 2.3 one line an assigned replica is printed, remote ones with 0, and a cut left the value alone.
        if moment.high_watermark is None or moment.doubtful or not self._rules(broker).clamps:
            return
        expected = self.held[broker]
        if moment.kind in ROLE_KINDS:
            expected = capped(expected, moment.offset, f"its log ended at {moment.offset}")
        self.told.append(Told(moment=moment, by_leader=False, expected=expected, observed=moment.high_watermark))

    def _note_answers(self, rows: Sequence[LeaderRow]) -> None:
        for row in rows:
            told = row.moment.kind in ("fetched", "consumed") and not row.last
            if told and row.moment.error in (None, 0) and not row.moment.doubtful:
                observed = row.moment.high_watermark
                self.told.append(Told(moment=row.moment, by_leader=True, expected=row.answer, observed=observed))

    def _rules(self, broker: int) -> LogRules:
        binary = self.binaries.get(broker)
        version = parse_kafka_version(binary) if binary else None
        return LogRules(clamps=version is not None and version.at_least(2, 4))

    def _has_cut(self, broker: int) -> bool:
        return any(m.kind in ("truncated", "log-reset") for m in self.own.get(broker, ()))


def _assignment(moments: Sequence[Moment], replicas: Sequence[Replica]) -> frozenset[int]:
    assigned = {broker for m in moments for broker in (*(m.replicas or ()), *(m.isr or ()))}
    asked = {m.broker for m in moments if m.kind == "fetched" and m.broker is not None}
    return frozenset(assigned | asked | {r.broker for r in replicas if r.state == "current"})


def _missing(course: Course) -> Iterator[Missing]:
    reign = course.reign
    if reign.opening is None:
        yield Missing(
            kind="the leaders' own logs (state-change.log, server.log)",
            evidence=f"broker {reign.leader}'s own log (state-change.log, server.log) of epoch {reign.epochs[0]}",
            leaves_open="where the epoch opened and what its leader's log end was",
            epochs=reign.epochs,
        )
    # A leader whose ISR is nobody else may well have served no follower.
    alone = bool(course.isr.statements) and all(s.isr == {reign.leader} for s in course.isr.statements)
    if not alone and not any(row.moment.kind == "fetched" for row in course.rows):
        yield Missing(
            kind="the leaders' request logs at DEBUG",
            evidence=f"broker {reign.leader}'s request log at DEBUG in epochs {', '.join(map(str, reign.epochs))}",
            leaves_open="every high watermark of the term",
            epochs=reign.epochs,
        )
    elif any(row.moment.doubtful for row in course.rows):
        yield Missing(
            kind="the beginnings of fetch sessions",
            evidence=f"the beginnings of fetch sessions with broker {reign.leader}",
            leaves_open="the offsets of partitions that requests do not name",
            epochs=reign.epochs,
        )
    if not course.isr.statements:
        yield Missing(
            kind="the ISR at the beginning of every term (metadata log, state-change.log or orders)",
            evidence=f"the ISR at the beginning of epoch {reign.epochs[0]} (metadata log, state-change.log or orders)",
            leaves_open="who had to be counted: the high watermark's upper bound",
            epochs=reign.epochs,
        )
