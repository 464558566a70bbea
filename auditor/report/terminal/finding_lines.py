"""Findings for a person: under their incident, cause first, each with its picture and its addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from auditor.report.bill import details, headed, in_all
from auditor.report.model import AuditReport, Incident, Loss, PlacedCounterfactual, ProtocolOutcome
from auditor.report.plain import plain
from auditor.report.sheet import Sheet, table
from auditor.report.worths import span
from rules.finding import Finding, Place, Severity, offsets_told, place_of
from rules.sketch.drawn_window import MARGIN
from rules.words import counted

PLACES_SHOWN: Final = 20
HEADS = ("protocol", "asked epoch → answered (epoch, end)", "cut to", "lost")


class _Chapter(Struct, frozen=True, kw_only=True):
    """Findings that are told together."""

    incident: Incident | None
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """What an incident is called above its findings."""
        if self.incident is None or self.incident.scope != "partition":
            return self.incident.title if self.incident else ""
        return f"incident on {self.findings[0].place}"


def finding_lines(report: AuditReport, page: Sheet) -> Iterator[str]:
    """All findings, each with its picture and its addresses, then what each partition's trouble cost."""
    tables = _by_place(report.counterfactuals)
    bills: dict[Place, Sequence[Loss]] = {place_of(h): h.losses for h in report.histories}
    for chapter in _chapters(report):
        yield from _chapter(chapter, page)
        for place in dict.fromkeys(place_of(finding) for finding in chapter.findings):
            yield from _bills(f"{place[1]}-{place[2]}", bills.pop(place, ()), page)
            yield from _tables(tables.pop(place, ()), page)


def _chapters(report: AuditReport) -> Iterator[_Chapter]:
    """Incidents, worst first, then what no incident claims: open questions and notes."""
    by_id = {finding.id: finding for finding in report.findings}
    claimed: set[str] = set()
    for incident in report.incidents:
        own = tuple(by_id[name] for name in incident.findings if name in by_id)
        claimed.update(incident.findings)
        yield _Chapter(incident=incident, findings=own)
    loose: dict[Place, list[Finding]] = {}
    for finding in report.findings:
        if finding.id not in claimed:
            loose.setdefault(place_of(finding), []).append(finding)
    yield from (_Chapter(incident=None, findings=tuple(findings)) for findings in loose.values())


def _chapter(chapter: _Chapter, page: Sheet) -> Iterator[str]:
    many = chapter.incident is not None and len(chapter.findings) > 1
    if chapter.incident is not None and many:
        yield ""
        findings = f"{counted(len(chapter.findings), 'finding')}, {_order(chapter.incident)}"
        yield from page.wrapped(f"{chapter.incident.id}  {chapter.title}", 0, "strong", 2)
        yield from page.wrapped(findings, 2, "", 2)
        yield from _extent(chapter.incident, page)
    windows = windows_of(chapter.findings)
    for finding, *others in _alike(chapter.findings):
        yield ""
        yield from _finding(finding, page, 2 if many else 0, windows.get(finding.id, ""), others=others)


