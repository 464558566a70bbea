"""Where the contents of two replicas differ: digests say where to look, a zoom says what is there.

Digests of buckets of offsets are compared first; only unequal buckets are read again (`wanted`). What is read again is
compared batch by batch, and record by record where batches may lawfully differ in their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rules.evidence import Difference, PartitionEvidence, Replica, Uncompared
from rules.narrow import BUCKET_OFFSETS
from rules.zoom import BatchMark, RecordMark, Zoom

BUCKETS_ZOOMED: Final = 32
"""Unequal buckets read again at either end of the unequal stretch; what lies between is told by its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoomRequest:
    """A range of a replica's log to be read again."""

    broker: int
    log_dir: str
    path: str
    start_offset: int
    end_offset: int


def common_range(left: Replica, right: Replica) -> tuple[int, int]:
    """Offsets that both replicas should hold: from the higher log start to the lower log end."""
    return max(left.log_start_offset, right.log_start_offset), min(left.log_end_offset, right.log_end_offset)


def unequal_buckets(left: Replica, right: Replica) -> tuple[int, ...]:
    """Buckets within the common range whose digests differ."""
    start, end = common_range(left, right)
    if start >= end:
        return ()
    first, last = start // BUCKET_OFFSETS, (end - 1) // BUCKET_OFFSETS
    ours = {d.bucket: (d.batches, d.digest) for d in left.log.digests if first <= d.bucket <= last}
    theirs = {d.bucket: (d.batches, d.digest) for d in right.log.digests if first <= d.bucket <= last}
    return tuple(sorted(bucket for bucket in ours.keys() | theirs.keys() if ours.get(bucket) != theirs.get(bucket)))


def wanted(evidence: PartitionEvidence) -> tuple[ZoomRequest, ...]:
    """What must be read again before the partition can be judged; each replica's requests are disjoint and ascending."""
    buckets: dict[tuple[int, str, str], set[int]] = {}
    for left, right in evidence.pairs:
        unequal = unequal_buckets(left, right)
        chosen = set(unequal[:BUCKETS_ZOOMED]) | set(unequal[-BUCKETS_ZOOMED:])
        for replica in (left, right):
            buckets.setdefault((replica.broker, replica.log_dir, replica.path), set()).update(chosen)
    return tuple(
        ZoomRequest(broker=broker, log_dir=log_dir, path=path, start_offset=start, end_offset=end)
        for (broker, log_dir, path), chosen in buckets.items()
        for start, end in _ranges(sorted(chosen))
    )


def to_decode(evidence: PartitionEvidence) -> dict[tuple[int, str, str], tuple[BatchMark, ...]]:
    """Batches that must be decoded record by record: those of a zoom that a comparable replica does not hold alike."""
    chosen: dict[tuple[int, str, str], dict[tuple[str, int], BatchMark]] = {}
    for left, right in evidence.pairs:
        start, end = common_range(left, right)
        ours, theirs = _in_range(left.zooms, start, end).batches, _in_range(right.zooms, start, end).batches
        same = {_identity(b) for b in ours} & {_identity(b) for b in theirs}
        for replica, batches in ((left, ours), (right, theirs)):
            own = chosen.setdefault((replica.broker, replica.log_dir, replica.path), {})
            own.update({(b.span.source, b.span.start): b for b in batches if _identity(b) not in same})
    return {key: tuple(own.values()) for key, own in chosen.items()}


