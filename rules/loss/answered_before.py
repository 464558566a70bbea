"""What a leader had answered for before it took the same epoch once more, with a shorter log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from rules.evidence import PartitionEvidence
from rules.history.moments import succeeded
from rules.history.statements import RoleTaken


class AnsweredBefore(Struct, frozen=True, kw_only=True):
    """Offsets that a broker answered for, by whatever promise, and that its log no longer reached."""

    broker: int
    epoch: int
    start: int
    end: int
    """Behind the last answer's first record: boundaries beyond may be of what was written since."""
    opening: RoleTaken


def answered_before(evidence: PartitionEvidence) -> Iterator[AnsweredBefore]:
    """Of every two reigns of a broker that follow each other under one number, where the order is known."""
    for before, after in pairwise(() if evidence.order_open else evidence.chronicle.reigns):
        opening, start = after.opening, after.start_offset
        if (before.broker, before.epoch) != (after.broker, after.epoch) or start is None or opening.doubtful:
            continue
        begun = max(start, before.opening.offset or 0)
        end = max(((m.offset or 0) + 1 for m in before.said if succeeded(m)), default=0)
        if begun < end and isinstance(opening, RoleTaken):
            yield AnsweredBefore(broker=after.broker, epoch=after.epoch, start=begun, end=end, opening=opening)
