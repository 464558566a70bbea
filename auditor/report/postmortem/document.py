"""The incident report in Markdown that reads as plain text: what happened, what it cost, why, and who must act."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.report.bill import acknowledged, answered, details, in_all, moment, sentence, span, who_led
from auditor.report.layout import counted, size
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Loss, PlacedHistory
from auditor.report.postmortem.actions import actions, gates
from auditor.report.postmortem.parts import SHOWN, about, billed, capped, grave, place
from auditor.report.postmortem.timeline import timeline
from auditor.report.postmortem.undecided import still_open
from rules.finding import Finding, Severity

COLUMNS = ("partition", "offsets", "certainly committed", "acknowledged", "lost by", "reused", "still on disk of")


def render(report: AuditReport) -> str:
    """The report, the same for the same dump: no word of when or where it was written."""
    parts = (_summary, _impact, timeline, _causes, _counterfactuals, still_open, actions, gates, _evidence)
    sections = ["\n".join(part(report)).rstrip("\n") for part in parts]
    return "# Incident report\n\n" + "\n\n".join(section for section in sections if section) + "\n"


def _summary(report: AuditReport) -> Iterator[str]:
    coverage = report.coverage
    yield "## Summary\n"
    if not grave(report):
        yield "Nothing of medium severity or above was found."
    for incident in report.incidents[:SHOWN]:
        label, findings = Severity(incident.severity).label, counted(len(incident.findings), "finding")
        yield f"- **{label}** {text(incident.title)} ({incident.id}, {findings})"
        if incident.scope != "partition":
            named = ", ".join(f"{topic}-{partition}" for _, topic, partition in incident.places[:SHOWN])
            rest = incident.partitions - SHOWN
            yield f"  in {text(named)}{f' and {rest} more' if rest > 0 else ''}"
            if incident.bill is not None:
                yield f"  lost in all: {in_all(incident.bill)}"
    yield from capped(len(report.incidents), "incident")
    losses = billed(report)
    for history, loss in losses[:SHOWN]:
        yield f"- {place(history)}: {text(sentence(loss))}"
    yield from capped(len(losses), "loss")
    replicas, partitions = counted(coverage.replicas_seen, "replica"), counted(coverage.partitions, "partition")
    read = f"{coverage.ratio:.1%} of {size(coverage.bytes_seen)}" if coverage.replicas_seen else "no broker's disk"
    reach = f" {coverage.scope.words}" if report.verdict == "clean" and coverage.scope.words else ""
    yield (
        f"\nVerdict: **{report.verdict}**{reach}. Read: {replicas} of {partitions} on"
        f" {counted(coverage.brokers, 'broker')}, {read}."
    )
    if report.interrupted:
        yield "\n**The audit was interrupted: this is what was known by then.**"


def _impact(report: AuditReport) -> Iterator[str]:
    losses = billed(report)
    yield "## Impact\n"
    if not losses:
        yield _not_told(report) or "No log tells of offsets that a new epoch left out."
        return
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---|---|---|---|---|---|---|"
    for history, loss in losses[:SHOWN]:
        yield _bill(history, loss)
    yield from capped(len(losses), "loss")
    for history, loss in losses[:SHOWN]:
        yield f"\n{place(history)} {span(loss.start_offset, loss.end_offset)} of epoch {loss.epoch}:\n"
        yield from (f"- {text(line)}" for line in details(loss))
        yield from (f"- {text(line)}" for line in _told_of(loss))


def _not_told(report: AuditReport) -> str:
    """Why a section is empty although there may be something to tell."""
    return "\n".join(f"In {counted(point.partitions, 'partition')} {text(point.reason)}." for point in report.untold)


def _told_of(loss: Loss) -> Iterator[str]:
    """When producers were answered, and why the range ends where it ends."""
    first, last = moment(loss.first_time), moment(loss.last_time)
    if first and last:
        when = f"at {first}" if first == last else f"between {first} and {last}"
        yield f"acknowledged {when} ({loss.clock or 'unknown'}'s clock, {answered(loss.answers, loss)})"
    yield f"the range ends at {loss.end_offset} because {loss.because}"


def _bill(history: PlacedHistory, loss: Loss) -> str:
    committed = span(loss.start_offset, loss.committed_end)
    change = f"epoch {loss.epoch} ({who_led(loss.leader)}) to epoch {loss.next_epoch} ({who_led(loss.next_leader)})"
    offsets = f"{span(loss.start_offset, loss.end_offset)} ({loss.offsets})"
    reused = span(loss.start_offset, loss.reused_end)
    cells = (place(history), offsets, committed, acknowledged(loss), change, reused, _standing(loss))
    return f"| {' | '.join(cells)} |"


def _standing(loss: Loss) -> str:
    """Who still holds what of the lost records."""
    told = (
        f"broker {s.broker}, {s.kind}: {span(s.start_offset, s.end_offset)}" + ("" if s.sound else ", damaged")
        for s in loss.survivors
    )
    return ("; ".join(told) or "nobody") + (" (led again)" if loss.restored else "")


def _causes(report: AuditReport) -> Iterator[str]:
    """Each incident as one chain: what follows from a finding stands below it, one step in."""
    by_id = {finding.id: finding for finding in report.violations}
    incidents = [incident for incident in report.incidents if incident.severity >= Severity.MEDIUM]
    yield "## Causes, before what follows from them\n"
    if not incidents:
        yield "None."
    for incident in incidents[:SHOWN]:
        yield f"{incident.id}, {counted(len(incident.steps), 'finding')}:\n"
        for step in incident.steps[:SHOWN]:
            if step.finding in by_id:
                yield f"{'  ' * step.depth}- {_cause(by_id[step.finding])}"
        yield from capped(len(incident.steps), "finding")
        yield ""


def _cause(finding: Finding) -> str:
    follows = f" It follows from {', '.join(finding.implied_by)}." if finding.implied_by else ""
    how = f"{Severity(finding.severity).label}, {finding.confidence}, {finding.id}"
    return f"{finding.rule} ({how}) {about(finding)}: {text(finding.message)}.{follows}"


def _counterfactuals(report: AuditReport) -> Iterator[str]:
    yield "## What each protocol would have done\n"
    if not report.counterfactuals:
        yield _not_told(report) or "No two replicas hold different records now, and no cut is told of."
    for placed in report.counterfactuals[:SHOWN]:
        table = placed.table
        yield (
            f"{place(placed)}: broker {table.follower} following broker {table.leader},"
            f" offsets [{table.start_offset}, {table.end_offset})\n"
        )
        yield "| protocol | asked → answered | cut to | kept | lost |"
        yield "|---|---|---|---|---|"
        for outcome in table.outcomes:
            told = (f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges)
            asked = "; ".join(dict.fromkeys(told)) or "nobody"
            name = f"{outcome.rule} (ran here)" if outcome.in_force else outcome.rule
            kept, lost = span(outcome.kept_start, outcome.kept_end), span(outcome.lost_start, outcome.lost_end)
            parts_at = table.parts_at(outcome)
            lost += f"; the two logs part at {parts_at}" if parts_at is not None else ""
            cut = str(outcome.cut_to) if outcome.cuts else "no cut"
            yield f"| {name} | {asked} | {cut} | {kept} | {lost} |"
        yield ""
    yield from capped(len(report.counterfactuals), "pair")


def _evidence(report: AuditReport) -> Iterator[str]:
    yield "## Evidence\n"
    told = grave(report)
    if not told:
        yield "None."
    for finding in told[:SHOWN]:
        yield f"{finding.id} {finding.rule}\n"
        for exhibit in finding.exhibits:
            where = exhibit.span
            yield f"- {code(where.source)} bytes [{where.start}, {where.end}): {text(exhibit.role)}"
        yield ""
    yield from capped(len(told), "finding")
