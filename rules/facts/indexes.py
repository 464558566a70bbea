"""What a replica's indexes come to beside its log: how many entries there are, and those that are contradicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from parsers.tables import IndexFlaw, IndexKind

KEEP: Final = 64
"""Contradicted entries that are kept; the rest is counted."""
KEEP_ABORTS: Final = 1024
"""Aborts that are kept: many of those without an entry may have ended nothing, which only the whole log tells."""


class IndexFault(Struct, frozen=True, kw_only=True):
    """An index entry that its segment contradicts, or the entry before it."""

    kind: IndexKind
    flaw: IndexFlaw
    segment_base_offset: int
    offset: int | None
    found: str
    span: Span
    at_the_end: bool = False
    """Whether it is of an entry that is missing behind the last one."""


class ToldAbort(Struct, frozen=True, kw_only=True):
    """An aborted transaction as an index tells it, with the last stable offset of when it ended."""

    producer_id: int
    marker_offset: int
    last_stable_offset: int
    segment_base_offset: int
    span: Span


class Unindexed(Struct, frozen=True, kw_only=True):
    """A marker of abort in a segment without a transaction index."""

    marker_offset: int
    span: Span


class IndexFacts(Struct, frozen=True, kw_only=True):
    """The indexes of a stretch of log, those entries held against it that lead into the stretch.

    Faults are kept by their places, the first ones. Where offsets do not ascend in the log, none of them is an address.
    What entries by offset show is dropped then.
    """

    entries: int = 0
    faults: tuple[IndexFault, ...] = ()
    fault_count: int = 0
    by_offset: tuple[IndexFault, ...] = ()
    by_offset_count: int = 0
    """Of time and transaction indexes, whose entries lead to offsets and not to bytes."""
    aborts: tuple[IndexFault, ...] = ()
    """Markers of abort that no entry names, whatever they end."""
    unindexed: tuple[Unindexed, ...] = ()
    """Markers of abort in segments of which no transaction index is here, whatever they end; the first ones."""
    told_aborts: tuple[ToldAbort, ...] = ()
    """The entries of transaction indexes, in the order of the files; of very many, the last ones."""
    unread: tuple[IndexFault, ...] = ()
    """Indexes that could not be opened."""
    unread_count: int = 0
    ascending: bool = True
    first_end: int | None = None
    last_end: int | None = None
    """Last offsets of the first and of the last batch."""

    def of_kind(self, kind: IndexKind) -> tuple[IndexFault, ...]:
        """The faults of one kind of index, by their places."""
        found = (*kept((*self.faults, *self.by_offset)), *self.aborts)
        return tuple(fault for fault in found if fault.kind == kind)


NO_INDEXES: Final = IndexFacts()


def kept(faults: Sequence[IndexFault], limit: int = KEEP) -> tuple[IndexFault, ...]:
    """The first faults by their places."""
    return tuple(sorted(faults, key=_place)[:limit]) if len(faults) > 1 else tuple(faults)


def join_indexes(left: IndexFacts, right: IndexFacts) -> IndexFacts:
    """The facts of two neighbouring stretches, `left` lying before `right`."""
    if left is NO_INDEXES or right is NO_INDEXES:
        return right if left is NO_INDEXES else left
    meet = left.last_end is None or right.first_end is None or left.last_end < right.first_end
    ascending = left.ascending and right.ascending and meet
    return IndexFacts(
        entries=left.entries + right.entries,
        faults=kept(left.faults + right.faults),
        fault_count=left.fault_count + right.fault_count,
        by_offset=kept(left.by_offset + right.by_offset) if ascending else (),
        by_offset_count=left.by_offset_count + right.by_offset_count if ascending else 0,
        aborts=kept(left.aborts + right.aborts, KEEP_ABORTS) if ascending else (),
        unindexed=(left.unindexed + right.unindexed)[:KEEP_ABORTS],
        told_aborts=(left.told_aborts + right.told_aborts)[-KEEP_ABORTS:],
        unread=kept(left.unread + right.unread),
        unread_count=left.unread_count + right.unread_count,
        ascending=ascending,
        first_end=right.first_end if left.first_end is None else left.first_end,
        last_end=left.last_end if right.last_end is None else right.last_end,
    )


def join_all_indexes(stretches: Iterable[IndexFacts]) -> IndexFacts:
    """The stretches of one log, given in physical order, as one."""
    return reduce(join_indexes, stretches, NO_INDEXES)


def _place(fault: IndexFault) -> tuple[str, int, str, int]:
    return fault.span.source, fault.span.start, fault.flaw, fault.offset or 0
