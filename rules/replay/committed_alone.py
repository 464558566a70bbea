"""What leaders committed by themselves: nobody else had a replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rules.history.moments import Committed, succeeded
from rules.replay.course import Course


def committed_alone(courses: Iterable[Course]) -> Iterator[Committed]:
    """By lead and term the furthest answer that waited for nobody and whose record was committed by then."""
    for course in courses:
        found: dict[int, Committed] = {}
        for row in () if course.lead.unplaced else course.rows:
            answer, low, offset = row.moment, row.high_watermark.low, row.moment.offset or 0
            if row.remotes or answer.term is None or not succeeded(answer) or low is None or low.offset <= offset:
                continue
            term = answer.newest_term(answer.term)
            if term not in found or found[term].end_offset <= offset:
                because = f"broker {answer.witness} acknowledged the batch at {offset}, and had the only replica"
                found[term] = Committed(end_offset=offset + 1, term=term, because=because, moment=answer)
        yield from found.values()
