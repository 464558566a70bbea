"""High watermarks that a leader took back: what it told one follower in one lead, and something lower after that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rules.evidence import PartitionEvidence
from rules.history.moments import OF_SERVER_LOG
from rules.history.statements import Fetched
from rules.replay.course import Course
from rules.replay.leading.instants import overtaken


def taken_back(courses: Iterable[Course]) -> Iterator[tuple[Fetched, Fetched]]:
    """Of each lead that shows it, the higher answer and the first lower one after it, to the same follower."""
    yield from (found for course in courses if (found := _first_of(course)) is not None)


def _first_of(course: Course) -> tuple[Fetched, Fetched] | None:
    highest: dict[int, Fetched] = {}
    for row in (fetch for row in course.rows if (fetch := row.fetch) is not None and not row.last):
        if row.broker is None or row.high_watermark is None or row.doubtful or row.error not in (None, 0):
            continue
        before = highest.get(row.broker)
        if before is not None and overtaken(row, before.time if before.last_time is None else before.last_time):
            continue
        if before is not None and (before.high_watermark or 0) > row.high_watermark:
            return before, row
        highest[row.broker] = row
    return None


def perhaps_restarted(evidence: PartitionEvidence, before: Fetched, after: Fetched) -> bool:
    """Whether a leader may have been started again between two answers.

    No session outlives a restart, and its log may end before the second answer.
    """
    if before.session == after.session or after.witness is None or after.time is None:
        return False
    times = [m.time for m in evidence.moments if m.clock == after.clock and m.kind in OF_SERVER_LOG]
    times += [state.since for state in evidence.settings.states(after.witness)]
    return all(time is None or time < after.time for time in times)
