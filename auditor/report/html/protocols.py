"""The generations of the protocol side by side: what each would have asked, been answered, and cut of one log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.html.scale import Scale, scale_through
from auditor.report.html.shapes import WIDTH, Box, Label, Picture, Polyline, Shape
from auditor.report.model import Counterfactual, ProtocolOutcome
from rules.finding import offsets_told

NAMES: Final = 150.0
ASKED: Final = 166.0
LEFT: Final = 340.0
RIGHT: Final = 800.0
BAR: Final = 20.0
LANE: Final = 46.0
LINE: Final = 15.0
HEAD: Final = 34.0
EXCHANGES_SHOWN: Final = 3
MARGIN: Final = 8
"""Offsets before the first that matters: the log's beginning is as before, and drawn as far as this."""


def side_by_side(table: Counterfactual) -> Picture:
    """The picture; the protocol that ran is marked."""
    scale = scale_through(_knots(table), LEFT, RIGHT)
    shapes: list[Shape] = list(_heads(table))
    top = HEAD
    for outcome in table.outcomes:
        shapes += _row(outcome, table, scale, top)
        top += LANE
    shapes += _axis(scale, top)
    words = f"Broker {table.follower} follows broker {table.leader}. " + " ".join(map(_in_words, table.outcomes))
    return Picture(width=WIDTH, height=top + 24, words=words, shapes=tuple(shapes))


def _knots(table: Counterfactual) -> list[int]:
    ends = [end for outcome in table.outcomes for end in (outcome.kept_end, outcome.lost_end)]
    ends += [table.start_offset, table.end_offset]
    ends += [parts for outcome in table.outcomes if (parts := table.parts_at(outcome)) is not None]
    first = min(outcome.kept_start for outcome in table.outcomes) if table.outcomes else 0
    return [max(first, min(ends) - MARGIN), *ends]


def _in_words(outcome: ProtocolOutcome) -> str:
    known = " (in force)" if outcome.in_force else ""
    return f"{outcome.rule}{known}: {_result(outcome)}."


def _result(outcome: ProtocolOutcome) -> str:
    if not outcome.cuts:
        return "cuts nothing"
    return f"cuts {offsets_told(outcome.lost_start, outcome.lost_end)}"


def _heads(table: Counterfactual) -> Iterator[Shape]:
    for place, text in ((ASKED, "asked epoch → answered"), (LEFT, f"what broker {table.follower} keeps and cuts")):
        yield Label(x=place, y=14, text=text, look="small")


def _row(outcome: ProtocolOutcome, table: Counterfactual, scale: Scale, top: float) -> Iterator[Shape]:
    if outcome.in_force:
        yield Box(x=2, y=top - 9, width=WIDTH - 4, height=LANE - 4, look="ran", round=8)
    name = top + 14 if not outcome.in_force else top + 8
    yield Label(x=NAMES - 4, y=name, text=outcome.rule, look="name", anchor="end", says=outcome.because)
    if outcome.in_force:
        yield Label(x=NAMES - 4, y=top + 23, text="in force", look="small ran-word", anchor="end")
    yield from _exchanges(outcome, top)
    yield from _bar(outcome, table.parts_at(outcome), scale, top)


def _exchanges(outcome: ProtocolOutcome, top: float) -> Iterator[Shape]:
    """What was asked and answered, each exchange once."""
    exchanges = (f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges)
    lines = list(dict.fromkeys(exchanges))[:EXCHANGES_SHOWN] or ["asks nobody"]
    middle = top + BAR / 2 + 4.5 - LINE * (len(lines) - 1) / 2
    for number, line in enumerate(lines):
        look = "fact" if outcome.exchanges else "small"
        yield Label(x=ASKED, y=middle + LINE * number, text=line, look=look, says=outcome.because)


def _bar(outcome: ProtocolOutcome, parts: int | None, scale: Scale, top: float) -> Iterator[Shape]:
    """The follower's log: kept, kept although its leader has other records there, and cut."""
    start, kept, end = scale.knots[0], outcome.kept_end, outcome.lost_end
    agreed = kept if parts is None else min(parts, kept)
    says = outcome.because
    if agreed > start:
        width = scale.at(agreed) - LEFT
        yield Box(x=LEFT, y=top, width=width, height=BAR, look="log kept", says=f"Kept. {says}", round=3)
    if kept > agreed:
        left, width = scale.at(agreed), scale.at(kept) - scale.at(agreed)
        what = f"Kept, although the two logs part at {agreed}. {says}"
        yield Box(x=left, y=top, width=width, height=BAR, look="log kept", says=what, round=3)
        yield Box(x=left, y=top, width=width, height=BAR, look="hatched differs", says=what)
    if end > kept:
        left = scale.at(kept)
        yield Box(x=left, y=top, width=scale.at(end) - left, height=BAR, look="lost", says=f"Cut. {says}", round=3)
        yield Polyline(
            points=((left, top - 5), (left, top + BAR + 5)), look="cut-line", says=f"Cut to {outcome.cut_to}"
        )
    text, look = _verdict(outcome, parts)
    yield Label(x=RIGHT + 14, y=top + 14.5, text=text, look=f"fact {look}", says=says)


def _verdict(outcome: ProtocolOutcome, parts: int | None) -> tuple[str, str]:
    """What comes of it, in a few words."""
    if outcome.cuts:
        return f"cuts {offsets_told(outcome.lost_start, outcome.lost_end).partition(' ')[2]}", "lost-name"
    if parts is not None:
        return f"no cut, logs part at {parts}", "parts-name"
    return "no cut", ""


def _axis(scale: Scale, top: float) -> Iterator[Shape]:
    taken = -1e9
    for offset in scale.knots:
        place = scale.at(offset)
        yield Polyline(points=((place, top - 6), (place, top - 1)), look="axis")
        if place - taken > len(str(offset)) * 7 + 10:
            yield Label(x=place, y=top + 12, text=str(offset), look="tick", anchor="middle")
            taken = place
    yield Polyline(points=((LEFT, top - 6), (RIGHT, top - 6)), look="axis")
