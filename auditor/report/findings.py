"""Findings for a person: under their incident, cause first, each with its picture and its addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from auditor.report.bill import details, in_all, sentence
from auditor.report.counterfactuals import counterfactual_table
from auditor.report.layout import Page, counted
from auditor.report.model import AuditReport, Incident, Loss, PlacedCounterfactual
from auditor.report.plain import plain
from auditor.report.windows import windows_of
from rules.finding import Finding, Severity

FINDINGS_SHOWN: Final = 50
OF_ONE_INCIDENT: Final = 12
EXHIBITS_SHOWN: Final = 4
TABLES_SHOWN: Final = 10
BILLS_SHOWN: Final = 4
PLACES_SHOWN: Final = 20
Place = tuple[str | None, str | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chapter:
    """Findings that are told together."""

    incident: Incident | None
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """What an incident is called above its findings."""
        if self.incident is None or self.incident.scope != "partition":
            return self.incident.title if self.incident else ""
        return f"incident on {self.findings[0].topic}-{self.findings[0].partition}"


def told(report: AuditReport, page: Page, *, verbose: bool, quiet: bool) -> Iterator[str]:
    """All findings that are worth the screen; the rest is counted."""
    room = len(report.findings) if verbose else FINDINGS_SHOWN
    tables = _by_place(report.counterfactuals)
    bills: dict[Place, Sequence[Loss]] = {(h.cluster_id, h.topic, h.partition): h.losses for h in report.histories}
    shown = 0
    for chapter in _chapters(report, verbose=verbose):
        limit = room - shown if verbose else min(room - shown, OF_ONE_INCIDENT)
        if limit <= 0:
            break
        yield from _chapter(chapter, page, limit, verbose=verbose)
        shown += min(limit, len(chapter.findings))
        for place in dict.fromkeys(_place(finding) for finding in chapter.findings[:limit]):
            yield from _bills(bills.pop(place, ()), page, verbose=verbose)
            yield from _tables(tables.pop(place, ()), page, verbose=verbose)
    if not quiet:
        yield from _untold(report, page, shown)


def _chapters(report: AuditReport, *, verbose: bool) -> Iterator[_Chapter]:
    """Incidents, worst first, then what no incident claims: open questions, and notes where they are asked for."""
    by_id = {finding.id: finding for finding in report.findings}
    claimed: set[str] = set()
    for incident in report.incidents:
        own = tuple(by_id[name] for name in incident.findings if name in by_id)
        claimed.update(incident.findings)
        yield _Chapter(incident=incident, findings=own)
    loose: dict[Place, list[Finding]] = {}
    for finding in report.findings:
        if finding.id not in claimed and (verbose or finding.blocking or finding.severity > Severity.INFO):
            loose.setdefault(_place(finding), []).append(finding)
    yield from (_Chapter(incident=None, findings=tuple(findings)) for findings in loose.values())


def _chapter(chapter: _Chapter, page: Page, limit: int, *, verbose: bool) -> Iterator[str]:
    many = chapter.incident is not None and len(chapter.findings) > 1
    if chapter.incident is not None and many:
        yield ""
        findings = f"{counted(len(chapter.findings), 'finding')}, {_order(chapter.incident)}"
        head = f"{chapter.incident.id}  {chapter.title}: {findings}"
        yield from page.wrapped(head, 0, "strong", 2)
        yield from _extent(chapter.incident, page)
    windows = windows_of(chapter.findings[:limit])
    for finding, *others in _alike(chapter.findings[:limit]):
        yield ""
        window = windows.get(finding.id, "")
        yield from _finding(finding, page, 2 if many else 0, window, others=others, verbose=verbose)
    if len(chapter.findings) > limit:
        yield ""
        what = "of this incident" if chapter.incident is not None else "of this partition"
        yield f"  … and {len(chapter.findings) - limit} more {what}: see -v or --format json"


def _alike(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """The findings in their order; open questions of several rules in the same words, of the same place, are one."""
    told: dict[object, list[Finding]] = {}
    for finding in findings:
        question = (finding.message, finding.brokers, finding.start_offset, finding.end_offset, finding.exhibits)
        told.setdefault(question if finding.verdict == "undecided" else finding.id, []).append(finding)
    yield from told.values()


def _order(incident: Incident) -> str:
    """What stands first: a cause only where something is known to follow from it."""
    if all(step.follows is None for step in incident.steps):
        return "the gravest first"
    several = sum(step.follows is None for step in incident.steps) > 1
    return "each cause before what follows from it" if several else "the cause first"


def _extent(incident: Incident, page: Page) -> Iterator[str]:
    """Where an incident of many partitions was, and what it cost together."""
    if incident.scope == "partition":
        return
    named = [f"{topic}-{partition}" for _, topic, partition in incident.places[:PLACES_SHOWN]]
    rest = incident.partitions - len(named)
    yield from page.wrapped(f"in {', '.join(named)}{f' and {rest} more' if rest else ''}", 2, "", 2)
    if incident.bill is not None:
        yield from page.wrapped(f"lost in all: {in_all(incident.bill)}", 2, "strong", 2)


def _offsets(finding: Finding) -> str:
    if finding.start_offset is None:
        return ""
    if finding.end_offset is None:
        return f"  from {finding.start_offset} on"
    if finding.end_offset == finding.start_offset:
        return f"  at {finding.start_offset}"
    return f"  [{finding.start_offset}, {finding.end_offset})"


def _finding(
    finding: Finding, page: Page, indent: int, window: str, *, others: Sequence[Finding], verbose: bool
) -> Iterator[str]:
    """One finding; `others` are those of other rules that say the same."""
    label = Severity(finding.severity).label if finding.verdict == "violated" else "undecided"
    place = f"{finding.topic}-{finding.partition}" if finding.topic is not None else "whole dump"
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
    shown = finding.exhibits if verbose else finding.exhibits[:EXHIBITS_SHOWN]
    for exhibit in shown:
        address = f"{exhibit.span.source} [{exhibit.span.start}, {exhibit.span.end})  {exhibit.role}"
        yield from page.wrapped(address, indent + 2, "faint", 2)
    if len(shown) < len(finding.exhibits):
        yield f"{margin}  … and {len(finding.exhibits) - len(shown)} more places: tidemark show {finding.id}"


def _place(finding: Finding) -> Place:
    return finding.cluster_id, finding.topic, finding.partition


def _by_place(placed: Sequence[PlacedCounterfactual]) -> dict[Place, list[PlacedCounterfactual]]:
    found: dict[Place, list[PlacedCounterfactual]] = {}
    for item in placed:
        found.setdefault((item.cluster_id, item.topic, item.partition), []).append(item)
    return found


def _bills(losses: Sequence[Loss], page: Page, *, verbose: bool) -> Iterator[str]:
    """What it cost: a sentence a loss, and what is known beyond it."""
    for loss in losses if verbose else losses[:BILLS_SHOWN]:
        yield ""
        yield from page.wrapped(f"lost: {sentence(loss)}", 2, "strong", 2)
        for line in details(loss):
            yield from page.wrapped(line, 4, "", 2)
    if not verbose and len(losses) > BILLS_SHOWN:
        yield f"  … and {counted(len(losses) - BILLS_SHOWN, 'loss')} more: see -v or --format json"


def _tables(placed: Sequence[PlacedCounterfactual], page: Page, *, verbose: bool) -> Iterator[str]:
    shown = placed if verbose else placed[:TABLES_SHOWN]
    for item in shown:
        yield ""
        yield from counterfactual_table(item, page, verbose=verbose)
    if len(shown) < len(placed):
        yield f"  … and {len(placed) - len(shown)} more pairs of replicas: see -v or --format json"


def _untold(report: AuditReport, page: Page, shown: int) -> Iterator[str]:
    notes = sum(f.severity == Severity.INFO and not f.blocking for f in report.findings)
    rest = len(report.findings) - notes - shown
    if rest > 0:
        yield ""
        yield page.paint(f"… and {counted(rest, 'more finding')}: see -v or --format json", "strong")
    elif notes and shown < len(report.findings):
        yield ""
        yield page.paint(f"{counted(notes, 'note')} for information: see -v or --format json", "faint")
