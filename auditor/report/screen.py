"""The first screen: what a person needs who reads no further, in 25 lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from auditor.report.model import AuditReport
from auditor.report.named_places import named_places
from auditor.report.plain import plain
from auditor.report.sheet import Sheet, counted
from auditor.report.summary import Action, IncidentEntry, LossTotals, LostRange, Summary
from auditor.report.summary.conclusion import doubts, extent, read_of
from auditor.report.summary.perhaps import perhaps_words
from auditor.report.unbilled import sentence
from rules.finding import Severity, offsets_told
from rules.words import numbered

LINES: Final = 25
EVERY_LINE: Final = 1 << 62
MARGIN: Final = 10
NARROWEST: Final = 30
LEAST: Final = 2
"""Lines that a part keeps where all of them are long."""
ROOMS: Final = {"LOST": 4, "WHY": 4, "DO NOW": 10, "NOT SEEN": 2}
"""Lines that a part has for sure; what others leave over is shared."""
SHARING: Final = ("LOST", "DO NOW", "WHY", "NOT SEEN")
PERHAPS: Final = "Perhaps"
AIMS_SHOWN: Final = 3
IDS_SHOWN: Final = 4


def screen(report: AuditReport, told: Summary, page: Sheet, *, quiet: bool, verbose: bool) -> Iterator[str]:
    """The lines."""
    headline = list(_headline(report, told, page))
    parts: dict[str, list[tuple[str, str]]] = {
        "LOST": [(PERHAPS if words.startswith(PERHAPS) else "", words) for words in lost_words(told)],
        "WHY": [("", _why(entry)) for entry in told.incidents],
        "DO NOW": [(_urgency(action), _action(action, brief=not verbose)) for action in told.actions],
        "NOT SEEN": [] if quiet else [("", each.words) for each in told.unseen],
    }
    footer = list(_footer(told, page, verbose=verbose))
    blanks = 1 + bool(footer)
    bodies = {
        name: [Item(kind, _lines(words, page)) for kind, words in items] for name, items in parts.items() if items
    }
    rooms = _rooms(bodies, EVERY_LINE if verbose else LINES - len(headline) - len(footer) - blanks)
    yield from headline
    yield from [""] if bodies else []
    for name, items in bodies.items():
        yield from _part(name, items, rooms[name], page)
    yield from ["", *footer] if footer else []


def _headline(report: AuditReport, told: Summary, page: Sheet) -> Iterator[str]:
    words, coverage = report.verdict.upper(), report.coverage
    reach = f"{coverage.scope.words}: " if report.verdict == "clean" and coverage.scope.words else ""
    text = f"{words}  {reach}{told.counted} in {extent(report, told)}; {read_of(report)}"
    first, *rest = page.wrapped(text, hanging=2)
    yield page.paint(words, report.verdict) + first.removeprefix(words)
    yield from rest
    if report.interrupted:
        yield from page.wrapped("Interrupted: this is what was known by then.", 2, "unknown")
    if report.verdict == "unknown":
        yield from page.wrapped(f"No verdict, because {'; '.join(doubts(report))}.", 2, "unknown", 2)
    for said in ruled(report):
        yield from page.wrapped(said, 2, "faint", 2)


def ruled(report: AuditReport) -> Iterator[str]:
    """What a policy says of the findings, and how the run ends by it; never left out, however little is asked for."""
    if report.policy is not None:
        yield from report.policy.lines
        yield f"by this the run ends with {report.exit_code}"


def lost_words(told: Summary) -> Iterator[str]:
    """How much, of which partitions, and where copies survive; then what may be lost, and what would tell."""
    yield from () if told.lost is None else _lost(told.lost)
    yield from (sentence(gone, f"{history.topic}-{history.partition}") for history, gone in told.unbilled)
    known = told.unbilled or (told.lost is not None and told.lost.for_good)
    perhaps = f"{PERHAPS} more" if known else PERHAPS
    if told.at_stake is not None:
        yield f"{perhaps}: {told.at_stake.words}"
    yield from (f"{perhaps} in {words}" for words in perhaps_words(told.perhaps))


def _lost(lost: LossTotals) -> Iterator[str]:
    if lost.for_good:
        yield f"{lost.amount}, {lost.worth}: {where(lost.ranges)}. {lost.copies}"
    if lost.restored:
        seen = all(each.loss.restored_seen for each in lost.restored)
        again = "The log that leads now holds them again" if seen else "Logs tell that a later leader had them still"
        some = "Other records" if lost.for_good else "Records"
        epochs = numbered("epoch", sorted({each.loss.epoch for each in lost.restored}))
        yield f"{some} of {epochs} were missing for a time: {where(lost.restored)}. {again}."


def where(lost: Sequence[LostRange]) -> str:
    """The lost ranges, or the partitions where those would be many."""
    shown = [f"{r.topic}-{r.partition} {offsets_told(r.loss.start_offset, r.loss.end_offset)}" for r in lost]
    if len(shown) <= AIMS_SHOWN:
        return ", ".join(shown)
    places = tuple(dict.fromkeys((r.cluster_id, r.topic, r.partition) for r in lost))
    return f"{counted(len(places), 'partition')}, {named_places(places, AIMS_SHOWN)}"


def _why(entry: IncidentEntry) -> str:
    incident = entry.incident
    label = Severity(incident.severity).label.upper()
    more = f" The same in {named_places(entry.places[1:], AIMS_SHOWN)}." if entry.several else ""
    rest = f" and {len(entry.ids) - 1} more" if entry.several else ""
    return f"{label} {incident.title}{more} ({incident.id}{rest})"


class Item(NamedTuple):
    """Something to be told, in lines; the first of each kind is told in any case, if need be in part."""

    kind: str
    lines: list[str]


def _urgency(action: Action) -> str:
    """Its kind; what may be done stands back behind everything that may not."""
    return "no-go" if action.kind == "go" else action.kind


def _action(action: Action, *, brief: bool) -> str:
    """What may be done or not is told with its reason where there is room for all: no bar may be left out for it."""
    return (action.in_brief if brief and action.kind in ("go", "no-go") else action).told(AIMS_SHOWN)


def _lines(words: str, page: Sheet) -> list[str]:
    """One item in lines that no word makes longer than the page."""
    width = max(NARROWEST, page.columns - MARGIN)
    return textwrap.wrap(plain(words), width, break_on_hyphens=False) or [""]


def _rooms(bodies: dict[str, list[Item]], lines: int) -> dict[str, int]:
    """How many lines each part gets: what it needs, up to its own, and a share of what is left over."""
    needs = {name: sum(len(item.lines) for item in items) for name, items in bodies.items()}
    rooms = {name: min(need, ROOMS[name]) for name, need in needs.items()}
    for name in reversed(SHARING):
        if name in rooms:
            rooms[name] -= max(0, min(rooms[name] - LEAST, sum(rooms.values()) - lines))
    for name in SHARING:
        if name in rooms:
            more = min(needs[name] - rooms[name], max(0, lines - sum(rooms.values())))
            rooms[name] += more
    return rooms


def _part(name: str, items: Sequence[Item], room: int, page: Sheet) -> Iterator[str]:
    """A part under its name; items that do not fit are counted."""
    lines = list(_fitting(items, room))
    for number, line in enumerate(lines):
        head = name.ljust(MARGIN) if number == 0 else " " * MARGIN
        yield page.paint(head, "strong") + line if number == 0 else head + line


def _fitting(items: Sequence[Item], room: int) -> Iterator[str]:
    """Whole items while they fit, in their order; the first of each kind is told in any case, if need be in part."""
    if sum(len(item.lines) for item in items) <= room:
        yield from (line for item in items for line in item.lines)
        return
    firsts: dict[str, int] = {}
    for place, item in enumerate(items):
        firsts.setdefault(item.kind, place)
    told, left = dict(_firsts(items, [*firsts.values()], room - 1)), room - 1
    left -= sum(map(len, told.values()))
    for place, item in enumerate(items):
        if place not in told:
            if len(item.lines) > left:
                break
            told[place], left = item.lines, left - len(item.lines)
    yield from (line for place in sorted(told) for line in told[place])
    more = f" and {len(items) - len(told)} more" if len(told) < len(items) else ""
    yield f"…{more} (-v)"


def _firsts(items: Sequence[Item], places: Sequence[int], room: int) -> Iterator[tuple[int, list[str]]]:
    """Items that are to be told together; each leaves the least to those behind it."""
    left = room
    for number, place in enumerate(places):
        most = max(1, left - LEAST * (len(places) - number - 1))
        lines = items[place].lines
        cut = lines if len(lines) <= most else [*lines[: most - 1], _cut(lines[most - 1])]
        if left > 0:
            yield place, cut
        left -= len(cut)


def _cut(line: str) -> str:
    """A line behind which more was to be told."""
    return line if line.endswith(".") else f"{line[:-2].rpartition(' ')[0].rstrip(':;,')} …"


def _footer(told: Summary, page: Sheet, *, verbose: bool) -> Iterator[str]:
    """Which findings there are, by their ids, and how to learn more."""
    if verbose:
        return
    entries = [entry for each in told.incidents for entry in each.entries]
    entries.sort(key=lambda entry: -entry.finding.severity)
    named = [f"{entry.rules[0]} {entry.ids[0]}" for entry in entries]
    rest = f" and {len(named) - IDS_SHOWN} more" if len(named) > IDS_SHOWN else ""
    words = f"Findings: {', '.join(named[:IDS_SHOWN])}{rest}. " if named else ""
    yield from page.wrapped(f"{words}Evidence and all the rest: -v.", 0, "faint")
