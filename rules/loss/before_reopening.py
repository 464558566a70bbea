"""What a leader had committed or answered for, and lacked when it took the same epoch once more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.history.moments import succeeded
from rules.history.statements import Produced, RoleTaken
from rules.loss.lost_stretch import LeftOut


@asked_once
def before_reopenings(evidence: PartitionEvidence) -> tuple[LeftOut, ...]:
    """One stretch for each time that a leader opened its epoch once more, deleted records included."""
    found: dict[int, LeftOut] = {}
    for part in (*_committed(evidence), *(() if evidence.order_open else _answered(evidence))):
        other = found.setdefault(id(part.reopening), part)
        if part.end > other.end:
            found[id(part.reopening)] = replace(other, end=part.end, because=part.because)
    return tuple(found.values())


def _committed(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    for lost in evidence.lost_terms:
        first, committed = evidence.openings.get(lost.epoch), lost.committed
        begun = max(lost.start_offset, 0 if first is None else first.offset or 0)
        own = committed.term == lost.epoch and committed.moment.term in (None, lost.epoch)
        if own and begun < committed.end_offset:
            yield LeftOut(
                epoch=lost.epoch, leader=lost.leader, next_epoch=lost.epoch, next_leader=lost.leader, start=begun,
                end=committed.end_offset, because=committed.because, known_end=committed.end_offset,
                reopening=lost.opening,
            )  # fmt: skip


def _answered(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """Of reigns of a broker that follow each other under one number, where the order is known.

    By whatever promise. It ends behind the last answer's first record: boundaries beyond may be of later ones.
    """
    first, reached = None, 0
    for before, after in pairwise(evidence.chronicle.reigns):
        opening, start = after.opening, after.start_offset
        if (before.broker, before.epoch) != (after.broker, after.epoch) or start is None or opening.doubtful:
            first, reached = None, 0
            continue
        first = (before.opening.offset or 0) if first is None else first
        end = max(((m.offset or 0) + 1 for m in before.said if succeeded(m)), default=reached)
        begun, end = max(start, first), max(end, reached)
        reached = min(end, start)
        if begun < end and isinstance(opening, RoleTaken):
            because = "the last answer to a producer was for the record before"
            yield LeftOut(
                epoch=after.epoch, leader=after.broker, next_epoch=after.epoch, next_leader=after.broker, start=begun,
                end=end, because=because, reopening=opening,
            )  # fmt: skip


def lost_by_reopening(evidence: PartitionEvidence, answer: Produced) -> LeftOut | None:
    """The first such stretch that an answer's record was of: what later epochs opened without tells nothing of it."""
    parts = (p for p in before_reopenings(evidence) if (p.epoch, p.leader) == (answer.term, answer.witness))
    return next((p for p in parts if p.start <= (answer.offset or 0) < p.end and p.in_time(answer)), None)
