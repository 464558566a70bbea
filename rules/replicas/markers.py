"""The markers of transactions, compared among replicas: those that one lacks, and those that decide otherwise."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from msgspec import Struct

from parsers.provenance import Span
from rules.facts.producing import Transactions
from rules.facts.read_again import RecordMark
from rules.replicas.replica import Replica

NEVER: Final = 1 << 63
WORDS: Final[Mapping[int | None, str]] = {0: "aborts", 1: "commits"}
"""What a marker does, by the type of its record."""


class MarkerMissing(Struct, frozen=True, kw_only=True):
    """A marker that one replica has, and that another one lacks though it holds records which the marker decides."""

    producer_id: int
    start_offset: int
    """The first of those records."""
    marker_offset: int
    next_marker: int | None
    """The marker that decides them where the first one is missing; null where none does."""
    holding: int
    lacking: int
    spans: tuple[tuple[int, Span], ...] = ()
    """Of brokers whose logs were read again, where the marker stands and where the records begin."""

    @property
    def costs(self) -> str:
        """What becomes of the transaction where the marker is missing, as a clause."""
        if self.next_marker is None:
            return f"the transaction from offset {self.start_offset} on is open there"
        return f"the marker at {self.next_marker} decides the records from offset {self.start_offset} on"


class MarkersApart(Struct, frozen=True, kw_only=True):
    """Two markers of one producer at one offset, of which one commits and one aborts."""

    producer_id: int
    offset: int
    committing: int
    aborting: int
    spans: tuple[Span, Span]
    """Of the committing one and of the aborting one."""


class UndecidedSpan(NamedTuple):
    """The stretch of offsets that a transaction keeps undecided."""

    producer_id: int
    start_offset: int | None
    """Its first record; null where the log holds its marker alone."""
    marker_offset: int
    """`NEVER` where it has none."""
    head: bool
    """Whether it is its producer's first in the log, so that it may have begun before the log does."""


def missing_markers(holding: Replica, lacking: Replica, committed: int) -> Iterator[MarkerMissing]:
    """Markers below the committed end that one replica has and the other lacks."""
    ours, theirs = holding.log.transactions, lacking.log.transactions
    if ours == theirs or ours.untold or theirs.untold:
        return
    end = min(committed, lacking.log_end_offset)
    spans = _spans(theirs)
    for producer, markers in _markers(ours).items():
        for start, until in spans.get(producer, ()):
            place = bisect_right(markers, start)
            found = markers[place] if place < len(markers) else NEVER
            if found < min(until, end) and holding.holds(found, found + 1) and not damaged(lacking, found, found + 1):
                yield MarkerMissing(
                    producer_id=producer,
                    start_offset=start,
                    marker_offset=found,
                    next_marker=None if until == NEVER else until,
                    holding=holding.broker,
                    lacking=lacking.broker,
                    spans=(*_read_again(holding, found), *_read_again(lacking, start)),
                )


def _read_again(replica: Replica, offset: int) -> Iterator[tuple[int, Span]]:
    """The batch of an offset, where that was read again."""
    batches = (batch for zoom in replica.zooms for batch in zoom.batches)
    found = next((batch for batch in batches if batch.base_offset <= offset < batch.end_offset), None)
    if found is not None:
        yield replica.broker, found.span


def _markers(transactions: Transactions) -> dict[int, list[int]]:
    """The markers of each producer, ascending: of those that decide nothing only the first and the last."""
    found: dict[int, set[int]] = {}
    for closed in transactions.closed:
        found.setdefault(closed.producer_id, set()).add(closed.marker_offset)
    for each in transactions.open:
        own = found.setdefault(each.producer_id, set())
        own.update(marker for marker in (each.head_marker, each.last_marker) if marker is not None)
    return {producer: sorted(markers) for producer, markers in found.items()}


def _spans(transactions: Transactions) -> dict[int, list[tuple[int, int]]]:
    """From the first record of each transaction to its marker."""
    found: dict[int, list[tuple[int, int]]] = {}
    for each in undecided_spans(transactions):
        if each.start_offset is not None:
            found.setdefault(each.producer_id, []).append((each.start_offset, each.marker_offset))
    return found


def undecided_spans(transactions: Transactions) -> Iterator[UndecidedSpan]:
    """Those of all transactions of a log, in no order."""
    for closed in transactions.closed:
        yield UndecidedSpan(closed.producer_id, closed.start_offset, closed.marker_offset, head=False)
    for each in transactions.open:
        if each.head_start is not None or each.head_marker is not None:
            end = NEVER if each.head_marker is None else each.head_marker
            yield UndecidedSpan(each.producer_id, each.head_start, end, head=True)
        if each.open_from is not None:
            yield UndecidedSpan(each.producer_id, each.open_from, NEVER, head=False)


def oldest_of_later(starts: Sequence[int]) -> Sequence[int]:
    """For each transaction, in the order of their ends, the oldest first record of it and of those that end later."""
    return [*accumulate(reversed(starts), min)][::-1]


def tells_transactions(replica: Replica) -> bool:
    """Whether the log shows every transaction that it had: nothing is missing, cleaned, damaged or left out."""
    log = replica.log
    out_of_order = log.gap_count or log.overlap_count or log.header_fault_count
    damage = log.unread_count or log.checksum_fault_count
    return not (out_of_order or damage or replica.cleaned or log.transactions.untold) and replica.end_known


def damaged(replica: Replica, start_offset: int, end_offset: int) -> bool:
    """Whether bytes that cannot be believed stand where a marker may."""
    log = replica.log
    faults = [(fault.base_offset, fault.end_offset) for fault in (*log.checksum_faults, *log.header_faults)]
    faults += [(u.expected_offset or 0, NEVER if u.next_offset is None else u.next_offset) for u in log.unread]
    faults += [(s.start_offset or 0, s.end_offset or 0) for s in replica.strays]
    return any(start < end_offset and start_offset < end for start, end in faults)


def markers_apart(left: Replica, right: Replica, committed: int) -> Iterator[MarkersApart]:
    """Markers that both have, as far as both were read again, of which one commits what the other aborts."""
    ours, theirs = _decoded(left), _decoded(right)
    for offset in sorted(ours.keys() & theirs.keys()):
        mine, other = ours[offset], theirs[offset]
        differ = {mine.control_type, other.control_type} == {0, 1}
        if offset < committed and differ and mine.written[0] == other.written[0]:
            sides = ((left, mine), (right, other)) if mine.control_type else ((right, other), (left, mine))
            (committing, kept), (aborting, dropped) = sides
            yield MarkersApart(
                producer_id=mine.written[0],
                offset=offset,
                committing=committing.broker,
                aborting=aborting.broker,
                spans=(kept.span, dropped.span),
            )


def _decoded(replica: Replica) -> dict[int, RecordMark]:
    """The markers among the records that were read again."""
    records = (record for zoom in replica.zooms for record in zoom.records)
    return {record.offset: record for record in records if record.control_type in WORDS and record.written[0] >= 0}
