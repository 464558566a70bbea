"""The incident report in Markdown that reads as plain text: what happened, what it cost, why, and who must act.

The body is one story of about three pages, however many partitions it is about: equal ones are told once. The appendix
has every loss, every moment and the bytes of every finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.bill import sentence
from auditor.report.markdown import text
from auditor.report.model import AuditReport
from auditor.report.named_places import named_places
from auditor.report.postmortem.actions import actions, gates
from auditor.report.postmortem.appendix import appendix as whole
from auditor.report.postmortem.availability import exposed, prevention
from auditor.report.postmortem.causes import causes
from auditor.report.postmortem.impact import impact
from auditor.report.postmortem.parts import billed, grave, place, shortened
from auditor.report.postmortem.protocols import protocols
from auditor.report.postmortem.timeline import timeline
from auditor.report.postmortem.undecided import still_open
from auditor.report.sheet import percent, size
from auditor.report.summary.incidents import IncidentEntry, incident_entries
from auditor.report.unbilled import sentence as in_words
from auditor.report.unbilled import unbilled
from rules.finding import Severity
from rules.words import counted

INCIDENTS_SHOWN: Final = 6
SENTENCES_SHOWN: Final = 4


def render(report: AuditReport, *, appendix: bool = False) -> str:
    """The report, the same for the same dump: no word of when or where it was written."""
    sections = ["\n".join(part).rstrip("\n") for part in parts(report)]
    sections += ["\n".join(whole(report)).rstrip("\n") if appendix else _where(report)]
    return "# Incident report\n\n" + "\n\n".join(section for section in sections if section) + "\n"


def parts(report: AuditReport) -> Iterator[list[str]]:
    """The parts of the story, each with its heading first; a part that has nothing to tell is left out."""
    for part in (_summary, impact, timeline, causes, exposed, prevention, protocols, still_open, actions, gates):
        lines = list(part(report))
        if lines:
            yield lines


def _where(report: AuditReport) -> str:
    """Where the proof is that the body leaves out."""
    if not grave(report):
        return ""
    return "Every finding, every moment and the bytes that they stand on are in the appendix (`--appendix`)."


def _summary(report: AuditReport) -> Iterator[str]:
    coverage = report.coverage
    yield "## Summary\n"
    if not grave(report):
        yield "Nothing of medium severity or above was found."
    entries = incident_entries(report)
    for entry in entries[:INCIDENTS_SHOWN]:
        yield from _incident(entry)
    yield from shortened(len(entries), "incident", INCIDENTS_SHOWN)
    losses = billed(report)
    if len(losses) <= SENTENCES_SHOWN:
        yield from (f"- {place(history)}: {text(sentence(loss))}" for history, loss in losses)
    gone = unbilled(report)
    if len(gone) <= SENTENCES_SHOWN:
        yield from (f"- {place(history)}: {text(in_words(each))}" for history, each in gone)
    replicas, partitions = counted(coverage.replicas_seen, "replica"), counted(coverage.partitions, "partition")
    read = f"{percent(coverage.ratio)} of {size(coverage.bytes_seen)}" if coverage.replicas_seen else "no broker's disk"
    reach = f" {coverage.scope.words}" if report.verdict == "clean" and coverage.scope.words else ""
    yield (
        f"\nVerdict: **{report.verdict}**{reach}. Read: {replicas} of {partitions} on"
        f" {counted(coverage.brokers, 'broker')}, {read}."
    )
    if report.policy is not None:
        yield from (f"\n{text(line)}." for line in report.policy.lines)
    if report.interrupted:
        yield "\n**The audit was interrupted: this is what was known by then.**"


def _incident(entry: IncidentEntry) -> Iterator[str]:
    """One incident, or several that are alike: where it was, and what it cost in all."""
    incident, lost = entry.incident, entry.lost
    findings = sum(len(each.ids) for each in entry.entries)
    others = f" and {len(entry.ids) - 1} more like it" if entry.several else ""
    label = Severity(incident.severity).label
    yield f"- **{label}** {text(incident.title)} ({incident.id}{others}, {counted(findings, 'finding')})"
    if len(entry.places) > 1:
        yield f"  in {text(named_places(entry.places))}"
    if len(entry.places) > 1 and lost is not None and lost.for_good:
        yield f"  lost in all: {text(lost.amount)}, {text(lost.worth)}. {text(lost.copies)}"
