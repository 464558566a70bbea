"""The last stable offset at the end of an aborted transaction, as its index tells it and as the log gives it.

A broker works it out as the marker comes: the first offset of the oldest other transaction that is open, else the
offset behind the marker. A follower may take more in one step: then a transaction that begins behind the marker counts,
on old releases also one of the same producer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from rules.facts.indexes import IndexFault, ToldAbort
from rules.facts.producing import Transactions
from rules.replicas.markers import NEVER, oldest_of_later, tells_transactions, undecided_spans
from rules.replicas.replica import Replica


def stable_offsets_apart(replica: Replica) -> Iterator[IndexFault]:
    """Entries of transaction indexes whose last stable offset no state of the log gives."""
    aborts = replica.indexes.told_aborts
    if not aborts or not replica.indexes.ascending or not tells_transactions(replica):
        return
    log = _Transactions(replica)
    for entry in aborts:
        due = log.due(entry)
        if due is not None:
            yield IndexFault(
                kind="transaction",
                flaw="another stable offset",
                segment_base_offset=entry.segment_base_offset,
                offset=entry.marker_offset,
                found=f"the entry for offset {entry.marker_offset}, of producer {entry.producer_id}, names last stable"
                f" offset {entry.last_stable_offset}; by the log it was {due}",
                span=entry.span,
            )


class _Transactions:
    """The transactions of a log by their ends; lives only inside `stable_offsets_apart`."""

    def __init__(self, replica: Replica) -> None:
        self._transactions: Transactions = replica.log.transactions
        self._epochs = [run.start_offset for run in replica.log.epochs[1:]]
        first = replica.log.first_offset
        self._whole = replica.log_start_offset == 0 == first
        self._first = replica.log_end_offset if first is None else first

    @cached_property
    def _spans(self) -> Sequence[tuple[int, int, int]]:
        """Marker, first record and producer."""
        spans = undecided_spans(self._transactions)
        return sorted((t.marker_offset, t.start_offset, t.producer_id) for t in spans if t.start_offset is not None)

    @cached_property
    def _ends(self) -> Sequence[int]:
        return [end for end, _, _ in self._spans]

    @cached_property
    def _oldest(self) -> Sequence[int]:
        """For each of them, the oldest first record of it and of those that end later."""
        return oldest_of_later([start for _, start, _ in self._spans])

    @cached_property
    def _beginnings(self) -> Sequence[tuple[int, int]]:
        return sorted((start, producer) for _, start, producer in self._spans)

    def due(self, entry: ToldAbort) -> int | None:
        """What an entry should have told; null where it may be right."""
        marker, stable = entry.marker_offset, entry.last_stable_offset
        forgotten = self._transactions.closed_count > len(self._transactions.closed)
        if forgotten and marker <= self._transactions.closed[0].marker_offset:
            return None
        place = bisect_right(self._ends, marker)
        oldest = self._oldest[place] if place < len(self._spans) else NEVER
        due = min(oldest, marker + 1)
        if stable == due or (not self._whole and self._may_be_older(place, marker, stable)):
            return None
        return None if oldest > marker and self._taken_with_it(entry) else due

    def _taken_with_it(self, entry: ToldAbort) -> bool:
        """Whether a next transaction, of anybody or of others, may have come in one step; it may be cut since."""
        marker, stable = entry.marker_offset, entry.last_stable_offset
        place = bisect_right(self._beginnings, (marker, NEVER))
        later = self._beginnings[place:]
        others = (start for start, producer in later if producer != entry.producer_id)
        following = {next(others, NEVER), *(start for start, _ in later[:1])}
        return stable in following or any(marker < start <= stable for start in self._epochs)

    def _may_be_older(self, place: int, marker: int, stable: int) -> bool:
        """Whether a transaction from before the log's first offset was open, or one had been forgotten with it."""
        still_open = (start for _, start, _ in self._spans[place:] if start < marker)
        return stable < self._first or stable == marker + 1 or stable in still_open