def _alike(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """The findings in their order; open questions of several rules in the same words, of the same place, are one."""
    together: dict[object, list[Finding]] = {}
    for finding in findings:
        question = (finding.message, finding.brokers, finding.start_offset, finding.end_offset, finding.exhibits)
        together.setdefault(question if finding.verdict == "undecided" else finding.id, []).append(finding)
    yield from together.values()


def _order(incident: Incident) -> str:
    """What stands first: a cause only where something is known to follow from it."""
    if all(step.follows is None for step in incident.steps):
        return "the gravest first"
    several = sum(step.follows is None for step in incident.steps) > 1
    return "each cause before what follows from it" if several else "the cause first"


def _extent(incident: Incident, page: Sheet) -> Iterator[str]:
    """Where an incident of many partitions was, and what it cost together."""
    if incident.scope == "partition":
        return
    named = [f"{topic}-{partition}" for _, topic, partition in incident.places[:PLACES_SHOWN]]
    rest = incident.partitions - len(named)
    yield from page.wrapped(f"in {', '.join(named)}{f' and {rest} more' if rest else ''}", 2, "", 2)
    if incident.bill is not None:
        yield from page.wrapped(f"Lost in all: {in_all(incident.bill)}.", 2, "strong", 2)


def _offsets(finding: Finding) -> str:
    if finding.start_offset is None:
        return ""
    if finding.end_offset is None:
        return f"  from offset {finding.start_offset} on"
    if finding.end_offset == finding.start_offset:
        return f"  at offset {finding.start_offset}"
    return f"  {offsets_told(finding.start_offset, finding.end_offset)}"


def _finding(
    finding: Finding, page: Sheet, indent: int, window: str, *, others: Sequence[Finding]
) -> Iterator[str]:
    """One finding; `others` are those of other rules that say the same."""
    label = Severity(finding.severity).label if finding.verdict == "violated" else "undecided"
    place = finding.place or "whole dump"
    span = _offsets(finding)
    margin = " " * indent
    confidence = "" if finding.confidence == "certain" or label == "undecided" else f"  {finding.confidence}"
    rules = ", ".join(dict.fromkeys(each.rule for each in (finding, *others)))
    head = f"{page.paint(label.upper(), label)}  {page.paint(rules, 'strong')}"
    ids = ", ".join(each.id for each in (finding, *others))
    line = f"{margin}{head}  {plain(place)}{span}  {ids}{confidence}"
    yield from page.wrapped(line, 0, "", 2) if others else (line,)
    yield from page.wrapped(finding.message, indent + 2)
    if finding.implied_by:
        yield from page.wrapped(f"follows from {', '.join(finding.implied_by)}", indent + 2, "faint")
    for line in window.splitlines():
        yield f"{margin}    {plain(line)}"
    for exhibit in finding.exhibits:
        address = f"{exhibit.span.source} [{exhibit.span.start}, {exhibit.span.end})  {exhibit.role}"
        yield from page.wrapped(address, indent + 2, "faint", 2)


def _by_place(placed: Sequence[PlacedCounterfactual]) -> dict[Place, list[PlacedCounterfactual]]:
    found: dict[Place, list[PlacedCounterfactual]] = {}
    for item in placed:
        found.setdefault(place_of(item), []).append(item)
    return found


def _bills(place: str, losses: Sequence[Loss], page: Sheet) -> Iterator[str]:
    """What it cost: a sentence a loss, and what is known beyond it."""
    for loss in losses:
        yield ""
        yield from page.wrapped(headed(loss, place), 2, "strong", 2)
        for line in details(loss):
            yield from page.wrapped(line, 4, "", 2)


def _tables(placed: Sequence[PlacedCounterfactual], page: Sheet) -> Iterator[str]:
    for item in placed:
        yield ""
        yield from counterfactual_table(item, page)


def windows_of(findings: Sequence[Finding]) -> dict[str, str]:
    """The drawings by the id of the finding that they stand under: the widest window of all that lie within it."""
    drawn: dict[str, str] = {}
    places: dict[Place, list[Finding]] = {}
    for finding in findings:
        if finding.sketch:
            places.setdefault((finding.cluster_id, finding.topic, finding.partition), []).append(finding)
    for own in places.values():
        left = own
        while left:
            widest = max(left, key=_width)
            shown = [finding for finding in left if _within(finding, widest)]
            drawn[shown[0].id] = widest.sketch
            left = [finding for finding in left if finding not in shown]
    return drawn


def _width(finding: Finding) -> int:
    """Offsets that a finding spans; one without a range is drawn at the log ends, and only where nothing else is."""
    if finding.start_offset is None or finding.end_offset is None:
        return -1
    return finding.end_offset - finding.start_offset


def _within(finding: Finding, widest: Finding) -> bool:
    """Whether the widest finding's window, margins included, shows this one's range."""
    if finding.start_offset is None or finding.end_offset is None:
        return True
    if widest.start_offset is None or widest.end_offset is None:
        return False
    return widest.start_offset - MARGIN <= finding.start_offset and finding.end_offset <= widest.end_offset + MARGIN


def counterfactual_table(placed: PlacedCounterfactual, page: Sheet) -> Iterator[str]:
    """One pair of replicas; an exchange a line, since some protocols ask more than once."""
    pair = placed.table
    title = (
        f"{placed.topic}-{placed.partition}: what each protocol does when broker {pair.follower} meets broker"
        f" {pair.leader} over {offsets_told(pair.start_offset, pair.end_offset)}"
    )
    yield from page.wrapped(title, 2, "strong", 2)
    if not pair.reconstructed and not any(outcome.cuts for outcome in pair.outcomes):
        yield from page.wrapped("none of the four would have cut anything: the two stay as they are", 4)
        return
    rows = [row for outcome in pair.outcomes for row in _rows(outcome, pair.parts_at(outcome))]
    yield from table(HEADS, rows, indent=4)
    yield from page.wrapped(f"{pair.because}", 4, "faint", 2)
    for outcome in pair.outcomes:
        yield from page.wrapped(f"{outcome.rule}: {outcome.because}", 4, "faint", 2)


def _rows(outcome: ProtocolOutcome, parts_at: int | None) -> Iterator[tuple[str, str, str, str]]:
    name = outcome.rule + (" (in force)" if outcome.in_force else "")
    lost = span(outcome.lost_start, outcome.lost_end).replace("none", "nothing")
    cut = str(outcome.cut_to) if outcome.cuts else "no cut"
    exchanges = (f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges)
    asked = list(dict.fromkeys(exchanges)) or ["nobody"]
    yield name, asked[0], cut, lost
    yield from (("", exchange, "", "") for exchange in asked[1:])
    if parts_at is not None:  # what is kept so is no rescue
        yield "", f"the two logs part at {parts_at}", "", ""
