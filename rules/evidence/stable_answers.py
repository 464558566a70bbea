"""Last stable offsets that leaders told, each with what their logs decide, and for how long they were behind that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from msgspec import Struct

from rules.evidence import Course, PartitionEvidence
from rules.history.statements import Fetched
from rules.replay.leading.bounds import at_least, at_most, between

Standing = Literal["due", "behind", "unknown"]


class StableAnswer(Struct, frozen=True, kw_only=True):
    """An answer that tells a last stable offset, and the least that was due in it."""

    moment: Fetched
    lso: int
    standing: Standing
    due: int | None = None


class StableRun(Struct, frozen=True, kw_only=True):
    """Answers one after the other that stand alike."""

    standing: Standing
    answers: tuple[StableAnswer, ...]

    @property
    def lasted(self) -> int:
        """Milliseconds from the first to the last one."""
        first, last = self.answers[0].moment, self.answers[-1].moment
        until = last.last_time or last.time
        return 0 if first.time is None or until is None else until - first.time

    @property
    def worst(self) -> StableAnswer:
        """The one that is furthest behind."""
        return max(self.answers, key=lambda each: (each.due or 0) - each.lso)


def stable_runs(evidence: PartitionEvidence, course: Course) -> Iterator[StableRun]:
    """What a leader told of its last stable offset in its term, in order."""
    for standing, answers in groupby(_answers(evidence, course), key=lambda each: each.standing):
        yield StableRun(standing=standing, answers=tuple(answers))


def _answers(evidence: PartitionEvidence, course: Course) -> Iterator[StableAnswer]:
    for row in course.rows:
        moment = row.moment
        if not isinstance(moment, Fetched):
            continue
        lso, watermark = moment.last_stable_offset, moment.high_watermark
        if lso is None or watermark is None or moment.doubtful or moment.error:
            continue
        exact = between(at_least(watermark, "it was told"), at_most(watermark, "it was told"))
        possible = evidence.stable.at(course, exact)
        low, high = possible.low, possible.high
        if low is not None and lso < low.offset:
            yield StableAnswer(moment=moment, lso=lso, standing="behind", due=low.offset)
        else:
            known = high is not None and high.offset <= lso
            yield StableAnswer(moment=moment, lso=lso, standing="due" if known else "unknown")
