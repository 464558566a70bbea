"""The first screen: what a person needs who reads no further, in 25 lines of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.model import AuditReport, Incident
from auditor.report.named_places import named_places, told_places
from auditor.report.sheet import Sheet
from auditor.report.summary import Action, LossTotals, LostRange, Summary
from auditor.report.summary.action import AIMS_SHOWN, LONG, RANGES_SHOWN, in_brief
from auditor.report.summary.clusters import several_clusters
from auditor.report.summary.conclusion import RULES_SHOWN, asked, doubts, extent, read_of
from auditor.report.summary.incidents import causes
from auditor.report.summary.perhaps import perhaps_words
from auditor.report.summary.unseen import Unseen
from auditor.report.terminal.screen_rooms import MARGIN, PERHAPS, Item, filled, fitting, forms, rooms_of, with_room
from auditor.report.unbilled import sentence
from rules.finding import Place, Severity, capital, offsets_told
from rules.words import first_of

LINES: Final = 25
EVERY_LINE: Final = 1 << 62
NOTHING_LOST: Final = "No records are known to be lost."
IDS_SHOWN: Final = 2
"""So many that they stand in one line."""
Parts = dict[str, list[tuple[str, str, bool]]]
"""By the name of a part: the kind and the words of each item, and whether it leaves the verdict open."""


def screen(report: AuditReport, conclusion: Summary, page: Sheet, *, quiet: bool, verbose: bool) -> Iterator[str]:
    """The lines."""
    headline = list(_headline(report, conclusion, page))
    actions = conclusion.actions if verbose else in_brief(conclusion.actions)
    ranges, room = (EVERY_LINE, EVERY_LINE) if verbose else (RANGES_SHOWN, LONG)
    lost = lost_words(conclusion)
    parts: Parts = {
        "LOST": [(PERHAPS if words.startswith(PERHAPS) else "", words, False) for words in lost],
        "WHY": [("", _why(*cause), False) for cause in causes(conclusion.incidents)],
        "DO NOW": [(a.kind, a.line(AIMS_SHOWN, ranges, room), False) for a in actions if not a.is_gate],
        "GO?": [(_urgency(action), action.line(AIMS_SHOWN), False) for action in actions if action.is_gate],
    }
    footer = list(_footer(conclusion, page, verbose=verbose))
    lines = EVERY_LINE if verbose else LINES - len(headline) - len(footer) - 1 - bool(footer)
    bodies, rooms = _laid_out(parts, () if quiet else conclusion.unseen, lost, lines, page)
    yield from headline
    yield from [""] if bodies else []
    for name, items in bodies.items():
        yield from _part(name, items, rooms[name], page)
    yield from ["", *footer] if footer else []


def _laid_out(
    parts: Parts, unseen: Sequence[Unseen], lost: Sequence[str], lines: int, page: Sheet
) -> tuple[dict[str, list[Item]], dict[str, int]]:
    """Every part with its room; what was not seen points only at losses that found room."""
    bodies = {
        name: [Item(kind, list(forms(words, page, 1 + (name == "WHY"))), opens) for kind, words, opens in items]
        for name, items in {**parts, "NOT SEEN": [("", *each) for each in not_seen(unseen, lost)]}.items()
        if items
    }
    rooms = filled(bodies, rooms_of(bodies, lines, page), lines, page)
    shown = {parts["LOST"][place][1] for place in with_room(bodies["LOST"], rooms["LOST"], page)} if lost else ()
    left = [words for words in lost if words in shown]
    return (bodies, rooms) if len(left) == len(lost) else _laid_out(parts, unseen, left, lines, page)


def _headline(report: AuditReport, conclusion: Summary, page: Sheet) -> Iterator[str]:
    words, coverage = report.verdict.upper(), report.coverage
    reach = f"{coverage.scope.words}: " if report.verdict == "clean" and coverage.scope.words else ""
    text = f"{words}  {reach}{conclusion.counted} in {extent(report, conclusion)}{asked(report)}; {read_of(report)}"
    first, *rest = page.wrapped(text, hanging=2)
    yield page.paint(words, report.verdict) + first.removeprefix(words)
    yield from rest
    if said_first := several_clusters(report):
        yield from page.wrapped(said_first, 2, "unknown", 2)
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


def lost_words(conclusion: Summary) -> Sequence[str]:
    """How much, of which partitions, and where copies survive; then what may be lost, and what would tell.

    Who reads of findings is told of losses in any case.
    """
    return [*_lost_words(conclusion)] or ([NOTHING_LOST] if conclusion.verdict == "findings" else [])


def _lost_words(conclusion: Summary) -> Iterator[str]:
    yield from () if conclusion.lost is None else _lost(conclusion.lost)
    yield from (sentence(gone, f"{history.topic}-{history.partition}") for history, gone in conclusion.unbilled)
    known = conclusion.unbilled or (conclusion.lost is not None and conclusion.lost.for_good)
    perhaps = f"{PERHAPS} more" if known else PERHAPS
    if conclusion.at_stake is not None:
        yield f"{perhaps}: {conclusion.at_stake.words}"
    yield from (f"{perhaps} lost in {words}" for words in perhaps_words(conclusion.perhaps))
    yield from (f"{perhaps} lost. {each.words}" for each in conclusion.unseen if each.perhaps_lost)


def _lost(lost: LossTotals) -> Iterator[str]:
    if lost.for_good:
        yield f"{capital(lost.amount)}, {lost.worth}{_placed(lost.ranges)}. {lost.copies}"
    if lost.perhaps:
        more = f"{PERHAPS} more" if lost.for_good else PERHAPS
        yield f"{more}{_placed(lost.perhaps)}. Whether the log that leads now has them is not known."
    if lost.restored:
        seen = all(each.loss.restored_seen for each in lost.restored)
        again = "The leader's log has them again" if seen else "Logs tell that a later leader still had them"
        yield f"Only missing for a time{_placed(lost.restored)}. {again}."


def not_seen(unseen: Sequence[Unseen], lost: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """What was not seen, and whether it leaves the verdict open; what is told under LOST word by word only by name."""
    rest = [each for each in unseen if not each.perhaps_lost]
    again = [each for each in rest if each.asks and any(words.endswith(f": {each.asks}") for words in lost)]
    if again:
        rules = first_of(sorted({rule for each in again for rule in each.rules}), RULES_SHOWN)
        places = [*dict.fromkeys(place for each in again for place in each.places)]
        where = told_places(places, AIMS_SHOWN)
        yield f"{rules} not decided in {where}: see LOST.", any(each.blocking for each in again)
    yield from ((each.words, each.blocking) for each in rest if each not in again)


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


def _urgency(action: Action) -> str:
    """Its kind; what may be done gives way to everything that may not."""
    return "no-go" if action.kind == "go" else action.kind


def _part(name: str, items: Sequence[Item], room: int, page: Sheet) -> Iterator[str]:
    """A part under its name; items that do not fit are counted."""
    lines = list(fitting(items, room, page))
    for number, line in enumerate(lines):
        head = name.ljust(MARGIN) if number == 0 else " " * MARGIN
        yield page.paint(head, "strong") + line if number == 0 else head + line


def _footer(conclusion: Summary, page: Sheet, *, verbose: bool) -> Iterator[str]:
    """Which findings there are, by their ids, and how to learn more."""
    if verbose:
        return
    entries = [entry for each in conclusion.incidents for entry in each.entries]
    entries.sort(key=lambda entry: -entry.finding.severity)
    named = [f"{entry.rules[0]} {entry.ids[0]}" for entry in entries]
    ids = len({name for entry in entries for name in entry.ids})
    shown = named[:IDS_SHOWN]
    rest = f" and {ids - len(shown)} more" if ids > len(shown) else ""
    words = f"Findings: {', '.join(shown)}{rest}. " if named else ""
    yield from page.wrapped(f"{words}All evidence: -v.", 0, "faint")