def _ranges(buckets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring buckets as ranges of offsets; a batch may begin one bucket before the offsets it holds."""
    for index, bucket in enumerate(buckets):
        if index == 0 or buckets[index - 1] != bucket - 1:
            start = bucket
        if index + 1 == len(buckets) or buckets[index + 1] != bucket + 1:
            yield start * BUCKET_OFFSETS, (bucket + 1) * BUCKET_OFFSETS


def undecided_buckets(left: Replica, right: Replica) -> tuple[int, ...]:
    """Unequal buckets that nothing was read of, so that their difference is neither proved nor excused."""
    covered = [zoom for zoom in left.zooms if any(z.start_offset == zoom.start_offset for z in right.zooms)]
    seen = [(zoom.start_offset, zoom.end_offset) for zoom in covered]
    return tuple(
        bucket
        for bucket in unequal_buckets(left, right)
        if not any(start <= bucket * BUCKET_OFFSETS < end for start, end in seen)
    )


def differences(left: Replica, right: Replica) -> tuple[Difference, ...]:
    """Every run of offsets at which both replicas hold records, and other ones."""
    start, end = common_range(left, right)
    ours, theirs = (_in_range(replica.zooms, start, end) for replica in (left, right))
    conflicts = sorted(_clip(_conflicts(ours, theirs), start, end))
    if not conflicts:
        return ()
    # Where contents differ at both ends of an unequal stretch, the buckets between them, left unread, differ too.
    unread = [(b * BUCKET_OFFSETS, (b + 1) * BUCKET_OFFSETS) for b in undecided_buckets(left, right)]
    told = [_Conflict(a, b, conflicts[0].same_epoch, exact=False) for a, b in unread if conflicts[0].start < a]
    runs = _merge(sorted([*conflicts, *_clip(told, start, conflicts[-1].end)]))
    return tuple(_difference(left, right, run) for run in runs)


@dataclass(frozen=True, slots=True)
class _Content:
    batches: tuple[BatchMark, ...]
    records: dict[int, RecordMark] | None


def _in_range(zooms: Iterable[Zoom], start: int, end: int) -> _Content:
    touched = [zoom for zoom in zooms if zoom.start_offset < end and zoom.end_offset > start]
    batches = tuple(b for zoom in touched for b in zoom.batches if b.base_offset < end and b.end_offset > start)
    records = {r.offset: r for zoom in touched for r in zoom.records} if all(z.decoded for z in touched) else None
    return _Content(batches, records)


@dataclass(frozen=True, slots=True, order=True)
class _Conflict:
    start: int
    end: int
    same_epoch: bool
    exact: bool = True


def _conflicts(left: _Content, right: _Content) -> Iterator[_Conflict]:
    same = {_identity(b) for b in left.batches} & {_identity(b) for b in right.batches}
    ours = [b for b in left.batches if _identity(b) not in same and b.crc_valid is not False]
    theirs = [b for b in right.batches if _identity(b) not in same and b.crc_valid is not False]
    if left.records is None or right.records is None:
        yield from _overlaps(ours, theirs)
        return
    mine, other = _offsets(ours, left.records), _offsets(theirs, right.records)
    for offset in mine.keys() & other.keys():
        if not same_record(mine[offset], other[offset]):
            same_epoch = mine[offset].leader_epoch == other[offset].leader_epoch >= 0
            yield _Conflict(offset, offset + 1, same_epoch)


def _identity(batch: BatchMark) -> tuple[int, int, int, int, int, int]:
    return batch.base_offset, batch.end_offset, batch.leader_epoch, batch.magic, batch.size, batch.crc


def _offsets(batches: Iterable[BatchMark], records: dict[int, RecordMark]) -> dict[int, RecordMark]:
    spans = {(batch.span.source, batch.span.start) for batch in batches}
    return {o: record for o, record in records.items() if (record.span.source, record.span.start) in spans}


def same_record(left: RecordMark, right: RecordMark) -> bool:
    """Whether two records at one offset are the same one; headers count only where both formats can carry them."""
    if left.content_hash != right.content_hash or left.control_type != right.control_type:
        return False
    return left.headers_hash == right.headers_hash or left.legacy or right.legacy


def _overlaps(left: Sequence[BatchMark], right: Sequence[BatchMark]) -> Iterator[_Conflict]:
    """Offsets covered by unequal batches of both sides."""
    theirs = sorted(right, key=lambda batch: batch.base_offset)
    index = 0
    for batch in sorted(left, key=lambda batch: batch.base_offset):
        while index < len(theirs) and theirs[index].end_offset <= batch.base_offset:
            index += 1
        for other in theirs[index:]:
            if other.base_offset >= batch.end_offset:
                break
            start, end = max(batch.base_offset, other.base_offset), min(batch.end_offset, other.end_offset)
            yield _Conflict(start, end, batch.leader_epoch == other.leader_epoch >= 0)


def _clip(conflicts: Iterable[_Conflict], start: int, end: int) -> Iterator[_Conflict]:
    for run in conflicts:
        if max(run.start, start) < min(run.end, end):
            yield replace(run, start=max(run.start, start), end=min(run.end, end))


def _merge(conflicts: Iterable[_Conflict]) -> Iterator[_Conflict]:
    """Neighbouring conflicts of one kind as one run; the input ascends."""
    current: _Conflict | None = None
    for run in conflicts:
        if current is not None and run.start <= current.end and run.same_epoch == current.same_epoch:
            end, exact = max(current.end, run.end), current.exact and run.exact
            current = replace(current, end=end, exact=exact)
            continue
        if current is not None:
            yield current
        current = run
    if current is not None:
        yield current


def _difference(left: Replica, right: Replica, run: _Conflict) -> Difference:
    ours, theirs = (_in_range(replica.zooms, run.start, run.end).batches for replica in (left, right))
    return Difference(
        left=left,
        right=right,
        start_offset=run.start,
        end_offset=run.end,
        same_epoch=run.same_epoch,
        left_epochs=tuple(sorted({batch.leader_epoch for batch in ours})),
        right_epochs=tuple(sorted({batch.leader_epoch for batch in theirs})),
        left_batches=ours,
        right_batches=theirs,
        exact=run.exact,
    )


def with_differences(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with everything that comparing its replicas says."""
    found = tuple(difference for left, right in evidence.pairs for difference in differences(left, right))
    unread = tuple(gap for left, right in evidence.pairs for gap in _uncompared(left, right, evidence))
    return replace(evidence, differences=found, uncompared=unread)


def _uncompared(left: Replica, right: Replica, evidence: PartitionEvidence) -> Iterator[Uncompared]:
    start, end = common_range(left, right)
    zoomed = left.zooms and right.zooms
    for low, high in _ranges(undecided_buckets(left, right)):
        if max(low, start) < min(high, end) and not zoomed:
            reason = "their digests differ and their batches were not read again"
            yield Uncompared(
                left=left, right=right, start_offset=max(low, start), end_offset=min(high, end), reason=reason
            )
    if evidence.compacted and zoomed and not all(zoom.decoded for zoom in (*left.zooms, *right.zooms)):
        reason = "the log cleaner was here, and records were not decoded at this level"
        yield Uncompared(left=left, right=right, start_offset=start, end_offset=end, reason=reason)
