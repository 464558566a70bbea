"""One replica over time: its log end as a line, the band where its high watermark must have been, and dots as told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from auditor.report.html.scale import Scale
from auditor.report.html.shapes import Box, Label, Polyline, Shape, room_for
from auditor.report.model import Loss
from auditor.report.sheet import between
from auditor.report.utc_times import moment
from rules.finding import offsets_told
from rules.timeline.picture_values import DrawnEvent, DrawnPoint, DrawnReplica

Address = tuple[str, int]
"""A file and the byte at which a statement begins."""
HEIGHT: Final = 96.0
AIR: Final = 8.0
"""Room above the highest and below the lowest offset of a panel."""
DOTS_SHOWN: Final = 120
_NAMES: Final = {"cut": "cut to", "load": "loaded at", "reset": "dropped", "unclean": "elected", "outside": "told"}


class Panel(Struct, frozen=True, kw_only=True):
    """A panel's place, and where offsets stand in it."""

    top: float
    low: int
    high: int
    left: float
    right: float

    def at(self, offset: int) -> float:
        """The height of an offset; what lies outside stands at the edge."""
        share = (min(max(offset, self.low), self.high) - self.low) / max(1, self.high - self.low)
        return self.top + HEIGHT - AIR - share * (HEIGHT - 2 * AIR)


def extent(replicas: Sequence[DrawnReplica]) -> tuple[int, int]:
    """The lowest and the highest offset that panels show: one scale for all of them."""
    known = [offset for replica in replicas for point in replica.points for offset in _offsets(point)]
    return min(known, default=0), max(known, default=1)


def course(
    replica: DrawnReplica,
    events: Sequence[DrawnEvent],
    losses: Sequence[Loss],
    steps: Mapping[Address, str],
    panel: Panel,
    scale: Scale,
) -> Iterator[Shape]:
    """The panel of one replica, with what befell it."""
    top = panel.top
    yield Box(x=panel.left, y=top, width=panel.right - panel.left, height=HEIGHT, look="panel-ground")
    name = f"broker {replica.broker}"
    yield Label(x=panel.left - 12, y=top + HEIGHT / 2 + 4, text=name, look="name", anchor="end")
    yield from _heights(panel)
    yield from _gone(losses, panel)
    yield from _band(replica.points, panel, scale)
    yield from _log_end(replica.points, panel, scale)
    yield from _dots(replica.points, panel, scale)
    yield from _events(events, steps, panel, scale)
    yield from _at_last(replica, panel)


def _offsets(point: DrawnPoint) -> Iterator[int]:
    values = (point.end_low, point.watermark_low, point.watermark_high, point.told_end, point.told_watermark)
    yield from (value for value in values if value is not None)


def _heights(panel: Panel) -> Iterator[Shape]:
    """The lowest and the highest offset."""
    for offset in {panel.low, panel.high}:
        height = panel.at(offset)
        yield Polyline(points=((panel.left, height), (panel.right, height)), look="grid")
        yield Label(x=panel.left - 6, y=height + 4, text=str(offset), look="tick", anchor="end")


def _gone(losses: Sequence[Loss], panel: Panel) -> Iterator[Shape]:
    """The offsets that are gone for good."""
    for loss in losses:
        if not loss.restored and loss.start_offset < panel.high:
            upper, lower = panel.at(loss.end_offset), panel.at(loss.start_offset)
            width = panel.right - panel.left
            says = f"Lost: {offsets_told(loss.start_offset, loss.end_offset)}"
            yield Box(x=panel.left, y=upper, width=width, height=max(2, lower - upper), look="gone-row", says=says)


def _band(points: Sequence[DrawnPoint], panel: Panel, scale: Scale) -> Iterator[Shape]:
    """The high watermark between its bounds; where nothing bounds it above, the band is open."""
    for (low, high), same in groupby(_steps(points, scale), key=lambda step: _bounds(step[0])):
        steps = list(same)
        if low is None and high is None:
            continue
        left, right = steps[0][1], steps[-1][2]
        upper, lower = panel.at(panel.high if high is None else high), panel.at(panel.low if low is None else low)
        look = "watermark-band" if low is not None and high is not None else "watermark-band open"
        says = f"By all else that is told, the high watermark must have been {between(low, high)}"
        width = max(1.0, right - left)
        yield Box(x=left, y=upper - 1.5, width=width, height=lower - upper + 3, look=look, says=says)


