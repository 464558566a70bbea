"""The logs of a partition side by side: a lane a replica over offsets, coloured by leader epoch, with its marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from auditor.report.bill import sentence
from auditor.report.html.marks import Mark, marks_of
from auditor.report.html.replica_lanes import BAR, facts, log, watermark
from auditor.report.html.reported_partitions import ReportedPartition
from auditor.report.html.scale import Scale, scale_through
from auditor.report.html.shapes import HUES, LEFT, RIGHT, WIDTH, Box, Label, Picture, Polyline, Shape, room_for
from auditor.report.model import Loss, ReplicaVerdict, Survivor
from auditor.report.utc_times import moment
from rules.finding import Bearings, offsets_told
from rules.timeline.picture_values import DrawnEvent
from rules.words import counted

LANE: Final = 58.0
BILL: Final = 30.0
HEAD: Final = 14.0
AXIS: Final = 34.0
BILLS_SHOWN: Final = 4
MARKS_SHOWN: Final = 3
HATCHED_SHOWN: Final = 40
CUTS_SHOWN: Final = 5
KNOTS: Final = 40
"""Marks that the scale keeps apart; where there are more, epochs share their stretch."""


class BilledSurvivor(Struct, frozen=True, kw_only=True):
    """Records that survive, and the id of the bill that names them."""

    survivor: Survivor
    bill: str


class Lane(Struct, frozen=True, kw_only=True):
    """One log, or a file that waits for deletion."""

    broker: int
    name: str
    below: str
    """A second, smaller line of its name."""
    top: float
    replica: ReplicaVerdict | None
    copies: tuple[BilledSurvivor, ...]
    marks: tuple[Mark, ...]
    cuts: tuple[DrawnEvent, ...] = ()


def lanes(story: ReportedPartition, bearings: Bearings) -> Picture | None:
    """The picture; nothing where neither a log nor a loss is told of."""
    losses = story.losses[:BILLS_SHOWN]
    if not story.replicas and not losses:
        return None
    top = HEAD + BILL * len(losses) + (10 if losses else 0)
    rows = list(_rows(story, marks_of(story, bearings), top))
    bottom = top + LANE * len(rows)
    scale = scale_through(_knots(story, rows), LEFT, RIGHT)
    shapes = [
        *_columns(losses, scale, bottom),
        *(shape for number, loss in enumerate(losses) for shape in _bill(loss, story, scale, number)),
        *(shape for row in rows for shape in _lane(row, scale)),
        *_axis(scale, losses, bottom),
    ]
    return Picture(width=WIDTH, height=bottom + AXIS, words=_in_words(story), shapes=tuple(shapes))


def _in_words(story: ReportedPartition) -> str:
    """The picture for those who do not see it."""
    logs = (
        f"Broker {r.broker}{'' if r.state == 'current' else f' ({r.state})'} holds"
        f" {offsets_told(r.log_start_offset, r.log_end_offset)}"
        for r in story.replicas
    )
    lost = (f"Lost: {offsets_told(each.start_offset, each.end_offset)}" for each in story.losses if not each.restored)
    return ". ".join((*logs, *lost)) + "."


def _rows(story: ReportedPartition, marks: Sequence[Mark], top: float) -> Iterator[Lane]:
    """Logs in use first, then what waits aside."""
    copies = [
        BilledSurvivor(survivor=survivor, bill=story.part("bill", number))
        for number, loss in enumerate(story.losses)
        if not loss.restored
        for survivor in loss.survivors
    ]
    logs = sorted(story.replicas, key=lambda r: (r.state != "current", r.broker, r.path))
    for number, replica in enumerate(logs):
        current = replica.state == "current"
        leads = current and replica.broker == story.leading
        yield Lane(
            broker=replica.broker,
            name=f"broker {replica.broker}",
            below="led last" if leads else "" if current else replica.state,
            top=top + LANE * number,
            replica=replica,
            copies=tuple(copy for copy in copies if copy.survivor.path == replica.path),
            marks=tuple(mark for mark in marks if current and replica.broker in mark.brokers),
            cuts=tuple(_cuts(story, replica)) if current else (),
        )
    paths = {replica.path for replica in logs}
    files = [copy for copy in copies if copy.survivor.path not in paths]
    for number, path in enumerate(dict.fromkeys(copy.survivor.path for copy in files), start=len(logs)):
        own = tuple(copy for copy in files if copy.survivor.path == path)
        broker, kind = own[0].survivor.broker, own[0].survivor.kind
        name = f"broker {broker}"
        yield Lane(broker=broker, name=name, below=kind, top=top + LANE * number, replica=None, copies=own, marks=())


def _cuts(story: ReportedPartition, replica: ReplicaVerdict) -> Iterator[DrawnEvent]:
    """Where a log was cut amid what it holds now, as it is told; what it cut off is not there to be drawn."""
    events = [event for history in story.histories for drawn in history.drawn for event in drawn.events]
    own = [event for event in events if event.kind == "cut" and event.broker == replica.broker]
    within = [cut for cut in own if replica.log_start_offset < (cut.offset or 0) <= replica.log_end_offset]
    yield from within[-CUTS_SHOWN:]


def _knots(story: ReportedPartition, rows: Iterable[Lane]) -> list[int]:
    """The offsets that must stand apart: ends first, then what happened, then epochs."""
    knots: list[int] = []
    for r in story.replicas:
        knots += [r.log_start_offset, r.log_end_offset]
    for loss in story.losses[:BILLS_SHOWN]:
        knots += [loss.start_offset, loss.end_offset]
    knots += [end for row in rows for c in row.copies for end in (c.survivor.start_offset, c.survivor.end_offset)]
    for r in story.replicas:
        knots += [each for each in (r.high_watermark_on_disk, r.expected_high, r.expected_end_low) if each is not None]
    knots += [cut.offset for row in rows for cut in row.cuts if cut.offset is not None]
    knots += [end for row in rows for mark in row.marks for end in (mark.start, mark.end)]
    knots += [r.expected_low for r in story.replicas]
    knots += [line.start_offset for r in story.replicas for line in reversed(r.epochs)]
    return list(dict.fromkeys(knots))[:KNOTS]


def _columns(losses: Iterable[Loss], scale: Scale, bottom: float) -> Iterator[Shape]:
    """What is gone for good, as a faint column through all lanes."""
    for loss in losses:
        if not loss.restored:
            left, right = scale.at(loss.start_offset), scale.at(loss.end_offset)
            yield Box(x=left, y=HEAD, width=right - left, height=bottom - HEAD, look="gone-column")


def _bill(loss: Loss, story: ReportedPartition, scale: Scale, number: int) -> Iterator[Shape]:
    """One loss above the lanes; it leads to its bill."""
    top, link = HEAD + BILL * number, story.part("bill", number)
    left, right = scale.at(loss.start_offset), scale.at(loss.end_offset)
    look = "left-out" if loss.restored else "lost"
    name = "was missing" if loss.restored else "perhaps lost" if loss.unread else "LOST"
    amount = f"{'' if loss.end_known else '≥ '}{counted(loss.offsets, 'offset')}"
    says = sentence(loss)
    yield Label(x=LEFT - 12, y=top + 16, text=name, look=f"name {look}-name", anchor="end", says=says)
    for own in (f"hue-{loss.epoch % HUES} faded" if loss.epoch >= 0 else "hue-none faded", look):
        yield Box(x=left, y=top, width=max(3, right - left), height=20, look=own, says=says, link=link)
    if not loss.end_known:
        yield Polyline(points=((right, top), (right + 8, top + 10), (right, top + 20)), look="open-end", says=says)
    text = f"{amount}, {loss.epochs}"
    yield Label(x=RIGHT + 30, y=top + 15, text=text, look=f"fact {look}-name", says=says)


def _lane(row: Lane, scale: Scale) -> Iterator[Shape]:
    middle = row.top + BAR / 2
    yield Label(x=LEFT - 12, y=middle + 1 if row.below else middle + 5, text=row.name, look="name", anchor="end")
    if row.below:
        yield Label(x=LEFT - 12, y=middle + 15, text=row.below, look="small", anchor="end")
    if row.replica is not None:
        yield from log(row.replica, row.top, scale)
    yield from (shape for copy in row.copies for shape in _copy(copy, row, scale))
    for mark in [mark for mark in row.marks if mark.hatched][:HATCHED_SHOWN]:
        yield from _hatched(mark, row, scale)
    for cut in row.cuts:
        yield from _cut(cut, row, scale)
    yield from _underlined([mark for mark in row.marks if mark.label], row, scale)
    if row.replica is not None:
        yield from watermark(row.replica, row.top, scale)
        yield from facts(row.replica, row.top)


def _copy(standing: BilledSurvivor, row: Lane, scale: Scale) -> Iterator[Shape]:
    """Records that still stand here and that the leading log lacks."""
    copy, link = standing.survivor, standing.bill
    left, right = scale.at(copy.start_offset), scale.at(copy.end_offset)
    damage = "" if copy.sound else ", damaged"
    says = f"A copy of {offsets_told(copy.start_offset, copy.end_offset)} of epoch {copy.epoch} is here{damage}"
    if row.replica is None:
        look = f"log hue-{copy.epoch % HUES} faded"
        yield Box(x=left, y=row.top, width=right - left, height=BAR, look=look, says=says, round=3)
    look, width = "survivor" if copy.sound else "survivor damaged", right - left + 4
    yield Box(x=left - 2, y=row.top - 3.5, width=width, height=BAR + 7, look=look, says=says, link=link, round=5)


def _hatched(mark: Mark, row: Lane, scale: Scale) -> Iterator[Shape]:
    low, high = mark.start, mark.end
    if row.replica is not None:
        low, high = max(low, row.replica.log_start_offset), min(high, row.replica.log_end_offset)
    if low < high:
        left, right = scale.at(low), scale.at(high)
        look, width = f"hatched {mark.look}", right - left
        yield Box(x=left, y=row.top, width=width, height=BAR, look=look, says=mark.says, link=mark.link)


def _cut(cut: DrawnEvent, row: Lane, scale: Scale) -> Iterator[Shape]:
    """Where the log was cut to."""
    place = scale.at(cut.offset or 0)
    says = f"{moment(cut.time)}: {cut.text} ({cut.span.source} bytes [{cut.span.start}, {cut.span.end}))"
    yield Polyline(points=((place, row.top - 5), (place, row.top + BAR + 3)), look="was-cut", says=says)


def _underlined(marks: Sequence[Mark], row: Lane, scale: Scale) -> Iterator[Shape]:
    """Findings below the lane, the gravest first; they lead to their words."""
    shown = sorted(marks, key=lambda mark: -mark.severity)[:MARKS_SHOWN]
    for number, mark in enumerate(shown):
        left, right = scale.at(mark.start), scale.at(mark.end)
        top = row.top + BAR + 5 + 6 * number
        width = max(6, right - left - 2)
        look = f"finding severity-{mark.label}"
        yield Box(x=left + 1, y=top, width=width, height=4, look=look, says=mark.says, link=mark.link, round=2)
    if len(marks) > MARKS_SHOWN:
        edge = max(scale.at(mark.end) for mark in shown)
        text = f"+{len(marks) - MARKS_SHOWN}"
        yield Label(x=edge + 5, y=row.top + BAR + 17, text=text, look="small", says="More findings below")


def _axis(scale: Scale, losses: Iterable[Loss], bottom: float) -> Iterator[Shape]:
    """Offsets below the lanes, those that matter most first; labels that would touch are left out."""
    top = bottom - 10
    yield Polyline(points=((LEFT, top), (RIGHT, top)), look="axis")
    ends = [end for loss in losses for end in (loss.start_offset, loss.end_offset)]
    taken: list[tuple[float, float]] = []
    for offset in dict.fromkeys((scale.knots[-1], scale.knots[0], *ends, *scale.knots)):
        place, half = scale.at(offset), room_for(str(offset)) / 2 + 5
        if all(place + half < low or place - half > high for low, high in taken):
            taken.append((place - half, place + half))
            yield Polyline(points=((place, top), (place, top + 5)), look="axis")
            yield Label(x=place, y=top + 18, text=str(offset), look="tick", anchor="middle")
    for place in scale.squeezed:
        yield Polyline(points=((place - 5, top + 4), (place - 1, top - 4)), look="axis")
        yield Polyline(points=((place + 1, top + 4), (place + 5, top - 4)), look="axis")
    yield Label(x=LEFT - 12, y=top + 18, text="offset", look="small", anchor="end")
