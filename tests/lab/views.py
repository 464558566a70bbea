"""Whatever one page of a report says and another one denies."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.report.advice import advice_text as advice_pages
from auditor.report.bill import sentence
from auditor.report.markdown import text as escaped
from auditor.report.model import AuditReport, Loss, PlacedAdvice, PlacedHistory
from auditor.report.postmortem.document import render as postmortem
from auditor.report.summary import summary
from auditor.report.summary.perhaps import at_stake, beside_the_advice, perhaps_words
from auditor.report.terminal.screen import lost_words
from auditor.report.unbilled import sentence as in_words
from auditor.report.unbilled import unbilled
from rules.finding import Finding, Place, Severity, with_last_offsets
from rules.protocol.offsets import without


def of(report: AuditReport) -> dict[Place, tuple[Loss, ...]]:
    """What each partition lost, by the bill."""
    return {place(history): history.losses for history in report.histories}


def place(told: PlacedHistory | Finding) -> Place:
    return told.cluster_id, told.topic, told.partition


def contradictions(report: AuditReport) -> Iterator[str]:
    """Whatever one page says and another one denies."""
    yield from _billed_twice(report)
    yield from _found_and_not_billed(report)
    yield from _billed_and_not_found(report)
    yield from _advised_otherwise(report)
    yield from _told_otherwise(report)
    yield from _without_a_bill(report)


def _billed_twice(report: AuditReport) -> Iterator[str]:
    for where, losses in of(report).items():
        seen: set[tuple[int, bool, int]] = set()
        for loss in losses:
            offsets = {(loss.epoch, loss.again, offset) for offset in range(loss.start_offset, loss.end_offset)}
            if offsets & seen:
                yield f"{where}: {sorted(offsets & seen)[:3]} is billed twice"
            seen |= offsets
    together = sum(incident.bill.offsets for incident in report.incidents if incident.bill is not None)
    alone = sum(loss.offsets for losses in of(report).values() for loss in losses if loss.for_good)
    if together != alone:
        yield f"the incidents' bills count {together} offsets, the partitions' {alone}"


def _found_and_not_billed(report: AuditReport) -> Iterator[str]:
    """What is proved to be gone stands in the bill, or is its open point.

    That is where nobody tells the records' epoch, or where they may have been sent again. Without an order of epochs no
    bill is made.
    """
    asked = {line.reason for line in report.coverage.undecided if line.rule == "the bill"}
    for finding in report.violations:
        proves = finding.rule in ("ACK001", "TRUNC001") and finding.confidence == "certain"
        if proves and "only_epoch" not in finding.values() and not report.untold:
            billed = [(loss.start_offset, loss.end_offset) for loss in of(report).get(place(finding), ())]
            missing = [*without(finding.start_offset or 0, finding.end_offset or 0, billed)]
            cut = "cut committed records [{}, {}). Their leader epoch is not known"
            cuts = [with_last_offsets(cut.format(*ends)) for ends in missing]
            named = all(any(reason.endswith(cut) for reason in asked) for cut in cuts)
            again = "it is not known whether committed records [{}, {}) of epoch"
            alike = (with_last_offsets(again.format(*ends)) for ends in missing)
            named |= all(any(reason.startswith(one) for reason in asked) for one in alike)
            if missing and not (finding.rule == "TRUNC001" and named):
                yield f"{finding.rule} {place(finding)} proves {missing}, which no bill names"


def _billed_and_not_found(report: AuditReport) -> Iterator[str]:
    """What counts as lost for good rests on a finding of weight; what a question alone bears only may be lost."""
    grave = {place(f) for f in report.violations if f.severity >= Severity.MEDIUM}
    for where, losses in of(report).items():
        for loss in losses:
            if not loss.restored and where not in grave:
                yield f"{where}: {sentence(loss)} And nothing is found there"
    if report.verdict == "clean" and any(not loss.restored for losses in of(report).values() for loss in losses):
        yield "a clean verdict bills a loss"


def _advised_otherwise(report: AuditReport) -> Iterator[str]:
    by_place: dict[Place, PlacedAdvice] = {(p.cluster_id, p.topic, p.partition): p for p in report.advice}
    for where, losses in of(report).items():
        advised = by_place.get(where)
        if losses and (advised is None or advised.losses != losses):
            yield f"{where}: the advice does not know of {len(losses)} losses"
        lacked = () if advised is None else [s for c in advised.advice.candidates for s in c.lacks]
        for stretch in lacked:
            for loss in losses:
                start, end = max(stretch.start_offset, loss.start_offset), min(stretch.end_offset, loss.end_offset)
                if loss.epoch == stretch.epoch and start < end and start == stretch.start_offset:
                    ends = min(loss.committed_end, end), min(stretch.committed_end, end)
                    if max(ends[0], start) > max(ends[1], start):
                        yield f"{where}: of {start} to {end} the bill calls {ends[0]} committed, the advice {ends[1]}"


def _without_a_bill(report: AuditReport) -> Iterator[str]:
    """What is gone and no bill names, and what may be, stands on the first screen, in the advice and in the report."""
    first, advice, told = " ".join(lost_words(summary(report))), _advice(report), postmortem(report, appendix=True)
    for history, gone in unbilled(report):
        words = in_words(gone, f"{history.topic}-{history.partition}")
        pages = ("the audit", first), ("the advice", advice)
        yield from (f"{page} leaves out: {words}" for page, said in pages if words not in said)
        if escaped(in_words(gone)) not in told:
            yield f"the incident report leaves out: {words}"
        if "No log tells of offsets" in told or "Nobody, as far as this evidence goes" in told:
            yield f"the incident report denies: {words}"
        if "loses nothing." in _advice(report, place(history)):
            yield f"the advice denies: {words}"
    stake = at_stake(report)
    if stake is not None:
        places = ("the audit", stake.words in first), ("the incident report", escaped(stake.words) in told)
        yield from (f"{page} leaves out: {stake.words}" for page, there in places if not there)
    for question in perhaps_words(summary(report).perhaps):
        if question not in first:
            yield f"the audit leaves out: {question}"
    for question in beside_the_advice(report):
        if " ".join(question.split()) not in advice:
            yield f"the advice leaves out: {question}"


def _advice(report: AuditReport, about: Place | None = None) -> str:
    """All of it, or what it says about one partition."""
    perhaps = tuple(beside_the_advice(report))
    given = tuple(p for p in report.advice if about in (None, (p.cluster_id, p.topic, p.partition)))
    told = advice_pages.text(given, verdict=report.verdict, untold=report.untold, perhaps=perhaps)
    return " ".join(told.split())


def _told_otherwise(report: AuditReport) -> Iterator[str]:
    advice = _advice(report)
    told = postmortem(report, appendix=True)
    for (_, topic, partition), losses in of(report).items():
        for loss in losses:
            if " ".join(sentence(loss, f"{topic}-{partition}").split()) not in advice:
                yield f"the advice leaves out: {sentence(loss)}"
            if escaped(sentence(loss)) not in told:
                yield f"the incident report leaves out: {sentence(loss)}"
    lost = any(not loss.restored for losses in of(report).values() for loss in losses)
    if lost and "Nobody, as far as this evidence goes" in told:
        yield "the incident report has nobody act on a loss"
    if lost and "Nothing to decide" in advice:
        yield "the advice says that nothing is to be decided"
    if report.verdict == "unknown" and "left its verdict open" not in advice:
        yield "the advice does not say that the verdict is open"
