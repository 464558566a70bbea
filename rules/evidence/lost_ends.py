"""Transactions that a replica of a compacted log keeps open, though they had ended: their markers were never copied.

A cleaner stays below the first offset that is undecided in its own log. So a transaction had ended before any cleaner
went on beyond its first offset, and its marker stood above that offset. Who holds its records and no marker lacks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence import PartitionEvidence, Replica, same_topic
from rules.evidence.lacked_markers import committed_by_all
from rules.facts.producing import Begun
from rules.replicas.markers import damaged


class Passed(Struct, frozen=True, kw_only=True):
    """Who went over a transaction as one that had ended."""

    brokers: tuple[int, ...]
    cleaned: int | None = None
    """How far the cleaners went, at least; null where only its records are missing there, and no checkpoint says so."""


class LostEnd(Struct, frozen=True, kw_only=True):
    """Transactions of one replica that are open there and had ended for others; the first one is told."""

    broker: int
    log_end_offset: int
    producer_id: int
    begun: Begun
    passed: Passed
    committed: bool
    """Whether its records are known to be committed."""
    verified: bool
    """Whether checksums vouch for the headers that tell of it."""
    count: int = 1

    @property
    def may_follow(self) -> bool:
        """Whether the marker may stand behind the end of the replica's log."""
        return self.passed.cleaned is not None and self.passed.cleaned > self.log_end_offset

    @property
    def proved(self) -> bool:
        """Whether the replica surely lacks the marker."""
        return self.passed.cleaned is not None and self.committed and self.verified and not self.may_follow


def lost_ends(evidence: PartitionEvidence) -> Iterator[LostEnd]:
    """What replicas of a compacted partition keep open that had ended, proved or not."""
    for holder in evidence.current if evidence.compacted else ():
        found = [end for each in _unended(holder) if (end := _lost(evidence, holder, *each)) is not None]
        found.sort(key=lambda end: (end.passed.brokers, not end.proved, end.begun.offset))
        for _, ends in groupby(found, key=lambda end: (end.passed.brokers, end.proved)):
            alike = [*ends]
            yield replace(alike[0], count=len(alike))


def _unended(replica: Replica) -> Iterator[tuple[int, Begun]]:
    written = replica.log.transactions
    return ((each.producer_id, each.begun) for each in written.open if each.begun is not None and not written.untold)


def _lost(evidence: PartitionEvidence, holder: Replica, producer: int, begun: Begun) -> LostEnd | None:
    start, end = begun.offset, holder.log_end_offset
    committed = committed_by_all(evidence, holder)
    alike = [r for r in evidence.current if same_topic(holder, r) and not _apart(evidence, holder, r, start)]
    passed = _passed(alike, producer, start)
    if passed is None or damaged(holder, start, end) or (holder.high_watermark is not None and committed <= start):
        return None
    return LostEnd(
        broker=holder.broker,
        log_end_offset=end,
        producer_id=producer,
        begun=begun,
        passed=passed,
        committed=committed > start,
        verified=evidence.level != "quick",
    )


def _apart(evidence: PartitionEvidence, holder: Replica, other: Replica, start: int) -> bool:
    """Whether the other log parts from the holder's where the transaction begins: there it was replaced, not ended."""
    pair = {holder.path, other.path}
    return any({d.left.path, d.right.path} == pair and d.start_offset <= start for d in evidence.differences)


def _passed(replicas: Sequence[Replica], producer: int, start: int) -> Passed | None:
    """Who holds no marker behind the transaction's first offset, and went over it; null where nobody did."""
    over = [replica for replica in replicas if _went_over(replica, producer, start)]
    reached = {r.broker: c.offset for r in over if (c := r.cleaner_offset) and start < c.offset <= r.log_end_offset}
    if reached:
        return Passed(brokers=tuple(sorted(reached)), cleaned=min(reached.values()))
    return Passed(brokers=tuple(replica.broker for replica in over)) if over else None


def _went_over(replica: Replica, producer: int, start: int) -> bool:
    written = replica.log.transactions
    spans = replica.log_start_offset <= start < replica.log_end_offset
    if written.untold or not spans or damaged(replica, start, replica.log_end_offset):
        return False
    own = next((each for each in written.open if each.producer_id == producer), None)
    if own is not None and own.last_marker is not None and own.last_marker > start:
        return False
    lacks = own is None or own.begun is None or own.begun.offset > start
    return lacks or _cleaned_open(replica, start)


def _cleaned_open(replica: Replica, start: int) -> bool:
    """Whether its own cleaner passed what is open there; a running broker's checkpoint may be newer than its log."""
    claim = replica.cleaner_offset
    return replica.clean_shutdown is not None and claim is not None and start < claim.offset <= replica.log_end_offset
