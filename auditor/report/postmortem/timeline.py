"""The timeline of the incident report: who did what, on one clock as far as clocks can be aligned, and no further."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.report.bill import moment
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, ClockOffset, Milestone, PlacedHistory
from auditor.report.postmortem.parts import SHOWN, place


def timeline(report: AuditReport) -> Iterator[str]:
    """The section."""
    told = [history for history in report.histories if history.milestones]
    yield "## Timeline\n"
    if not told and not report.incidents:
        yield "No partition is concerned."
        return
    if not told:
        yield "No broker log, trace or metadata tells of the partitions concerned."
        return
    yield (
        "Times are as each witness wrote them, in its own zone. A clock is aligned only where elections show that it"
        " stands apart from the reference by more than the estimate may err; its own time then stands beside."
    )
    for history in told[:SHOWN]:
        yield f"\n### {place(history)}\n"
        yield from _clocks(history)
        yield from (_line(milestone) for milestone in history.milestones[:SHOWN])
        if len(history.milestones) > SHOWN:
            yield f"- … and {len(history.milestones) - SHOWN} more"


def _clocks(history: PlacedHistory) -> Iterator[str]:
    """What is known of every clock that speaks in the timeline."""
    known = {clock.clock: clock for clock in history.clocks}
    speaking = sorted({milestone.clock for milestone in history.milestones} | known.keys())
    for name in speaking:
        yield f"- clock of {text(name)}: {_standing(known.get(name))}"
    yield ""


def _standing(clock: ClockOffset | None) -> str:
    if clock is None:
        return "no event is told by it and by the reference, so that nothing aligns it; as written"
    if clock.clock == clock.reference:
        return "the reference"
    return f"{text(clock.words)}; {'aligned' if clock.stands_apart else 'as written'}"


def _line(milestone: Milestone) -> str:
    shown = moment(milestone.reference_time) or "time unknown"
    own = f" (own clock {moment(milestone.time)})" if milestone.time != milestone.reference_time else ""
    where = f"{code(milestone.span.source)} [{milestone.span.start}, {milestone.span.end})"
    return f"- {shown}{own}  {text(milestone.clock)}: {text(milestone.text)} {where}"
