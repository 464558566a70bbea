"""What a replica's indexes are held to: of segments that its broker builds anew when it starts, nothing."""

from __future__ import annotations

import math
from itertools import pairwise

from msgspec import Struct

from parsers.tables import IndexKind
from rules.evidence.stable_then import stable_offsets_apart
from rules.facts.indexes import IndexFault, Unindexed
from rules.replicas.replica import Replica


def rebuilt_from(replica: Replica, *, always: bool) -> int | None:
    """First offset of the segments whose indexes the broker makes anew at its next start; null where there are none.

    After a stop that was not in order these are the segments at and above the recovery point. The last one is among
    them also where the broker may have gone on writing while its files were copied. `always` is for logs that are never
    stopped in order.
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
