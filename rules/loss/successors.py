"""The epochs after another one that can have left out its records, in the order in which they opened."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from rules.evidence import PartitionEvidence, Replica
from rules.facts.stretch import HIGHEST_OFFSET
from rules.history.statements import RoleTaken
from rules.protocol.steps import StepLimit


class Successors:
    """The epochs after another one that can have left out its records: those that opened lower than all before them."""

    def __init__(self, evidence: PartitionEvidence) -> None:
        """The openings in order, for each the next lower one, and how far every log holds older records."""
        again = evidence.reopenings
        first = sorted(evidence.openings.items())
        self._openings = [(epoch, one) for epoch, opening in first for one in (opening, *again.get(epoch, ()))]
        offsets = [opening.offset for _, opening in self._openings]
        self._lower = _next_lower([HIGHEST_OFFSET if offset is None else offset for offset in offsets])
        self._held = [_reaches(replica) for replica in evidence.current if not replica.cleaned]

    def of(self, epoch: int, begun: int) -> Iterator[tuple[int, RoleTaken]]:
        """The openings, in order; all of them where some log holds older records at offsets that were the epoch's."""
        place = bisect_right(self._openings, epoch, key=lambda opened: opened[0])
        older = any(_up_to(epoch, *reaches) > begun for reaches in self._held)
        bound = StepLimit(len(self._openings), "going through the openings after an epoch")
        while place < len(self._openings):
            bound.step()
            yield self._openings[place]
            place = place + 1 if older else self._lower[place]


def _next_lower(offsets: Sequence[int]) -> list[int]:
    """For each place the next one with a lower offset, or the end."""
    found = [len(offsets)] * len(offsets)
    waiting: list[int] = []
    bound = StepLimit(len(offsets), "looking for lower openings")
    for place, offset in enumerate(offsets):
        while waiting and offsets[waiting[-1]] > offset:
            bound.step()
            found[waiting.pop()] = place
        waiting.append(place)
    return found


def _reaches(replica: Replica) -> tuple[list[int], list[int]]:
    """The epochs of a log in order, and how far the records up to each of them reach."""
    epochs = sorted(epoch for epoch in replica.runs_by_epoch if epoch >= 0)
    return epochs, [*accumulate((max(r.end_offset for r in replica.runs_by_epoch[e]) for e in epochs), max)]


def _up_to(epoch: int, epochs: Sequence[int], ends: Sequence[int]) -> int:
    place = bisect_left(epochs, epoch)
    return ends[place - 1] if place else 0
