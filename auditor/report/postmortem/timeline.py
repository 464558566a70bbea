"""The timeline of the incident report: who did what, on one clock as far as clocks can be aligned, and no further.

The body has the key moments, and partitions that went through the same have them once. The appendix has all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, ClockOffset, Milestone, PlacedHistory
from auditor.report.postmortem.parts import SHOWN, capped, place, places, shortened
from auditor.report.utc_times import moment

COURSES_SHOWN: Final = 3
MOMENTS_SHOWN: Final = 14
_OFFSETS: Final = re.compile(r"(?<=offset )\d+|(?<=watermark )\d+|(?<=log end )\d+")
"""Numbers in which two partitions differ that went through the same; epochs and brokers are not among them."""
_BEFORE: Final = "leader epochs place it here; by its clock it was before one above"


def timeline(report: AuditReport) -> Iterator[str]:
    """The section."""
    histories = [history for history in report.histories if history.milestones]
    yield "## Timeline\n"
    if not histories and not report.incidents:
        yield "No partition is concerned."
        return
    if not histories:
        yield "No broker log, trace or metadata tells of the partitions concerned."
        return
    yield "Times are as each witness wrote them, in its own zone."
    courses = _courses(histories)
    for together in courses[:COURSES_SHOWN]:
        yield from _course(together)
    yield from shortened(len(courses), "timeline", COURSES_SHOWN)


def whole_timelines(report: AuditReport) -> Iterator[str]:
    """Every moment of every partition, with the bytes that tell of it, for the appendix."""
    histories = [history for history in report.histories if history.milestones]
    for history in histories[:SHOWN]:
        yield f"\n{place(history)}:\n"
        yield from _clocks(history)
        shown = history.milestones[:SHOWN]
        yield from (
            f"{line} {code(milestone.span.source)} [{milestone.span.start}, {milestone.span.end})"
            for line, milestone in zip(_lines(shown), shown, strict=True)
        )
        yield from capped(len(history.milestones), "moment")
    yield from capped(len(histories), "partition")


def key_moments(history: PlacedHistory) -> tuple[Milestone, ...]:
    """From the opening of the first epoch that lost something on; who merely follows whom is left out."""
    moments = history.milestones
    lost = [loss.epoch for loss in history.losses]
    if lost:
        opened = (n for n, each in enumerate(moments) if each.epoch is not None and each.epoch >= min(lost))
        moments = moments[next(opened, 0) :]
    return tuple(each for each in moments if not each.only_follows)


def _courses(histories: Sequence[PlacedHistory]) -> list[list[PlacedHistory]]:
    """Partitions that went through the same moments, whatever their offsets."""
    alike: dict[object, list[PlacedHistory]] = {}
    for history in histories:
        course = tuple((each.clock, _OFFSETS.sub("#", each.text)) for each in key_moments(history))
        alike.setdefault(course, []).append(history)
    return list(alike.values())


def _course(together: Sequence[PlacedHistory]) -> Iterator[str]:
    first = together[0]
    moments = key_moments(first)
    yield f"\n### {places(together)}\n"
    if len(together) > 1:
        yield f"Times and offsets are those of {place(first)}. The others went through the same.\n"
    apart = [clock for clock in first.clocks if clock.stands_apart]
    yield from (f"- clock of {text(clock.clock)}: {_standing(clock)}" for clock in apart)
    yield from [""] if apart else []
    yield from _lines(moments[:MOMENTS_SHOWN])
    yield from shortened(len(moments), "moment", MOMENTS_SHOWN)


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


def _lines(moments: Sequence[Milestone]) -> Iterator[str]:
    """A line each; a time before one that stands above it says what placed it there."""
    latest = 0
    for milestone in moments:
        earlier = milestone.reference_time is not None and milestone.reference_time < latest
        latest = max(latest, milestone.reference_time or 0)
        yield _line(milestone) + (f" ({_BEFORE})" if earlier else "")


def _line(milestone: Milestone) -> str:
    shown = moment(milestone.reference_time) or "time unknown"
    own = f" (own clock {moment(milestone.time)})" if milestone.time != milestone.reference_time else ""
    witness = "" if milestone.text.startswith(f"{milestone.clock} ") else f"{milestone.clock}: "
    return f"- {shown}{own}  {text(witness + milestone.text)}"
