"""Why it happened: each incident as one chain, where what follows from a finding stands below it, one step in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.markdown import text
from auditor.report.model import AuditReport, Incident
from auditor.report.postmortem.parts import about, capped, shortened
from auditor.report.summary.folded_findings import where
from auditor.report.summary.incidents import IncidentEntry, incident_entries
from rules.finding import Finding, Severity
from rules.words import counted

INCIDENTS_SHOWN: Final = 3
STEPS_SHOWN: Final = 16


def causes(report: AuditReport) -> Iterator[str]:
    """The section."""
    entries = [entry for entry in incident_entries(report) if entry.incident.severity >= Severity.MEDIUM]
    yield "## Causes, before what follows from them\n"
    if not entries:
        yield "None."
    for entry in entries[:INCIDENTS_SHOWN]:
        others = f" and {len(entry.ids) - 1} more like it" if entry.several else ""
        yield f"{entry.incident.id}{others}, {counted(sum(len(each.ids) for each in entry.entries), 'finding')}:\n"
        steps = list(_folded(entry) if len(entry.places) > 1 else chain(entry.incident, report))
        yield from steps[:STEPS_SHOWN]
        yield from shortened(len(steps), "finding", STEPS_SHOWN)
        yield ""
    yield from shortened(len(entries), "incident", INCIDENTS_SHOWN)


def chain(incident: Incident, report: AuditReport) -> Iterator[str]:
    """Every finding of an incident."""
    by_id = {finding.id: finding for finding in report.violations}
    for step in incident.steps:
        if step.finding in by_id:
            yield f"{'  ' * step.depth}- {_cause(by_id[step.finding], about(by_id[step.finding]))}"


def whole_chains(report: AuditReport, most: int) -> Iterator[str]:
    """Every incident with every finding, for the appendix."""
    incidents = [incident for incident in report.incidents if incident.severity >= Severity.MEDIUM]
    for incident in incidents[:most]:
        yield f"{incident.id}:\n"
        steps = list(chain(incident, report))
        yield from steps[:most]
        yield from capped(len(steps), "finding", most)
        yield ""
    yield from capped(len(incidents), "incident", most)


def _folded(entry: IncidentEntry) -> Iterator[str]:
    """Findings of several partitions that are alike stand once, no deeper than one step below the line above."""
    above = -1
    for each in entry.entries:
        above = min(each.depth, above + 1)
        yield f"{'  ' * above}- {_cause(each.finding, text(where([each])), len(each.ids) - 1)}"


def _cause(finding: Finding, places: str, others: int = 0) -> str:
    follows = f" It follows from {', '.join(finding.implied_by)}." if finding.implied_by else ""
    more = f" and {others} more" if others else ""
    how = f"{Severity(finding.severity).label}, {finding.confidence}, {finding.id}{more}"
    return f"{finding.rule} ({how}) {places}: {text(finding.message.rstrip('.'))}.{follows}"
