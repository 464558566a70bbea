"""A timeline small enough to travel with a verdict and to be drawn: states that changed, reigns, and what was told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.history.moments import Moment, log_end
from rules.timeline.picture_values import DrawnEvent, DrawnHistory, DrawnPoint, DrawnReign, DrawnReplica, EventKind
from rules.timeline.rows import Cell, Timeline, TimelineRow, Walk, walk

POINTS_KEPT: Final = 150
"""Of one replica; a picture has no room for more."""
EVENTS_KEPT: Final = 60
SILENCES_KEPT: Final = 6
_EVENTS: Final[dict[str, EventKind]] = {
    "truncated": "cut", "log-reset": "reset", "log-loaded": "load", "unclean-election": "unclean",
}  # fmt: skip
REIGNS_KEPT: Final = 80
_ENDS: Final = ("follower-starts", "log-loaded", "log-created", "log-deleted")
"""Statements of a broker after which it led no more: another role, or another life of its process or its log."""


def drawn_history(evidence: PartitionEvidence) -> DrawnHistory | None:
    """The history of a partition; null where no statement bears a time."""
    return drawn_of(walk(evidence))


def drawn_of(walked: Walk | Timeline, since: int | None = None, until: int | None = None) -> DrawnHistory | None:
    """The history by its rows, or a stretch of it that begins with what was so by then."""
    drawing = _Drawing(walked.brokers, since)
    for row in walked.rows:
        if row.time is not None and (until is None or row.time <= until):
            drawing.take(row, row.time)
    if not drawing.statements:
        return None
    return DrawnHistory(
        reference=walked.clocks[0].reference if walked.clocks else drawing.first_clock,
        first_time=drawing.first,
        last_time=drawing.last,
        replicas=tuple(drawing.replicas()),
        reigns=_lasting(drawing.reigns.newest(), drawing.first),
        events=tuple(drawing.events),
        statements=drawing.statements,
        silences=tuple(f"{m.evidence}; it leaves open {m.leaves_open}" for m in walked.missing[:SILENCES_KEPT]),
    )


class _Drawing:
    """What the rows left by now; lives only inside `drawn_history`."""

    def __init__(self, brokers: Sequence[int], since: int | None) -> None:
        self.since = since
        self.points: dict[int, list[DrawnPoint]] = {broker: [] for broker in brokers}
        self.reigns = Reigning()
        self.events: list[DrawnEvent] = []
        self.statements, self.first_clock = 0, ""
        self.first = self.last = 0

    def take(self, row: TimelineRow, time: int) -> None:
        """The next row and its time; one without a time has no place in a picture."""
        self.reigns.take(row)
        if self.since is not None and time < self.since:
            self._before(row.cells, self.since)
            return
        if not self.statements:
            self.first = self.last = self.since if self.since is not None and any(self.points.values()) else time
            self.first_clock = row.moment.clock
        self.first, self.last = min(self.first, time), max(self.last, time)
        self.statements += 1
        for cell in row.cells:
            self._replica(cell, time)
        if len(self.events) < EVENTS_KEPT:
            self.events.extend(_events(row, time))

    def _before(self, cells: Sequence[Cell], since: int) -> None:
        """What is told before the stretch is not drawn; what it left behind is how the stretch begins."""
        for cell in cells:
            if not self.statements:
                self.points[cell.broker].clear()
            self._replica(replace(cell, told_log_end=None, told_high_watermark=None, outside=False), since)

    def _replica(self, cell: Cell, time: int) -> None:
        """The state of one replica, if it changed or if something was told of it."""
        known = self.points[cell.broker]
        before = known[-1] if known else _unknown(time)
        point = _point(cell, max(time, before.time))
        tells = point.outside or point.told_end is not None or point.told_watermark is not None
        if tells or _state(point) != _state(before):
            known.append(point)

    def replicas(self) -> Iterator[DrawnReplica]:
        """Those of which anything is known."""
        for broker, points in self.points.items():
            if points:
                yield DrawnReplica(broker=broker, points=tuple(_thinned(points)), points_told=len(points))


def _lasting(reigns: Sequence[DrawnReign], first: int) -> tuple[DrawnReign, ...]:
    """Those that had not ended by then, by their own brokers' word or because a newer epoch had begun."""
    in_order = sorted(reigns, key=lambda reign: (reign.epoch, reign.since))
    ends = {id(one): other.since for one, other in pairwise(in_order) if other.epoch > one.epoch}
    return tuple(
        reign
        for reign in reigns
        if all(end is None or end >= first for end in (reign.until, ends.get(id(reign))))
    )


