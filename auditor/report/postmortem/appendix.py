"""The appendix of the incident report: every loss, moment and finding by itself, with the bytes that each stands on."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.report.bill import sentence
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport
from auditor.report.postmortem.availability import over_time
from auditor.report.postmortem.causes import whole_chains
from auditor.report.postmortem.impact import in_detail, row, table
from auditor.report.postmortem.parts import SHOWN, billed, capped, grave, place
from auditor.report.postmortem.protocols import one
from auditor.report.postmortem.timeline import whole_timelines
from auditor.report.unbilled import sentence as in_words
from auditor.report.unbilled import unbilled
from auditor.report.worths import span


def appendix(report: AuditReport) -> Iterator[str]:
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
