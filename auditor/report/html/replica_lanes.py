"""One replica's log as a lane: its epochs in colour, its high watermark as a pin, and what it must have held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from auditor.report.html.scale import Scale
from auditor.report.html.shapes import HUES, LEFT, RIGHT, Box, Label, Polyline, Shape, room_for
from auditor.report.model import ReplicaVerdict
from auditor.report.sheet import between
from auditor.report.terminal.replica_lines import log_end
from rules.finding import capital, offsets_told

BAR: Final = 24.0
LEAST_CELL: Final = 9.0
"""From this width on each offset has a cell of its own."""
NARROWEST: Final = 1.5
"""Epochs that have less room than this each are drawn as one."""
OPEN: Final = 22.0
"""How far an open end is drawn."""


def log(replica: ReplicaVerdict, top: float, scale: Scale) -> Iterator[Shape]:
    """The log by its epochs."""
    start, end = replica.log_start_offset, replica.log_end_offset
    if start > scale.knots[0]:
        points = ((LEFT, top + BAR / 2), (scale.at(start), top + BAR / 2))
        yield Polyline(points=points, look="absent", says=f"The log starts at offset {start}")
    if end <= start:
        says = f"The log is empty and is at offset {end}"
        yield Box(x=scale.at(end) - 2, y=top, width=4, height=BAR, look="empty", says=says)
    for wide, own in groupby(_stretches(replica), key=lambda each: scale.at(each[2]) - scale.at(each[1]) >= NARROWEST):
        stretches = list(own)
        if wide or len(stretches) == 1:
            yield from (shape for stretch in stretches for shape in _stretch(*stretch, top, scale))
        else:
            yield _narrow(stretches, top, scale)
    if replica.expected_end_low is not None and replica.expected_end_low > end:
        left, right = scale.at(end), scale.at(replica.expected_end_low)
        says = f"The log must have gone on to offset {replica.expected_end_low - 1}"
        yield Box(x=left, y=top, width=right - left, height=BAR, look="should-be", says=says, round=3)


def _stretches(replica: ReplicaVerdict) -> Iterator[tuple[int | None, int, int]]:
    """Offsets of one epoch after the other; none stands where no epoch is told."""
    start, end = replica.log_start_offset, replica.log_end_offset
    starts = [(line.epoch, line.start_offset) for line in replica.epochs if line.start_offset < end]
    first = min((low for _, low in starts), default=end)
    if first > start:
        yield None, start, first
    for (epoch, low), (_, high) in pairwise([*starts, (-1, end)]):
        if max(low, start) < high:
            yield epoch, max(low, start), high


def _narrow(stretches: Sequence[tuple[int | None, int, int]], top: float, scale: Scale) -> Shape:
    """Epochs that are too many for the room that they have."""
    low, high = stretches[0][1], stretches[-1][2]
    left, width = scale.at(low), scale.at(high) - scale.at(low)
    says = f"{capital(offsets_told(low, high))}: {len(stretches)} epochs"
    return Box(x=left, y=top, width=max(1, width), height=BAR, look="log hue-none", says=says)


def _stretch(epoch: int | None, low: int, high: int, top: float, scale: Scale) -> Iterator[Shape]:
    left, right = scale.at(low), scale.at(high)
    whose = "no epoch is told" if epoch is None or epoch < 0 else f"epoch {epoch}"
    look = "hue-none" if epoch is None or epoch < 0 else f"hue-{epoch % HUES}"
    says = f"{capital(offsets_told(low, high))}: {whose}"
    yield Box(x=left, y=top, width=right - left, height=BAR, look=f"log {look}", says=says, round=3)
    if scale.one >= LEAST_CELL:
        for offset in range(low + 1, high):
            place = scale.at(offset)
            yield Polyline(points=((place, top + 4), (place, top + BAR - 4)), look="cell")
    for text in (f"epoch {epoch}", f"e{epoch}", str(epoch)) if epoch is not None and epoch >= 0 else ():
        if room_for(text) + 6 <= right - left:
            yield Label(x=(left + right) / 2, y=top + 16.5, text=text, look=f"in-log {look}-ink", anchor="middle")
            break


def watermark(replica: ReplicaVerdict, top: float, scale: Scale) -> Iterator[Shape]:
    """The saved high watermark as a pin, and the band in which it must have been."""
    low, high = scale.at(replica.expected_low), RIGHT + OPEN
    if replica.expected_high is not None:
        high = scale.at(replica.expected_high)
    bounds = between(replica.expected_low, replica.expected_high)
    says = f"By what else is told, the high watermark must have been {bounds}"
    yield Polyline(points=((low, top - 6), (max(high, low + 1), top - 6)), look="expected", says=says)
    if replica.high_watermark_on_disk is not None:
        place = scale.at(replica.high_watermark_on_disk)
        says = f"High watermark on disk: {replica.high_watermark_on_disk}"
        yield Polyline(points=((place, top - 8), (place, top + BAR + 3)), look="watermark", says=says)
        yield Polyline(points=((place - 5, top - 9), (place + 5, top - 9), (place, top - 1)), look="pin", says=says)


def facts(replica: ReplicaVerdict, top: float) -> Iterator[Shape]:
    """The numbers, at the end of the lane."""
    yield Label(x=RIGHT + 30, y=top + 10, text=f"LEO {log_end(replica)}", look="fact")
    saved = replica.high_watermark_on_disk
    expected = between(replica.expected_low, replica.expected_high)
    beside = "" if str(saved) == expected else f", expected {expected}"
    text = f"HW {'none' if saved is None else saved}{beside}"
    yield Label(x=RIGHT + 30, y=top + 25, text=text, look="fact hw-fact")
