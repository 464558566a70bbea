"""A partition over time: who led when, and under it each replica's log end and high watermark, told beside expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from auditor.report.html.courses import HEIGHT, Address, Panel, course, extent
from auditor.report.html.scale import Scale, scale_through
from auditor.report.html.shapes import HUES, LEFT, RIGHT, WIDTH, Box, Label, Picture, Polyline, Shape, room_for
from auditor.report.model import Loss
from auditor.report.utc_times import moment
from rules.timeline.picture_values import DrawnHistory, DrawnReign

HEAD: Final = 20.0
BAR: Final = 20.0
ROW: Final = 28.0
GAP: Final = 26.0
AXIS: Final = 30.0
KNOTS: Final = 60
"""Moments that the scale keeps apart."""
REPLICAS_SHOWN: Final = 7


def over_time(
    history: DrawnHistory,
    losses: Sequence[Loss],
    steps: Mapping[Address, str],
    offsets: tuple[int, int] | None = None,
) -> Picture | None:
    """The picture, whose events lead to their words; nothing where neither a lead nor a replica is known over time.

    Its panels show the offsets between two bounds, or else all that are told.
    """
    leaders = sorted({reign.broker for reign in history.reigns})
    replicas = history.replicas[:REPLICAS_SHOWN]
    if not leaders and not replicas:
        return None
    scale = scale_through(_knots(history), LEFT, RIGHT)
    panels = HEAD + ROW * len(leaders) + (16 if leaders else 0)
    bottom = panels + (HEIGHT + GAP) * len(replicas)
    shapes: list[Shape] = [*_openings(history, scale, bottom), *_reigns(history, leaders, steps, scale)]
    low, high = extent(history.replicas) if offsets is None else offsets
    for number, replica in enumerate(replicas):
        own = [event for event in history.events if event.broker == replica.broker]
        panel = Panel(top=panels + (HEIGHT + GAP) * number, low=low, high=high, left=LEFT, right=RIGHT)
        shapes += course(replica, own, losses, steps, panel, scale)
    shapes += _axis(history, scale, bottom)
    return Picture(width=WIDTH, height=bottom + AXIS, words=_in_words(history), shapes=tuple(shapes))


def _in_words(history: DrawnHistory) -> str:
    """The picture for those who do not see it."""
    led = (f"{moment(reign.since)}: broker {reign.broker} leads epoch {reign.epoch}" for reign in history.reigns)
    befell = (f"{moment(event.time)}: {event.text}" for event in history.events if event.kind != "load")
    return ". ".join((*led, *befell, f"Drawn from {history.statements} dated statements")) + "."


def _knots(history: DrawnHistory) -> list[int]:
    """The moments that must stand apart: the ends, leads and events, then as much of what replicas did as has room."""
    marks = [history.first_time, history.last_time]
    marks += [time for reign in history.reigns for time in (reign.since, reign.until) if time is not None]
    marks += [event.time for event in history.events]
    marks = [time for time in marks if history.first_time <= time <= history.last_time]
    must = list(dict.fromkeys(marks))[:KNOTS]
    times = sorted({point.time for replica in history.replicas for point in replica.points} - set(must))
    step = max(1, -(-len(times) // max(1, KNOTS - len(must) + 20)))
    return [*must, *times[::step]]


def _openings(history: DrawnHistory, scale: Scale, bottom: float) -> Iterator[Shape]:
    """Where each epoch began, through all panels."""
    for reign in history.reigns:
        if reign.since < history.first_time:
            continue
        place = scale.at(reign.since)
        yield Polyline(points=((place, HEAD), (place, bottom - GAP + 6)), look=f"opening stroke-{reign.epoch % HUES}")


def _reigns(
    history: DrawnHistory, leaders: Sequence[int], steps: Mapping[Address, str], scale: Scale
) -> Iterator[Shape]:
    """A row a leader; the end of a lead is where the next epoch begins, unless its broker told of it before."""
    if leaders:
        yield Label(x=LEFT, y=12, text="who led, by leader epoch", look="small")
    ends = {id(one): other.since for one, other in pairwise(_by_epoch(history.reigns)) if other.epoch > one.epoch}
    for number, broker in enumerate(leaders):
        top = HEAD + ROW * number
        yield Label(x=LEFT - 12, y=top + 14.5, text=f"broker {broker}", look="name", anchor="end")
        yield Polyline(points=((LEFT, top + BAR / 2), (RIGHT, top + BAR / 2)), look="rail")
        for reign in history.reigns:
            if reign.broker == broker:
                link = steps.get((reign.span.source, reign.span.start), "")
                yield from _reign(reign, ends.get(id(reign)), history.last_time, scale, top, link)


def _by_epoch(reigns: Sequence[DrawnReign]) -> list[DrawnReign]:
    return sorted(reigns, key=lambda reign: (reign.epoch, reign.since))


def _reign(
    reign: DrawnReign, succeeded: int | None, last: int, scale: Scale, top: float, link: str
) -> Iterator[Shape]:
    ends = [time for time in (reign.until, succeeded) if time is not None]
    end = max(reign.since, min(ends, default=last))
    left, right = scale.at(reign.since), scale.at(end)
    whose = "its own log" if reign.own else "the controller"
    opened = "" if reign.start_offset is None else f" from offset {reign.start_offset} on"
    where = f"{reign.span.source} bytes [{reign.span.start}, {reign.span.end})"
    says = f"{moment(reign.since)}: broker {reign.broker} leads epoch {reign.epoch}{opened}, by {whose} ({where})"
    width = max(4, right - left)
    look = f"reign hue-{reign.epoch % HUES}"
    yield Box(x=left, y=top, width=width, height=BAR, look=look, says=says, link=link, round=4)
    for text in (f"epoch {reign.epoch}", f"e{reign.epoch}", str(reign.epoch)):
        if room_for(text) + 4 <= width:
            yield Label(x=left + width / 2, y=top + 14.5, text=text, look="in-log", anchor="middle")
            break
    until = last if reign.until is None else reign.until
    if succeeded is not None and until > end:
        says = f"Another broker leads a newer epoch. Of broker {reign.broker} no other role is told before"
        says += f" {moment(until)}" if reign.until is not None else " the end"
        points = ((right, top + BAR / 2), (scale.at(until), top + BAR / 2))
        yield Polyline(points=points, look=f"unaware stroke-{reign.epoch % HUES}", says=says)


def _axis(history: DrawnHistory, scale: Scale, bottom: float) -> Iterator[Shape]:
    """Times below the panels: the ends, then leads, then events; those that would touch are left out."""
    top = bottom - GAP + 10
    yield Polyline(points=((LEFT, top), (RIGHT, top)), look="axis")
    yield Label(x=LEFT, y=top + 33, text=moment(history.first_time)[:10], look="small")
    leads = (reign.since for reign in history.reigns if reign.since >= history.first_time)
    marks = [history.first_time, history.last_time, *leads]
    marks += [event.time for event in history.events if event.kind != "load"]
    taken: list[tuple[float, float]] = []
    for time in dict.fromkeys(marks):
        text = moment(time)[11:]
        place, half = scale.at(time), room_for(text) / 2 + 5
        if text and all(place + half < low or place - half > high for low, high in taken):
            taken.append((place - half, place + half))
            yield Polyline(points=((place, top), (place, top + 5)), look="axis")
            yield Label(x=place, y=top + 18, text=text, look="tick", anchor="middle")
