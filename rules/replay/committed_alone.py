"""What leaders committed by themselves: nobody else was in sync, or had a replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rules.history.moments import Committed, succeeded
from rules.replay.course import Course


def committed_alone(courses: Iterable[Course]) -> Iterator[Committed]:
    """By lead and term the furthest answer that waited for nobody and whose record was committed by then."""
    for course in courses:
        found: dict[int, Committed] = {}
        for row in () if course.lead.unplaced else course.rows:
            answer, alone = row.moment, not row.remotes or row.isr == (frozenset({course.lead.leader}),)
            low, offset = row.high_watermark.low, answer.offset or 0
            if not alone or answer.term is None or not succeeded(answer) or low is None or low.offset <= offset:
                continue
            term = answer.newest_term(answer.term)
            if term not in found or found[term].end_offset <= offset:
                because = f"broker {answer.witness} acknowledged the batch at {offset}, and nobody else counted"
                found[term] = Committed(end_offset=offset + 1, term=term, because=because, moment=answer)
        yield from found.values()
