"""A timeline small enough to travel with a verdict and to be drawn: states that changed, reigns, and what was told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.history.moments import log_end
from rules.timeline.rows import Cell, Timeline, TimelineRow, Walk, walk
from rules.timeline.values import DrawnEvent, DrawnHistory, DrawnPoint, DrawnReign, DrawnReplica, EventKind
from rules.timeline.who_led import Reigning

POINTS_KEPT: Final = 150
"""Of one replica; a picture has no room for more."""
EVENTS_KEPT: Final = 60
SILENCES_KEPT: Final = 6
_EVENTS: Final[dict[str, EventKind]] = {
    "truncated": "cut", "log-reset": "reset", "log-loaded": "load", "unclean-election": "unclean",
}  # fmt: skip


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
