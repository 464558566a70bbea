"""The rows of a timeline: statements in the order of leader epochs, each with what every replica held by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.history.chronology import in_order
from rules.history.clocks import ClockOffset, on_reference
from rules.history.moments import BEGUN_ANEW, ROLE_KINDS, Moment, accepted, high_watermark, log_end
from rules.history.statements import Fetched
from rules.protocol.offsets import Offset
from rules.protocol.watermarks import Bound, ExpectedHighWatermark, expected_interval
from rules.replay import Course, Missing, ToldWatermark
from rules.replay.followers import UNKNOWN, capped, restarted
from rules.replay.leading.bounds import at_least, at_most
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leading.tracks import RemoteEndBounds
from rules.timeline.statement_words import words
from rules.timeline.unplaced import unplaced, unreplayed

NOTHING: Final = expected_interval(())


class Cell(Struct, frozen=True, kw_only=True):
    """One replica after an event."""

    broker: int
    leads: bool = False
    epoch: int | None = None
    log_end: ExpectedHighWatermark = NOTHING
    high_watermark: ExpectedHighWatermark = NOTHING
    told_log_end: int | None = None
    told_high_watermark: int | None = None
    """What this very event tells."""
    outside: bool = False
    """Whether the told high watermark is none that it can have been."""


class LastStable(Struct, frozen=True, kw_only=True):
    """How far a leader let readers of committed transactions read, when it answered."""

    expected: ExpectedHighWatermark
    """By its own high watermark and the transactions on disk."""
    observed: int | None
    outside: bool
    """Whether the answer tells one that its high watermark cannot have given."""


class TimelineRow(Struct, frozen=True, kw_only=True):
    """One event."""

    time: int | None
    """On the reference clock."""
    moment: Moment
    text: str
    cells: tuple[Cell, ...]
    remotes: tuple[RemoteEndBounds, ...]
    """What the leader knows of its followers' log ends; there is no remote high watermark."""
    last_stable: LastStable | None
    """The leader's; null of what is no answer."""
    back: bool = False
    """Whether its time is earlier than that of the row above."""


class Timeline(Struct, frozen=True, kw_only=True):
    """A partition's history."""

    topic: str
    partition: int
    brokers: tuple[int, ...]
    clocks: tuple[ClockOffset, ...]
    missing: tuple[Missing, ...]
    rows: tuple[TimelineRow, ...]

    def within(self, since: int | None, until: int | None) -> Timeline:
        """Only the rows of a stretch of the reference clock; an event without a time is shown wherever it stands."""
        kept = tuple(
            row
            for row in self.rows
            if row.time is None or ((since is None or row.time >= since) and (until is None or row.time <= until))
        )
        return replace(self, rows=tuple(with_steps_back(kept)))


class Walk(Struct, frozen=True, kw_only=True):
    """A history that is walked once, row after row, so that no more than one of them is held."""

    brokers: tuple[int, ...]
    clocks: tuple[ClockOffset, ...]
    missing: tuple[Missing, ...]
    rows: Iterator[TimelineRow]


def timeline_of(evidence: PartitionEvidence) -> Timeline:
    """The timeline of a partition."""
    walked = walk(evidence)
    return Timeline(
        topic=evidence.topic,
        partition=evidence.partition,
        brokers=walked.brokers,
        clocks=walked.clocks,
        missing=walked.missing,
        rows=tuple(walked.rows),
    )


def walk(evidence: PartitionEvidence) -> Walk:
    """The rows one by one."""
    replayed = evidence.replayed
    offsets = {clock.clock: clock for clock in replayed.clocks.offsets}
    brokers = sorted({r.broker for r in evidence.current} | {b for c in replayed.courses for b in _seen(c.rows)})
    table = _Table(evidence, brokers)
    placed = in_order(evidence.moments, lambda moment: on_reference(moment, offsets))
    return Walk(
        brokers=tuple(brokers),
        clocks=tuple(offsets.values()),
        missing=(*replayed.missing, *unplaced(evidence, table.leader_rows)),
        rows=with_steps_back(table.row(moment, on_reference(moment, offsets)) for moment in placed),
    )