def _state(point: DrawnPoint) -> tuple[int | None, ...]:
    return point.end_low, point.end_high, point.watermark_low, point.watermark_high


def _point(cell: Cell, time: int) -> DrawnPoint:
    end, watermark = cell.log_end.interval, cell.high_watermark.interval
    return DrawnPoint(
        time=time,
        end_low=end.low,
        end_high=end.high,
        watermark_low=watermark.low,
        watermark_high=watermark.high,
        told_end=cell.told_log_end,
        told_watermark=cell.told_high_watermark,
        outside=cell.outside,
    )


def _unknown(time: int) -> DrawnPoint:
    """A point at which nothing is known."""
    return _point(Cell(broker=-1), time)


def _thinned(points: Sequence[DrawnPoint]) -> Iterator[DrawnPoint]:
    """At most so many: those outside what can have been first, then evenly, the last one always."""
    if len(points) <= POINTS_KEPT:
        yield from points
        return
    outside = [number for number, point in enumerate(points) if point.outside][: POINTS_KEPT // 2]
    room = POINTS_KEPT - len(outside)
    even = {round(number * (len(points) - 1) / (room - 1)) for number in range(room)}
    yield from (points[number] for number in sorted({*outside, *even}))


def _events(row: TimelineRow, time: int) -> Iterator[DrawnEvent]:
    """What a row tells beside the states of replicas."""
    moment = row.moment
    outside = [cell for cell in row.cells if cell.outside]
    kind = "outside" if outside else _EVENTS.get(moment.kind)
    if kind is None or moment.doubtful:
        return
    broker, offset = moment.broker, log_end(moment) if kind == "load" else moment.offset
    if kind == "outside":
        broker, offset = outside[0].broker, outside[0].told_high_watermark
    if kind == "unclean":
        broker, offset = moment.leader, None
    # Newer controllers call it so too where nobody follows the last leader.
    if broker is None or broker >= 0:
        yield DrawnEvent(time=time, broker=broker, kind=kind, offset=offset, text=row.text, span=moment.span)


class Reigning:
    """Who leads by the rows that went by."""

    def __init__(self) -> None:
        self._open: dict[int, DrawnReign] = {}
        self._ended: list[DrawnReign] = []
        self._ordered: dict[int, DrawnReign] = {}

    def newest(self) -> tuple[DrawnReign, ...]:
        """The newest reigns by their beginnings; the controller's word counts where a leader's own is not told."""
        own = [*self._ended, *self._open.values()]
        epochs = {reign.epoch for reign in own}
        others = [reign for epoch, reign in self._ordered.items() if epoch not in epochs]
        together = sorted((*own, *others), key=lambda reign: (reign.since, reign.epoch))
        return tuple(together[-REIGNS_KEPT:])

    def take(self, row: TimelineRow) -> None:
        """The next row."""
        moment = row.moment
        if row.time is None or moment.doubtful:
            return
        if moment.kind == "leadership":
            self._by_the_controller(row, row.time)
        elif moment.broker is not None:
            self._by_its_own_word(row, moment.broker, row.time)

    def _by_its_own_word(self, row: TimelineRow, broker: int, time: int) -> None:
        moment, current = row.moment, self._open.get(broker)
        if moment.kind == "leader-starts" and moment.epoch is not None:
            if current is None or current.epoch != moment.epoch:
                self._end(broker, time)
                self._open[broker] = _reign(row, broker, moment.epoch, time, own=True)
        elif current is not None and moment.kind in _ENDS and _after(moment, current):
            self._end(broker, time)

    def _end(self, broker: int, time: int) -> None:
        reign = self._open.pop(broker, None)
        if reign is not None:
            self._ended.append(replace(reign, until=max(time, reign.since)))

    def _by_the_controller(self, row: TimelineRow, time: int) -> None:
        leader, epoch = row.moment.leader, row.moment.epoch
        if leader is not None and leader >= 0 and epoch is not None and epoch not in self._ordered:
            self._ordered[epoch] = _reign(row, leader, epoch, time, own=False)


def _after(moment: Moment, reign: DrawnReign) -> bool:
    """Whether a statement is of a later role; a repeated order of an older epoch ends nothing."""
    return moment.kind != "follower-starts" or (moment.epoch or 0) > reign.epoch


def _reign(row: TimelineRow, broker: int, epoch: int, time: int, *, own: bool) -> DrawnReign:
    return DrawnReign(
        broker=broker,
        epoch=epoch,
        since=time,
        until=None,
        start_offset=row.moment.offset if own else None,
        own=own,
        text=row.text,
        span=row.moment.span,
    )