def _bounds(point: DrawnPoint) -> tuple[int | None, int | None]:
    return point.watermark_low, point.watermark_high


def _steps(points: Sequence[DrawnPoint], scale: Scale) -> Iterator[tuple[DrawnPoint, float, float]]:
    """Each state with the places from which and up to which it holds."""
    ends = [scale.at(point.time) for point in points[1:]] + [scale.places[-1]]
    for point, end in zip(points, ends, strict=True):
        start = scale.at(point.time)
        if end > start:
            yield point, start, end


def _log_end(points: Sequence[DrawnPoint], panel: Panel, scale: Scale) -> Iterator[Shape]:
    """The least that the log must have held; broken where nothing tells."""
    line: list[tuple[float, float]] = []
    says = "Log end, by what was told: at least this"
    for point, left, right in _steps(points, scale):
        if point.end_low is None:
            yield from (Polyline(points=tuple(line), look="log-end", says=says),) if line else ()
            line = []
            continue
        height = panel.at(point.end_low)
        line += [(left, height), (right, height)]
    if line:
        yield Polyline(points=tuple(line), look="log-end", says=says)


def _dots(points: Sequence[DrawnPoint], panel: Panel, scale: Scale) -> Iterator[Shape]:
    """What was told of the high watermark; the same value told again is one dot."""
    before: int | None = None
    shown = 0
    for point in points:
        watermark = point.told_watermark
        if watermark is None or not panel.low <= watermark <= panel.high:
            continue
        if not point.outside and (watermark == before or shown >= DOTS_SHOWN):
            continue
        before, shown = watermark, shown + 1
        place, height = scale.at(point.time), panel.at(watermark)
        beside = ", which it cannot have been" if point.outside else ""
        says = f"{moment(point.time)}: the high watermark is told as {watermark}{beside}"
        size = 5.0 if point.outside else 2.6
        look = "told outside" if point.outside else "told"
        yield Box(x=place - size, y=height - size, width=2 * size, height=2 * size, look=look, says=says, round=size)


def _events(
    events: Sequence[DrawnEvent], steps: Mapping[Address, str], panel: Panel, scale: Scale
) -> Iterator[Shape]:
    """Cuts as arrows downwards, loadings as ticks: what befell the log."""
    named = -1e9
    for event in events:
        place = scale.at(event.time)
        where = f"{event.span.source} bytes [{event.span.start}, {event.span.end})"
        says = f"{moment(event.time)}: {event.text} ({where})"
        link = steps.get((event.span.source, event.span.start), "")
        if event.kind in ("cut", "reset"):
            height = panel.at(event.offset or 0)
            yield Polyline(points=((place, panel.top + 4), (place, height)), look="cut-line", says=says, link=link)
            yield Polyline(points=((place - 5, height - 8), (place + 5, height - 8), (place, height)), look="cut-head")
            yield Label(x=place + 8, y=panel.top + 14, text=_called(event), look="cut-word", says=says, link=link)
        elif event.kind == "load":
            foot = panel.top + HEIGHT
            points = ((place - 5, foot), (place, foot - 8), (place + 5, foot))
            yield Polyline(points=points, look="loaded", says=says, link=link)
        elif event.kind == "unclean" and place - named > room_for("unclean election"):
            named = place
            yield Label(x=place + 4, y=panel.top - 5, text="unclean election", look="cut-word", says=says, link=link)


def _called(event: DrawnEvent) -> str:
    return f"{_NAMES[event.kind]} {event.offset}" if event.offset is not None else _NAMES[event.kind]


def _at_last(replica: DrawnReplica, panel: Panel) -> Iterator[Shape]:
    """What is known at the end."""
    last = replica.points[-1]
    x, y = panel.right + 30, panel.top + HEIGHT / 2
    end = between(last.end_low, last.end_high)
    yield Label(x=x, y=y - 4, text=f"LEO {end}", look="fact")
    yield Label(x=x, y=y + 12, text=f"HW {between(last.watermark_low, last.watermark_high)}", look="fact hw-fact")
    if replica.points_told > len(replica.points):
        text = f"{len(replica.points)} of {replica.points_told} states"
        yield Label(x=x, y=y + 28, text=text, look="small")