def with_steps_back(rows: Iterable[TimelineRow]) -> Iterator[TimelineRow]:
    """Epochs and offsets put the rows in order before times do: where that takes a step back, the row says so."""
    above: int | None = None
    for row in rows:
        back = above is not None and row.time is not None and row.time < above
        above = above if row.time is None else row.time
        yield row if back == row.back else replace(row, back=back)


def _seen(rows: Sequence[LeaderRow]) -> set[int]:
    return {remote.broker for row in rows[:1] for remote in row.remotes}


class _Table:
    """The replicas as the rows go by; lives only inside `timeline_of`."""

    def __init__(self, evidence: PartitionEvidence, brokers: Sequence[int]) -> None:
        self.evidence, replayed = evidence, evidence.replayed
        self.cells = {broker: Cell(broker=broker) for broker in brokers}
        rows = [(course, row) for course in replayed.courses for row in course.rows]
        self.leader_rows = {id(row.moment): (course, row) for course, row in rows if not row.last}
        self.watermarks = {id(watermark.moment): watermark for watermark in replayed.told_watermarks}
        self.starts = {id(course.lead.opening): course.start for course in replayed.courses}
        self.answered: dict[int, ExpectedHighWatermark] = {}
        leads = (course.lead for course in replayed.courses)
        traced = {epoch for lead in leads if lead.answers or lead.logged for epoch in lead.epochs}
        self.unlogged = {epoch for epoch, leader in evidence.chronicle.leaders.items() if leader >= 0} - traced
        """Epochs of which no log here holds their leader's answers."""

    def row(self, moment: Moment, time: int | None) -> TimelineRow:
        """The row of a statement."""
        for broker, cell in self.cells.items():
            self.cells[broker] = replace(cell, told_log_end=None, told_high_watermark=None, outside=False)
        course, led = self.leader_rows.get(id(moment), (None, None))
        if led is not None:
            self._served(led)
        elif unreplayed(moment, self.leader_rows):
            self._served_unreplayed(moment)
        elif moment.kind == "leadership" and moment.witness is None:
            self._elected(moment)
        elif moment.broker in self.cells and moment.kind != "described":
            self._own(moment, self.cells[moment.broker])
        self.cells = {broker: self._as_known(cell) for broker, cell in self.cells.items()}
        return TimelineRow(
            time=time,
            moment=moment,
            text=words(moment),
            cells=tuple(self.cells.values()),
            remotes=led.remotes if led else (),
            last_stable=_last_stable(self.evidence, course, led) if course and led else None,
        )

    def _as_known(self, cell: Cell) -> Cell:
        """In an epoch whose answers nobody logged, a log may have grown since its broker's last word."""
        if cell.epoch not in self.unlogged:
            return cell
        watermark, told_end = _grown(cell.high_watermark), cell.told_log_end
        if told_end is not None:
            return replace(cell, high_watermark=capped(watermark, told_end, f"its log ended at {told_end}"))
        return replace(cell, log_end=_grown(cell.log_end), high_watermark=watermark)

    def _served(self, led: LeaderRow) -> None:
        moment, fetch = led.moment, led.fetch
        leader = self.cells.get(-1 if moment.witness is None else moment.witness)
        watermark = self.watermarks.get(id(moment))
        if leader is not None:
            self.cells[leader.broker] = replace(
                leader,
                log_end=led.log_end,
                high_watermark=led.high_watermark,
                told_high_watermark=watermark.observed if watermark else None,
                outside=_outside(watermark),
            )
        asker = None if fetch is None else self._asker(fetch)
        if fetch is not None and asker is not None and accepted(fetch) and fetch.offset is not None:
            # Whoever asks has worked off its former answer, and asks for its own log end.
            former = self.answered.get(asker.broker, asker.high_watermark)
            held = capped(former, fetch.offset, f"its log ended at {fetch.offset}") if former != NOTHING else NOTHING
            self.cells[asker.broker] = replace(asker, log_end=_asked(asker, fetch.offset), high_watermark=held)
            self.answered[asker.broker] = led.answer

    def _served_unreplayed(self, moment: Moment) -> None:
        """What leader and asker held before it says nothing of what they hold now."""
        leader = self.cells.get(-1 if moment.witness is None else moment.witness)
        fetch = moment if isinstance(moment, Fetched) else None
        asker = None if fetch is None else self._asker(fetch)
        if leader is not None:
            watermark = None if fetch is None else fetch.high_watermark
            self.cells[leader.broker] = replace(
                leader, log_end=NOTHING, high_watermark=NOTHING, told_high_watermark=watermark
            )
        if fetch is not None and asker is not None:
            surely = accepted(fetch) and not fetch.doubtful and fetch.offset is not None
            end = _asked(asker, fetch.offset or 0) if surely else NOTHING
            self.cells[asker.broker] = replace(asker, log_end=end, high_watermark=NOTHING)
            self.answered.pop(asker.broker, None)

    def _asker(self, moment: Fetched) -> Cell | None:
        """The follower's cell, of a follower's fetch."""
        return self.cells.get(-1 if moment.broker is None else moment.broker) if moment.kind == "fetched" else None

    def _elected(self, moment: Moment) -> None:
        for broker, cell in self.cells.items():
            self.cells[broker] = replace(cell, leads=broker == moment.leader)

    def _own(self, moment: Moment, cell: Cell) -> None:
        watermark = self.watermarks.get(id(moment))
        end = moment.offset if moment.kind in ("truncated", "log-reset") else log_end(moment)
        end = 0 if moment.kind == "log-created" else end
        bounds: list[Bound] = []
        if end is not None:
            bounds = [at_least(end, "its own word"), at_most(end, "its own word")]
        role = moment.kind in ROLE_KINDS
        expected = watermark.expected if watermark else cell.high_watermark
        if moment.kind == "log-loaded":
            expected = restarted(UNKNOWN, moment)
        if moment.kind in BEGUN_ANEW and cell.log_end.interval.high != 0:
            cell, expected = replace(cell, log_end=NOTHING), NOTHING
        expected = self.starts.get(id(moment), expected)
        if moment.kind == "truncated":
            expected = capped(expected, moment.offset, f"broker {cell.broker} cut its log to {moment.offset}")
        cut = moment.kind == "truncated" and _holds_more(cell, end)
        if role or cut or moment.kind in ("log-loaded", "log-reset"):
            self.answered.pop(cell.broker, None)
        self.cells[cell.broker] = replace(
            cell,
            leads=moment.kind == "leader-starts" if role else cell.leads,
            epoch=moment.epoch if role else cell.epoch,
            log_end=expected_interval(bounds) if bounds else cell.log_end,
            high_watermark=expected,
            told_log_end=end,
            told_high_watermark=high_watermark(moment),
            outside=_outside(watermark),
        )


def _grown(known: ExpectedHighWatermark) -> ExpectedHighWatermark:
    """What is left of bounds where more may have been written."""
    return expected_interval(bound for bound in (known.low,) if bound is not None)


def _asked(asker: Cell, offset: int) -> ExpectedHighWatermark:
    why = f"broker {asker.broker} asked for offset {offset}"
    return expected_interval((at_least(offset, why), at_most(offset, why)))


def _holds_more(cell: Cell, end: int | None) -> bool:
    """Whether it had not asked for the end of the cut log yet: where clocks differ, a cut may stand behind that."""
    held = cell.log_end.interval.high
    return held is None or end is None or held > end


def _last_stable(evidence: PartitionEvidence, course: Course, led: LeaderRow) -> LastStable:
    fetch = led.moment if isinstance(led.moment, Fetched) and not led.moment.doubtful else None
    lso = None if fetch is None else fetch.last_stable_offset
    possible = evidence.stable.at(course, led.answer).interval
    return LastStable(
        expected=evidence.stable.at(course, led.high_watermark),
        observed=lso,
        outside=lso is not None and not possible.contains(Offset(lso)),
    )


def _outside(watermark: ToldWatermark | None) -> bool:
    return watermark is not None and watermark.standing in ("above", "below")
