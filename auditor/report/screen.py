"""The first screen: what a person needs who reads no further, in 25 lines of 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from auditor.report.model import AuditReport, Incident
from auditor.report.named_places import named_places, told_places
from auditor.report.plain import plain
from auditor.report.sheet import Sheet
from auditor.report.summary import Action, LossTotals, LostRange, Summary
from auditor.report.summary.action import GOING, LONG, gates_in_brief
from auditor.report.summary.conclusion import doubts, extent, read_of
from auditor.report.summary.incidents import causes
from auditor.report.summary.perhaps import perhaps_words
from auditor.report.unbilled import sentence
from rules.finding import Place, Severity, capital, offsets_told

LINES: Final = 25
EVERY_LINE: Final = 1 << 62
MARGIN: Final = 10
NARROWEST: Final = 30
LEAST: Final = 2
"""Lines that a part keeps where all of them are long."""
ROOMS: Final = {"LOST": 4, "WHY": 4, "DO NOW": 5, "GO?": 4, "NOT SEEN": 2}
"""Lines that a part has for sure; what others leave over is shared."""
SHARING: Final = ("LOST", "GO?", "DO NOW", "WHY", "NOT SEEN")
_DOING: Final = re.compile(r"(?:restarting|electing) broker \d+(?:, \d+)*(?: or \d+)?|a rolling restart")
_WHERE: Final = re.compile(r"\. (\([^()]+\))$")
"""The partitions behind the last sentence, or the incident."""
PERHAPS: Final = "Perhaps"
NOTHING_LOST: Final = "No records are known to be lost."
AIMS_SHOWN: Final = 3
RANGES_SHOWN: Final = 8
"""Ranges of one action; of more the partitions are named."""
IDS_SHOWN: Final = 4


def screen(report: AuditReport, told: Summary, page: Sheet, *, quiet: bool, verbose: bool) -> Iterator[str]:
    """The lines."""
    headline = list(_headline(report, told, page))
    actions = told.actions if verbose else gates_in_brief(told.actions)
    ranges, room = (EVERY_LINE, EVERY_LINE) if verbose else (RANGES_SHOWN, LONG)
    parts: dict[str, list[tuple[str, str]]] = {
        "LOST": [(PERHAPS if words.startswith(PERHAPS) else "", words) for words in lost_words(told)],
        "WHY": [("", _why(*cause)) for cause in causes(told.incidents)],
        "DO NOW": [(action.kind, action.told(AIMS_SHOWN, ranges, room)) for action in actions if not action.is_gate],
        "GO?": [(_urgency(action), action.told(AIMS_SHOWN)) for action in actions if action.is_gate],
        "NOT SEEN": [] if quiet else [("", each.words) for each in told.unseen],
    }
    footer = list(_footer(told, page, verbose=verbose))
    blanks = 1 + bool(footer)
    bodies = {
        name: [Item(kind, list(_forms(words, page))) for kind, words in items] for name, items in parts.items() if items
    }
    lines = EVERY_LINE if verbose else LINES - len(headline) - len(footer) - blanks
    rooms = _filled(bodies, _rooms(bodies, lines), lines, page)
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


def lost_words(told: Summary) -> Sequence[str]:
    """How much, of which partitions, and where copies survive; then what may be lost, and what would tell.

    Who reads of findings is told of losses in any case.
    """
    return [*_lost_words(told)] or ([NOTHING_LOST] if told.verdict == "findings" else [])


def _lost_words(told: Summary) -> Iterator[str]:
    yield from () if told.lost is None else _lost(told.lost)
    yield from (sentence(gone, f"{history.topic}-{history.partition}") for history, gone in told.unbilled)
    known = told.unbilled or (told.lost is not None and told.lost.for_good)
    perhaps = f"{PERHAPS} more" if known else PERHAPS
    if told.at_stake is not None:
        yield f"{perhaps}: {told.at_stake.words}"
    yield from (f"{perhaps} in {words}" for words in perhaps_words(told.perhaps))


def _lost(lost: LossTotals) -> Iterator[str]:
    if lost.for_good:
        yield f"{capital(lost.amount)}, {lost.worth}{_placed(lost.ranges)}. {lost.copies}"
    if lost.restored:
        seen = all(each.loss.restored_seen for each in lost.restored)
        again = "The leader's log has them again" if seen else "Logs tell that a later leader still had them"
        yield f"Only missing for a time{_placed(lost.restored)}. {again}."


def _placed(lost: Sequence[LostRange]) -> str:
    """Behind what was lost: the ranges, or the partitions where those would be many."""
    shown = [
        f"{r.topic}-{r.partition} {offsets_told(r.loss.start_offset, r.loss.end_offset)} of {r.loss.epochs}"
        for r in lost
    ]
    if len(shown) <= AIMS_SHOWN:
        return f": {', '.join(shown)}"
    places = tuple(dict.fromkeys((r.cluster_id, r.topic, r.partition) for r in lost))
    return f", in {told_places(places, AIMS_SHOWN)}"


def _why(incident: Incident, places: Sequence[Place], incidents: int) -> str:
    label = Severity(incident.severity).label.upper()
    more = f" The same in {named_places(places[1:], AIMS_SHOWN)}." if incidents > 1 else ""
    rest = f" and {incidents - 1} more" if incidents > 1 else ""
    return f"{label} {incident.title}{more} ({incident.id}{rest})"


class Item(NamedTuple):
    """Something to be told; the first of each kind is told in any case, if need be in part, and every bar if it can."""

    kind: str
    forms: list[list[str]]
    """Its lines: its first sentence alone, its first two, and so on up to all of it."""

    @property
    def lines(self) -> list[str]:
        """All of it."""
        return self.forms[-1]

    @property
    def bars(self) -> bool:
        """Whether it says that something must not be done."""
        return self.lines[0].startswith(GOING["no-go"])

    @property
    def barred(self) -> str:
        """What it says must not be done, without what comes of it."""
        words = " ".join(self.lines).removeprefix(GOING["no-go"])
        found = _DOING.match(words)
        return found[0] if found else words

    def within(self, room: int) -> list[str]:
        """As many whole sentences as there is room for; none where the first is longer."""
        return next((lines for lines in reversed(self.forms) if len(lines) <= room), [])


def _urgency(action: Action) -> str:
    """Its kind; what may be done gives way to everything that may not."""
    return "no-go" if action.kind == "go" else action.kind


def _forms(words: str, page: Sheet) -> Iterator[list[str]]:
    """The words sentence by sentence; where they are is told with the fewest of them."""
    sentences, where = words.split(". "), _WHERE.search(words)
    place = f" {where[1]}" if where else ""
    for number in range(1, len(sentences) - bool(where)):
        yield _lines(f"{'. '.join(sentences[:number])} …{place}", page)
    yield _lines(words, page)


def _lines(words: str, page: Sheet) -> list[str]:
    """One item in lines that no word makes longer than the page."""
    width = max(NARROWEST, page.columns - MARGIN)
    return textwrap.wrap(plain(words), width, break_on_hyphens=False) or [""]


def _rooms(bodies: dict[str, list[Item]], lines: int) -> dict[str, int]:
    """How many lines each part gets: what it needs, up to its own, and a share of what is left over."""
    needs = {name: sum(len(item.lines) for item in items) for name, items in bodies.items()}
    rooms = {name: min(need, ROOMS[name]) for name, need in needs.items()}
    if "WHY" in rooms:
        rooms["WHY"] = max(rooms["WHY"], _whole_first(bodies["WHY"]))
    for name in reversed(SHARING):
        if name in rooms:
            least = _whole_first(bodies[name]) if name == "WHY" else LEAST
            rooms[name] -= max(0, min(rooms[name] - least, sum(rooms.values()) - lines))
    for name in SHARING:
        if name in rooms:
            more = min(needs[name] - rooms[name], max(0, lines - sum(rooms.values())))
            rooms[name] += more
    return rooms


def _filled(bodies: dict[str, list[Item]], rooms: dict[str, int], lines: int, page: Sheet) -> dict[str, int]:
    """The same, with the lines that a part has and cannot use given to the others."""
    filled = {name: len([*_fitting(items, rooms[name], page)]) for name, items in bodies.items()}
    for name in (name for name in SHARING if name in bodies):
        most = filled[name] + lines - sum(filled.values())
        filled[name] = len([*_fitting(bodies[name], most, page)])
    return filled


def _whole_first(items: Sequence[Item]) -> int:
    """The lines that the first item needs, and one that counts the others."""
    return len(items[0].lines) + (len(items) > 1)


def _part(name: str, items: Sequence[Item], room: int, page: Sheet) -> Iterator[str]:
    """A part under its name; items that do not fit are counted."""
    lines = list(_fitting(items, room, page))
    for number, line in enumerate(lines):
        head = name.ljust(MARGIN) if number == 0 else " " * MARGIN
        yield page.paint(head, "strong") + line if number == 0 else head + line


def _fitting(items: Sequence[Item], room: int, page: Sheet) -> Iterator[str]:
    """All items; where there is no room, those that must be told, as whole as may be, and others while they fit."""
    if sum(len(item.lines) for item in items) <= room:
        yield from (line for item in items for line in item.lines)
        return
    told, rest = _told(items, room), list[str]()
    for kept in range(1, room):  # the less there is room for, the more is named as left out
        if len(told) == len(items) or (rest and sum(map(len, told.values())) + len(rest) <= room):
            break
        told = _told(items, room - kept)
        left = [item for place, item in enumerate(items) if place not in told]
        rest = _lines(_left_out(left), page) if left else []
    yield from (line for place in sorted(told) for line in told[place])
    yield from rest


def _told(items: Sequence[Item], room: int) -> dict[int, list[str]]:
    """The lines of each item that is told."""
    due = _due(items, room)
    told = {place: items[place].forms[0] for place in due}
    left = room - sum(map(len, told.values()))
    if left < 0:
        return dict(_cut_short(told, room))
    for place in [*due, *(place for place in range(len(items)) if place not in due)]:
        before = len(told.get(place, ()))
        lines = items[place].within(left + before)
        if not lines:
            break
        told[place], left = lines, left + before - len(lines)
    return told


def _due(items: Sequence[Item], room: int) -> list[int]:
    """Those that must be told: the first of each kind, and what bars something, as far as there is room for it."""
    firsts: dict[str, int] = {}
    for place, item in enumerate(items):
        firsts.setdefault(item.kind, place)
    due = set(firsts.values())
    left = room - sum(len(items[place].forms[0]) for place in due)
    for place, item in enumerate(items):
        if item.bars and place not in due and len(item.forms[0]) <= left:
            due.add(place)
            left -= len(item.forms[0])
    return sorted(due)


def _cut_short(told: Mapping[int, list[str]], room: int) -> Iterator[tuple[int, list[str]]]:
    """Items that are too long together; each leaves the least to those behind it."""
    left = room
    for number, (place, lines) in enumerate(told.items()):
        most = max(1, left - LEAST * (len(told) - number - 1))
        if left > 0:
            yield place, lines if len(lines) <= most else [*lines[: most - 1], _cut(lines[most - 1])]
        left -= min(len(lines), most)


def _left_out(items: Sequence[Item]) -> str:
    """How many there are beside these, and where they are; what must not be done is named all the same."""
    bars = dict.fromkeys(item.barred for item in items if item.bars)
    if not bars:
        return f"… and {len(items)} more (-v)"
    return f"… and {len(items)} more; NO-GO: {', '.join(bars)} (-v, or tidemark advise)"


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
    alike = "" if len({name for entry in entries for name in entry.ids}) == len(named) else ", alike ones as one"
    rest = f" and {len(named) - IDS_SHOWN} more{alike}" if len(named) > IDS_SHOWN else ""
    words = f"Findings: {', '.join(named[:IDS_SHOWN])}{rest}. " if named else ""
    yield from page.wrapped(f"{words}Evidence and all the rest: -v.", 0, "faint")
