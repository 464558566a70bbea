"""What a replica's indexes are held to: of segments that its broker builds anew when it starts, nothing."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from parsers.tables import IndexKind
from rules.facts.indexes import IndexFault, ToldAbort, Unindexed
from rules.facts.producing import Transactions
from rules.replicas.markers import NEVER, oldest_of_later, tells_transactions, undecided_spans
from rules.replicas.replica import Replica


def rebuilt_from(replica: Replica, *, always: bool) -> int | None:
    """First offset of the segments whose indexes the broker makes anew at its next start; null where there are none.

    After a stop that was not in order these are the segments at and above the recovery point. The last one is among
    them also where the broker may have gone on writing while its files were copied. `always` is for logs that are never
    shut down cleanly.
    """
    if not replica.segments or (replica.clean_shutdown is not None and not always):
        return None
    point = replica.recovery_point.offset if replica.recovery_point else 0
    bases = [segment.base_offset for segment in replica.segments]
    if always or replica.recovery_point is None:
        return bases[0]
    return next((base for base, following in pairwise(bases) if following > point), bases[-1])


class IndexJudgement(Struct, frozen=True, kw_only=True):
    """What is wrong with one kind of index of a replica, after what is lawful has been taken out."""

    faults: tuple[IndexFault, ...]
    count: int
    """Of all faults, also those that were not kept."""
    rebuilt: bool
    """Whether the broker's next start makes all of these indexes anew."""
    unread: tuple[IndexFault, ...]

    @property
    def lowest(self) -> int | None:
        """The lowest offset that a fault names."""
        return min((fault.offset for fault in self.faults if fault.offset is not None), default=None)

    @property
    def highest(self) -> int | None:
        """The highest one."""
        return max((fault.offset for fault in self.faults if fault.offset is not None), default=None)

    @property
    def flaws(self) -> tuple[str, ...]:
        """In which ways entries are contradicted."""
        return tuple(sorted({fault.flaw for fault in self.faults}))


def judged(replica: Replica, kind: IndexKind, *, always_rebuilt: bool) -> IndexJudgement:
    """What is left against a replica's indexes of a kind."""
    rebuilt = rebuilt_from(replica, always=always_rebuilt)
    ending = _ending_records(replica) if kind == "transaction" else frozenset()
    own = [*replica.indexes.of_kind(kind), *(stable_offsets_apart(replica) if kind == "transaction" else ())]
    faults = tuple(fault for fault in own if not _lawful(replica, fault, rebuilt, ending))
    every = replica.indexes.fault_count + replica.indexes.by_offset_count
    unkept = every - len(replica.indexes.faults) - len(replica.indexes.by_offset)
    return IndexJudgement(
        faults=faults,
        count=len(faults) + unkept,
        rebuilt=rebuilt is not None and all(fault.segment_base_offset >= rebuilt for fault in faults),
        unread=tuple(fault for fault in replica.indexes.unread if fault.kind == kind),
    )


def aborts_unindexed(replica: Replica) -> tuple[Unindexed, ...]:
    """The aborts, each of records, in segments without a transaction index; all of them where nothing tells which."""
    ending, known = _ending_records(replica), _known_from(replica)
    return tuple(a for a in replica.indexes.unindexed if a.marker_offset < known or a.marker_offset in ending)


def aborts_unjudged(replica: Replica) -> bool:
    """Whether a transaction index is here, and some markers of its log are too many to tell what they end."""
    indexes = replica.indexes
    offsets = [*(each.offset for each in indexes.aborts), *(each.marker_offset for each in indexes.told_aborts)]
    return any(offset is not None and offset < _known_from(replica) for offset in offsets)


def _known_from(replica: Replica) -> float:
    """From which marker on all transactions of a log are told: of very many only the last ones are kept."""
    transactions = replica.log.transactions
    if transactions.untold:
        return math.inf
    return transactions.closed[0].marker_offset if transactions.closed_count > len(transactions.closed) else 0


def _lawful(replica: Replica, fault: IndexFault, rebuilt: int | None, ending: frozenset[int]) -> bool:
    """What copies at several moments and lost tails explain, and what the cleaner took.

    Of a marker that ends no record no entry is made, or one that begins at the marker itself.
    """
    newer = rebuilt is not None and fault.segment_base_offset >= rebuilt
    if fault.flaw == "beyond the log":
        return newer
    if fault.flaw == "no entry":
        return replica.cleaned or (newer and fault.at_the_end) or fault.offset not in ending
    if fault.flaw == "begins at its marker":
        return replica.cleaned or fault.offset not in ending
    return fault.flaw in ("no marker", "not its beginning") and replica.cleaned


def _ending_records(replica: Replica) -> frozenset[int]:
    """The markers that surely end a transaction which wrote here."""
    written = replica.log.transactions
    heads = (each.head_marker for each in written.open if each.head_start is not None)
    return frozenset((*(each.marker_offset for each in written.closed), *(head for head in heads if head is not None)))


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
