"""The incident report in Markdown that reads as plain text: what happened, what it cost, why, and who must act.

The body is one story of about three pages, however many partitions it is about: equal ones are told once. The appendix
has every loss, every moment and the bytes of every finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.bill import sentence
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport
from auditor.report.named_places import named_places
from auditor.report.postmortem.availability import exposed, over_time, prevention
from auditor.report.postmortem.impact import impact, in_detail, row, table
from auditor.report.postmortem.incident_chains import causes, whole_chains
from auditor.report.postmortem.parts import SHOWN, billed, capped, grave, place, shortened
from auditor.report.postmortem.protocols import one, protocols
from auditor.report.postmortem.timeline import timeline, whole_timelines
from auditor.report.postmortem.undecided import still_open
from auditor.report.summary.action import Action
from auditor.report.summary.actions import actions as summed_up
from auditor.report.summary.clusters import several_clusters
from auditor.report.summary.conclusion import asked as left_open
from auditor.report.summary.conclusion import part_read
from auditor.report.summary.incidents import IncidentEntry, incident_entries
from auditor.report.unbilled import sentence as in_words
from auditor.report.unbilled import unbilled
from auditor.report.worths import span
from rules.finding import Severity
from rules.words import counted

INCIDENTS_SHOWN: Final = 6
SENTENCES_SHOWN: Final = 4
ACTIONS_SHOWN: Final = 16
GATES_SHOWN: Final = 12
AIMS_SHOWN: Final = 6
IDS_SHOWN: Final = 6


def render(report: AuditReport, *, appendix: bool = False) -> str:
    """The report, the same for the same dump: no word of when or where it was written."""
    sections = ["\n".join(part).rstrip("\n") for part in parts(report)]
    sections += ["\n".join(whole_appendix(report)).rstrip("\n") if appendix else _where(report)]
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
    if apart := several_clusters(report):
        yield f"**{text(apart)}**\n"
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
    read = part_read(coverage) if coverage.replicas_seen else "no broker's disk"
    reach = f" {coverage.scope.words}" if report.verdict == "clean" and coverage.scope.words else ""
    yield (
        f"\nVerdict: **{report.verdict}**{reach}. Read: {replicas} of {partitions} on"
        f" {counted(coverage.brokers, 'broker')}, {read}{left_open(report)}."
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


def actions(report: AuditReport) -> Iterator[str]:
    """The section of who must act: copies first, then who writes, who reads, and what findings ask for."""
    yield "## Who must act\n"
    summed = summed_up(report)
    asked = [action for action in summed if not action.is_gate]
    yield from _listed(asked[:ACTIONS_SHOWN])
    yield from capped(len(asked), "action", ACTIONS_SHOWN)
    if not asked:
        beyond = " beyond what is a NO-GO below" if any(action.kind == "no-go" for action in summed) else ""
        yield f"Nobody{beyond}, as far as this evidence goes."


def gates(report: AuditReport) -> Iterator[str]:
    """The section of what may be done as things stand: restarts, elections, a change of versions."""
    found = [action for action in summed_up(report) if action.is_gate]
    if not found:
        return
    yield "## Go or no-go\n"
    yield from _listed(found[:GATES_SHOWN])
    yield from capped(len(found), "gate", GATES_SHOWN, "`tidemark advise`")


def _listed(listed: Sequence[Action]) -> Iterator[str]:
    for action in listed:
        ids = ", ".join(action.findings[:IDS_SHOWN])
        yield f"- {text(action.line(AIMS_SHOWN))}{f' {ids}' if ids else ''}"


def whole_appendix(report: AuditReport) -> Iterator[str]:
    """All of it."""
    yield "## Appendix: every loss\n"
    yield from _losses(report)
    yield "\n## Appendix: every moment\n"
    yield (
        "Times are as each witness wrote them, in its own zone. A clock is aligned only where elections show that it"
        " stands apart by more than the estimate may err. Its own time then stands beside."
    )
    yield from whole_timelines(report)
    yield "\n## Appendix: availability\n"
    yield from over_time(report)
    yield "\n## Appendix: every cause\n"
    yield from whole_chains(report, SHOWN)
    yield "## Appendix: every meeting of two replicas\n"
    for placed in report.counterfactuals[:SHOWN]:
        yield from one(placed)
        yield ""
    yield from capped(len(report.counterfactuals), "pair")
    yield "## Appendix: evidence\n"
    yield from _evidence(report)


def _losses(report: AuditReport) -> Iterator[str]:
    losses, gone = billed(report), unbilled(report)
    yield from (f"- {place(history)}: {text(in_words(each))}" for history, each in gone[:SHOWN])
    yield from capped(len(gone), "unbilled stretch")
    if not losses:
        yield "" if gone else "None is told of."
        return
    yield from [""] if gone else []
    yield from table([row([each]) for each in losses[:SHOWN]])
    yield from capped(len(losses), "loss")
    for history, loss in losses[:SHOWN]:
        yield f"\n{place(history)} {span(loss.start_offset, loss.end_offset)} of {loss.epochs}:\n"
        yield f"- {text(sentence(loss))}"
        yield from in_detail(loss)


def _evidence(report: AuditReport) -> Iterator[str]:
    findings = grave(report)
    if not findings:
        yield "None."
    for finding in findings[:SHOWN]:
        yield f"{finding.id} {finding.rule}\n"
        for exhibit in finding.exhibits:
            where = exhibit.span
            yield f"- {code(where.source)} bytes [{where.start}, {where.end}): {text(exhibit.role)}"
        yield ""
    yield from capped(len(findings), "finding")
