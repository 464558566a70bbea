"""The incident report in Markdown that reads as plain text: what happened, what it cost, why, and who must act."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Loss, PlacedCounterfactual, PlacedHistory
from rules.finding import Finding, Severity

SHOWN = 40


def render(report: AuditReport) -> str:
    """The report, the same for the same dump: no word of when or where it was written."""
    parts = (_summary, _impact, _timeline, _causes, _counterfactuals, _open, _actions, _evidence)
    sections = ["\n".join(part(report)) for part in parts]
    return "# Incident report\n\n" + "\n\n".join(section for section in sections if section) + "\n"


def _told(report: AuditReport) -> list[Finding]:
    return [finding for finding in report.violations if finding.severity >= Severity.MEDIUM]


def _summary(report: AuditReport) -> Iterator[str]:
    coverage, told = report.coverage, _told(report)
    yield "## Summary\n"
    if not told:
        yield "Nothing of medium severity or above was found."
    for incident in report.incidents[:SHOWN]:
        yield f"- **{Severity(incident.severity).label}** {text(incident.title)} ({len(incident.findings)} findings)"
    for history, loss in _billed(report):
        yield f"- {_place(history)}: {_sentence(loss)}"
    yield (
        f"\nVerdict: **{report.verdict}**. Read: {coverage.replicas_seen} replicas of {coverage.partitions} partitions"
        f" on {coverage.brokers} brokers, {coverage.ratio:.1%} of {coverage.bytes_seen} bytes."
    )


def _impact(report: AuditReport) -> Iterator[str]:
    billed = _billed(report)
    yield "## Impact\n"
    if not billed:
        yield "No log tells of offsets that a new epoch left out."
        return
    columns = ("partition", "offsets", "certainly committed", "acknowledged", "lost by", "reused by other records")
    yield f"| {' | '.join((*columns, 'still on disk of'))} |"
    yield "|---|---|---|---|---|---|---|"
    for history, loss in billed:
        yield _bill(history, loss)
    yield ""
    for history, loss in billed:
        if loss.first_time is not None and loss.last_time is not None:
            yield (
                f"- {_place(history)}: acknowledged between {_time(loss.first_time)} and {_time(loss.last_time)}"
                f" ({text(loss.clock or 'unknown')}'s clock), {loss.answers} answers;"
                f" the end of the range: {text(loss.because)}."
            )


def _billed(report: AuditReport) -> list[tuple[PlacedHistory, Loss]]:
    return [(history, loss) for history in report.histories for loss in history.losses]


def _sentence(loss: Loss) -> str:
    """The loss in one breath, for a reader who reads no table."""
    what = f"{loss.offsets} offsets {_range(loss.start_offset, loss.end_offset)} of epoch {loss.epoch}"
    if loss.committed_end > loss.start_offset:
        told = f"{_range(loss.start_offset, loss.committed_end)} of them committed"
    else:
        told = f"acknowledged {_acknowledged(loss)}, none of them committed"
    left_out = f"were left out when broker {loss.next_leader} led epoch {loss.next_epoch}"
    if loss.restored:
        return f"{what} ({told}) {left_out}; the log that leads now holds them again."
    standing = ", ".join(dict.fromkeys(f"broker {s.broker} ({s.kind})" for s in loss.survivors))
    copies = f"they still stand on {standing}." if standing else "no copy is left here."
    return f"{what} ({told}) {left_out}; {copies}"


def _acknowledged(loss: Loss) -> str:
    """A produce answer names the first record of its batch: the last batch may end anywhere up to the lost end."""
    surely = max(loss.acknowledged_end, loss.committed_end)
    if not loss.answers:
        return _range(loss.start_offset, surely)
    if surely >= loss.end_offset:
        return _range(loss.start_offset, loss.end_offset)
    return f"{_range(loss.start_offset, surely)} at least, {_range(loss.start_offset, loss.end_offset)} at most"


def _bill(history: PlacedHistory, loss: Loss) -> str:
    committed = _range(loss.start_offset, loss.committed_end)
    change = f"epoch {loss.epoch} (broker {loss.leader}) to epoch {loss.next_epoch} (broker {loss.next_leader})"
    offsets = f"{_range(loss.start_offset, loss.end_offset)} ({loss.offsets})"
    reused = _range(loss.start_offset, loss.reused_end)
    cells = (_place(history), offsets, committed, _acknowledged(loss), change, reused, _standing(loss))
    return f"| {' | '.join(cells)} |"


def _standing(loss: Loss) -> str:
    """Who still holds what of the lost records."""
    told = (
        f"broker {s.broker}, {s.kind}: {_range(s.start_offset, s.end_offset)}" + ("" if s.sound else ", damaged")
        for s in loss.survivors
    )
    return ("; ".join(told) or "nobody") + (" (led again)" if loss.restored else "")


def _range(start: int, end: int) -> str:
    return f"[{start}, {end})" if end > start else "none"


def _place(history: PlacedHistory | PlacedCounterfactual) -> str:
    return text(f"{history.topic}-{history.partition}")


def _time(milliseconds: int) -> str:
    moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
    return moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")


def _timeline(report: AuditReport) -> Iterator[str]:
    told = [history for history in report.histories if history.milestones]
    yield "## Timeline\n"
    if not told:
        yield "No broker log, trace or metadata tells of the partitions concerned."
        return
    yield "Times are as each witness wrote them, on its own clock and in its own zone.\n"
    for history in told:
        yield f"### {_place(history)}\n"
        for milestone in history.milestones[:SHOWN]:
            time = "time unknown" if milestone.time is None else _time(milestone.time)
            yield f"- {time}  {text(milestone.clock)}: {text(milestone.text)}"
        if len(history.milestones) > SHOWN:
            yield f"- … and {len(history.milestones) - SHOWN} more"
        yield ""


def _causes(report: AuditReport) -> Iterator[str]:
    told = _told(report)
    yield "## Causes, before what follows from them\n"
    if not told:
        yield "None."
    for finding in told[:SHOWN]:
        follows = f" It follows from {', '.join(finding.implied_by)}." if finding.implied_by else ""
        how = f"{Severity(finding.severity).label}, {finding.confidence}, {finding.id}"
        yield f"- {finding.rule} ({how}) {_about(finding)}: {text(finding.message)}.{follows}"


def _about(finding: Finding) -> str:
    return text(f"{finding.topic}-{finding.partition}")


def _counterfactuals(report: AuditReport) -> Iterator[str]:
    yield "## What each protocol would have done\n"
    if not report.counterfactuals:
        yield "No two replicas hold different records now."
    for placed in report.counterfactuals[:SHOWN]:
        table = placed.table
        yield (
            f"{_place(placed)}: broker {table.follower} following broker {table.leader},"
            f" offsets [{table.start_offset}, {table.end_offset})\n"
        )
        yield "| protocol | asked → answered | cut to | kept | lost |"
        yield "|---|---|---|---|---|"
        for outcome in table.outcomes:
            asked = "; ".join(f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges)
            name = f"{outcome.rule} (ran here)" if outcome.in_force else outcome.rule
            kept, lost = _range(outcome.kept_start, outcome.kept_end), _range(outcome.lost_start, outcome.lost_end)
            yield f"| {name} | {asked or 'nobody'} | {outcome.cut_to} | {kept} | {lost} |"
        yield ""


def _open(report: AuditReport) -> Iterator[str]:
    yield "## What could not be determined\n"
    undecided = [finding for finding in report.findings if finding.verdict == "undecided"]
    lines = [f"- {f.rule} {_about(f)}: {text(f.message)}" for f in undecided[:SHOWN]]
    lines += [
        f"- {point.rule}, {point.partitions} partitions: {text(point.reason)}; needs {text(point.missing)}"
        for point in report.coverage.undecided
        if not point.blocking
    ]
    lines += [
        f"- {code(line.path)}: expected {text(line.expected)}, found {text(line.found)}"
        for line in report.refusals[:SHOWN]
    ]
    yield "\n".join(lines) if lines else "Nothing was left open."


def _actions(report: AuditReport) -> Iterator[str]:
    yield "## Who must act\n"
    actions = [action for history, loss in _billed(report) for action in _actions_for(history, loss)]
    actions += [_action(finding) for finding in _told(report) if finding.rule in _ADVICE]
    lines = [f"- {action}" for action in dict.fromkeys(actions)]
    yield "\n".join(lines or ["Nobody, as far as this evidence goes."])


def _actions_for(history: PlacedHistory, loss: Loss) -> Iterator[str]:
    place = _place(history)
    if not loss.restored:
        lost = _range(loss.start_offset, loss.end_offset)
        yield f"Producers of {place}: write again what was acknowledged at {lost} in epoch {loss.epoch}."
    for survivor in () if loss.restored else loss.survivors:
        stretch = _range(survivor.start_offset, survivor.end_offset)
        yield (
            f"Operators: copy {place} {stretch} from broker {survivor.broker}'s {survivor.kind} {code(survivor.path)}"
            f" before that broker is started: {_FATE[survivor.kind]}."
        )
    if loss.reused_end > loss.start_offset:
        yield (
            f"Consumers of {place} that read {_range(loss.start_offset, loss.reused_end)} before epoch"
            f" {loss.next_epoch}: these offsets hold other records now; read them again."
        )


_FATE = {
    "replica": "as a follower it may be cut back to its leader's log",
    "future replica": "a log that moves between disks is cut to the one that it follows",
    "deleted file": "a broker removes such files as soon as it loads the log",
    "deleted dir": "a running broker removes such folders after file.delete.delay.ms, 60 seconds by default",
    "stray dir": "nothing removes it by itself, and nothing else keeps these records",
}
_ADVICE = {
    "LOG001": "Operators: decide which replica is right, and let the others copy it anew; readers see either.",
    "LOG003": "Operators: no protocol will heal this; let the wrong replica copy its log anew.",
    "SEG001": "Operators: move the replica's damaged log away while it is stopped; it copies the batch again.",
    "SEG002": "Operators: move the replica's damaged log away while it is stopped; it copies the log again.",
    "SEG005": "Operators: move the replica's log with the hole away while it is stopped; it copies the log again.",
    "EPOCH003": "Operators: let the replica copy its log anew, or its leader-epoch-checkpoint misleads its followers.",
    "TRUNC004": "Operators: copy the named records before the replica starts: its return as a follower removes them.",
}


def _action(finding: Finding) -> str:
    brokers: Sequence[int] = finding.brokers
    who = f" (broker {', '.join(map(str, brokers))})" if brokers else ""
    return f"{_ADVICE[finding.rule]} {_about(finding)}{who}, {finding.id}."


def _evidence(report: AuditReport) -> Iterator[str]:
    yield "## Evidence\n"
    told = _told(report)
    if not told:
        yield "None."
    for finding in told[:SHOWN]:
        yield f"{finding.id} {finding.rule}"
        for exhibit in finding.exhibits:
            span = exhibit.span
            yield f"- {code(span.source)} bytes [{span.start}, {span.end}): {text(exhibit.role)}"
