"""Where to look for differing contents: digests of buckets of offsets are compared, unequal buckets are read again.

What was read again is compared in `rules.zoom.differences`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct

from rules.evidence import Level, PartitionEvidence, Replica
from rules.facts.read_again import BatchMark, Zoom
from rules.facts.stretch import BUCKET_OFFSETS

BUCKETS_ZOOMED: Final[Mapping[Level, int]] = {"quick": 32, "full": 32, "deep": 512}
"""Unequal buckets read again at either end of the unequal stretch; what lies between is told by its bounds."""

ReplicaKey = tuple[int, str, str]


class ZoomRequest(Struct, frozen=True, kw_only=True):
    """A range of a replica's log to be read again."""

    broker: int
    log_dir: str
    path: str
    start_offset: int
    end_offset: int


def replica_key(replica: Replica) -> ReplicaKey:
    """What tells the replicas of one partition apart."""
    return replica.broker, replica.log_dir, replica.path


def shared_range(left: Replica, right: Replica) -> tuple[int, int]:
    """Offsets that both replicas should hold: from the higher log start to the lower log end."""
    return max(left.log_start_offset, right.log_start_offset), min(left.log_end_offset, right.log_end_offset)


def unequal_buckets(left: Replica, right: Replica) -> tuple[int, ...]:
    """Buckets within the shared range whose digests differ."""
    start, end = shared_range(left, right)
    if start >= end:
        return ()
    first, last = start // BUCKET_OFFSETS, (end - 1) // BUCKET_OFFSETS
    if all(replica.log.first_offset is None or replica.log.first_offset < start for replica in (left, right)):
        # Both hold more than they serve: a batch around the first shared offset may begin one bucket earlier.
        first -= 1
    ours = {d.bucket: (d.batches, d.digest) for d in left.log.digests if first <= d.bucket <= last}
    theirs = {d.bucket: (d.batches, d.digest) for d in right.log.digests if first <= d.bucket <= last}
    return tuple(sorted(bucket for bucket in ours.keys() | theirs.keys() if ours.get(bucket) != theirs.get(bucket)))


def wanted(evidence: PartitionEvidence) -> tuple[ZoomRequest, ...]:
    """What must be read again before the partition can be judged; a replica's requests are disjoint and ascending."""
    buckets: dict[ReplicaKey, set[int]] = {}
    limit = BUCKETS_ZOOMED[evidence.level]
    for left, right in evidence.pairs:
        unequal = unequal_buckets(left, right)
        chosen = set(unequal[:limit]) | set(unequal[-limit:])
        for replica in (left, right):
            buckets.setdefault(replica_key(replica), set()).update(chosen)
    return tuple(
        ZoomRequest(broker=broker, log_dir=log_dir, path=path, start_offset=start, end_offset=end)
        for (broker, log_dir, path), chosen in buckets.items()
        for start, end in _ranges(sorted(chosen))
    )


def _ranges(buckets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring buckets as ranges of offsets."""
    start = 0
    for index, bucket in enumerate(buckets):
        if index == 0 or buckets[index - 1] != bucket - 1:
            start = bucket
        if index + 1 == len(buckets) or buckets[index + 1] != bucket + 1:
            yield start * BUCKET_OFFSETS, (bucket + 1) * BUCKET_OFFSETS


def unread_buckets(left: Replica, right: Replica) -> tuple[int, ...]:
    """Unequal buckets not read again on both sides, so that their difference is neither proved nor excused."""
    sides = [[(zoom.start_offset, _seen_to(zoom)) for zoom in replica.zooms] for replica in (left, right)]
    return tuple(
        bucket
        for bucket in unequal_buckets(left, right)
        if not all(any(a <= bucket * BUCKET_OFFSETS and _end(bucket) <= b for a, b in zooms) for zooms in sides)
    )


def _end(bucket: int) -> int:
    return (bucket + 1) * BUCKET_OFFSETS


def _seen_to(zoom: Zoom) -> int:
    return zoom.end_offset if zoom.complete else max((batch.base_offset for batch in zoom.batches), default=0)


def identity(batch: BatchMark) -> tuple[int, int, int, int, int, int]:
    """What two copies of one batch share, wherever they lie."""
    return batch.base_offset, batch.end_offset, batch.leader_epoch, batch.magic, batch.size, batch.crc


def in_range(zooms: Sequence[Zoom], start: int, end: int) -> tuple[BatchMark, ...]:
    """Batches of the zooms that hold offsets of `[start, end)`, by their first offset, each once."""
    found = {
        (batch.span.source, batch.span.start): batch
        for zoom in zooms
        for batch in zoom.batches
        if batch.base_offset < end and batch.end_offset > start
    }
    return tuple(sorted(found.values(), key=lambda batch: (batch.base_offset, batch.span.source, batch.span.start)))


def unlike(ours: Sequence[BatchMark], theirs: Sequence[BatchMark]) -> tuple[list[BatchMark], list[BatchMark]]:
    """Of two logs the batches that only one holds, and those that both hold where such a one lies over them.

    The latter a log shows that took a batch beginning below its end, as after a cut inside it: it holds offsets twice.
    """
    same = {identity(batch) for batch in ours} & {identity(batch) for batch in theirs}
    alone = sorted({(b.base_offset, b.end_offset) for b in (*ours, *theirs) if identity(b) not in same})
    ends = list(accumulate((end for _, end in alone), max))

    def judged(batch: BatchMark) -> bool:
        before = bisect_left(alone, (batch.end_offset, 0))
        return identity(batch) not in same or (before > 0 and ends[before - 1] > batch.base_offset)

    return [b for b in ours if judged(b)], [b for b in theirs if judged(b)]


def to_decode(evidence: PartitionEvidence) -> dict[ReplicaKey, tuple[BatchMark, ...]]:
    """Batches that must be decoded record by record: those of a zoom that a comparable replica does not hold alike."""
    chosen: dict[ReplicaKey, dict[tuple[str, int], BatchMark]] = {}
    for left, right in evidence.pairs:
        start, end = shared_range(left, right)
        ours, theirs = in_range(left.zooms, start, end), in_range(right.zooms, start, end)
        for replica, batches in zip((left, right), unlike(ours, theirs), strict=True):
            own = chosen.setdefault(replica_key(replica), {})
            own.update({(b.span.source, b.span.start): b for b in batches})
    return {key: tuple(own.values()) for key, own in chosen.items()}
