"""What differs where replicas were read again: batch by batch, and record by record where bytes may lawfully differ."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, structs
from msgspec.structs import replace

from rules.evidence import Difference, PartitionEvidence, Replica, Uncompared
from rules.facts.read_again import BatchMark, RecordMark
from rules.facts.stretch import BUCKET_OFFSETS
from rules.history.moments import ROLE_KINDS
from rules.protocol.steps import StepLimit
from rules.replicas.lives import may_be_two_lives
from rules.zoom.unequal_buckets import identity, in_range, shared_range, unequal_buckets, unlike, unread_buckets

RUNS_TOLD: Final = 256
"""Differing runs told one by one; the rest of a pair's becomes one run from the first to the last of them."""


class _DifferingRun(Struct, frozen=True, order=True):
    start: int
    end: int
    same_epoch: bool
    exact: bool = True


class _Side(Struct, frozen=True):
    """What one replica shows of the shared range."""

    batches: tuple[BatchMark, ...]
    records: dict[int, RecordMark] | None
    """Records of the batches that were decoded; null where not all were that had to be."""
    undecodable: frozenset[tuple[str, int]]

    def within(self, run: _DifferingRun) -> tuple[BatchMark, ...]:
        """The batches that hold offsets of a run; they ascend."""
        first = bisect_right(self.batches, run.start, key=lambda batch: batch.end_offset)
        end = bisect_left(self.batches, run.end, key=lambda batch: batch.base_offset)
        return self.batches[first:end]


def with_differences(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with everything that comparing its replicas says; as it is where that is nothing new."""
    compared = [_compare(left, right, evidence) for left, right in evidence.pairs if unequal_buckets(left, right)]
    differences = tuple(difference for found, _ in compared for difference in found)
    uncompared = tuple(gap for _, gaps in compared for gap in gaps)
    if (differences, uncompared) == (evidence.differences, evidence.uncompared):
        return evidence
    return replace(evidence, differences=differences, uncompared=uncompared)


def _compare(
    left: Replica, right: Replica, evidence: PartitionEvidence
) -> tuple[list[Difference], list[Uncompared]]:
    start, end = shared_range(left, right)
    if may_be_two_lives(left, right) and not _tell_their_roles(evidence, left, right):
        return [], [_of_two_lives(left, right)]
    ours, theirs = _side(left, start, end), _side(right, start, end)
    conflicts, agreed, blind = _conflicts(left, right, ours, theirs, compacted=evidence.compacted)
    clipped = sorted(_clip(conflicts, start, end))
    unread = [(b * BUCKET_OFFSETS, (b + 1) * BUCKET_OFFSETS) for b in unread_buckets(left, right)]
    inferred: list[_DifferingRun] = []
    if clipped and not evidence.compacted:
        # Where contents differ at both ends of an unequal stretch, the buckets between them, left unread, differ too.
        first, last = clipped[0], clipped[-1]
        between = [(a, b) for a, b in unread if first.start < a and b <= last.end]
        inferred = [_DifferingRun(a, b, first.same_epoch, exact=False) for a, b in between]
    untold = [(a, b) for a, b in unread if (a, b) not in {(run.start, run.end) for run in inferred}]
    runs = _few(list(_merge(sorted([*clipped, *inferred]), sorted([*agreed, *(a for a, _ in untold)]))))
    found = [_difference(left, right, run, ours.within(run), theirs.within(run)) for run in runs]
    return found, list(_uncompared(left, right, evidence, untold, blind=blind))


def _tell_their_roles(evidence: PartitionEvidence, *replicas: Replica) -> bool:
    tellers = {moment.witness for moment in evidence.moments if moment.kind in ROLE_KINDS}
    return all(replica.broker in tellers for replica in replicas)


def _of_two_lives(left: Replica, right: Replica) -> Uncompared:
    start, end = shared_range(left, right)
    reason = "all records of one are older than those of the other, as where a topic was deleted and created again"
    missing = "topic ids (partition.metadata), or the logs of both brokers, which tell of a topic's deletion"
    return Uncompared(
        left=left, right=right, start_offset=start, end_offset=end, reason=reason, missing=missing, blocking=True
    )


def _side(replica: Replica, start: int, end: int) -> _Side:
    decoded = all(zoom.decoded for zoom in replica.zooms)
    return _Side(
        batches=in_range(replica.zooms, start, end),
        records=_first_read(replica) if decoded else None,
        undecodable=frozenset((u.span.source, u.span.start) for zoom in replica.zooms for u in zoom.undecodable),
    )


def _first_read(replica: Replica) -> dict[int, RecordMark]:
    """Records by offset: where a log holds an offset twice, the one that a consumer comes to first."""
    records = [record for zoom in replica.zooms for record in zoom.records]
    records.sort(key=lambda record: (record.span.source, record.span.start), reverse=True)
    return {record.offset: record for record in records}


def _conflicts(
    left: Replica, right: Replica, ours: _Side, theirs: _Side, *, compacted: bool
) -> tuple[list[_DifferingRun], list[int], bool]:
    """Conflicting runs, offsets at which both sides agree, and whether some batches could not be judged."""
    apart = unlike(ours.batches, theirs.batches)
    unequal = {identity(batch) for batch in apart[0]}
    same = {identity(b) for b in ours.batches} & {identity(b) for b in theirs.batches} - unequal
    agreed = [base for base, *_ in same]
    mine = [batch for batch in apart[0] if _believable(batch, left)]
    other = [batch for batch in apart[1] if _believable(batch, right)]
    if ours.records is None or theirs.records is None:
        dense = max(left.dense_from, right.dense_from) if compacted else 0
        judged = [b for b in mine if b.base_offset >= dense], [b for b in other if b.base_offset >= dense]
        converted = len({b.magic for b in (*mine, *other)}) > 1
        blind = converted or len(judged[0]) < len(mine) or len(judged[1]) < len(other)
        return ([] if converted else list(_overlaps(*judged))), agreed, blind
    runs = [*_overlaps(_broken(mine, ours), other), *_overlaps(mine, _broken(other, theirs))]
    held, held_there = _records(mine, ours.records), _records(other, theirs.records)
    for offset in held.keys() & held_there.keys():
        one, two = held[offset], held_there[offset]
        if same_record(one, two):
            agreed.append(offset)
        else:
            runs.append(_DifferingRun(offset, offset + 1, one.leader_epoch == two.leader_epoch >= 0))
    return runs, agreed, False


def _believable(batch: BatchMark, replica: Replica) -> bool:
    return batch.crc_valid is not False and all(stray.span != batch.span for stray in replica.strays)


def _broken(batches: Iterable[BatchMark], side: _Side) -> list[BatchMark]:
    """Batches with a good checksum that could not be decoded: their bytes are all there is to compare."""
    return [batch for batch in batches if (batch.span.source, batch.span.start) in side.undecodable]


def _records(batches: Iterable[BatchMark], records: dict[int, RecordMark]) -> dict[int, RecordMark]:
    spans = {(batch.span.source, batch.span.start) for batch in batches}
    return {o: record for o, record in records.items() if (record.span.source, record.span.start) in spans}


def same_record(left: RecordMark, right: RecordMark) -> bool:
    """Whether two records at one offset are the same one; what only one side's format can carry does not count.

    Format 1 has no headers and no producers, format 0 has no timestamp either.
    """
    if left.control_type != right.control_type:
        return False
    if left.written != right.written and not (left.legacy or right.legacy):
        return False
    if any(side.legacy and side.timestamp < 0 for side in (left, right)) and left.timestamp != right.timestamp:
        return (left.key_hash, left.value_size) == (right.key_hash, right.value_size)
    if left.content_hash != right.content_hash:
        return False
    return left.headers_hash == right.headers_hash or left.legacy or right.legacy


def _overlaps(left: Sequence[BatchMark], right: Sequence[BatchMark]) -> Iterator[_DifferingRun]:
    """Offsets covered by batches of both sides; both ascend."""
    index = 0
    bound = StepLimit(len(right), "laying the batches of two logs side by side")
    for batch in left:
        while index < len(right) and right[index].end_offset <= batch.base_offset:
            bound.step()
            index += 1
        for place in range(index, len(right)):
            other = right[place]
            if other.base_offset >= batch.end_offset:
                break
            start, end = max(batch.base_offset, other.base_offset), min(batch.end_offset, other.end_offset)
            if start < end and identity(batch) != identity(other):
                yield _DifferingRun(start, end, batch.leader_epoch == other.leader_epoch >= 0)


def _clip(conflicts: Iterable[_DifferingRun], start: int, end: int) -> Iterator[_DifferingRun]:
    for run in conflicts:
        if max(run.start, start) < min(run.end, end):
            yield structs.replace(run, start=max(run.start, start), end=min(run.end, end))


def _merge(conflicts: Iterable[_DifferingRun], agreed: Sequence[int]) -> Iterator[_DifferingRun]:
    """Conflicts of one kind as one run, unless both sides agree on something between them; the input ascends."""
    current: _DifferingRun | None = None
    for run in conflicts:
        alike = current is not None and run.same_epoch == current.same_epoch
        if current is not None and alike and not _between(agreed, current.end, run.start):
            current = structs.replace(current, end=max(current.end, run.end), exact=current.exact and run.exact)
            continue
        if current is not None:
            yield current
        current = run
    if current is not None:
        yield current


def _between(agreed: Sequence[int], start: int, end: int) -> bool:
    place = bisect_left(agreed, start)
    return place < len(agreed) and agreed[place] < end


def _few(runs: list[_DifferingRun]) -> list[_DifferingRun]:
    if len(runs) <= RUNS_TOLD:
        return runs
    rest = runs[RUNS_TOLD - 1 :]
    return [*runs[: RUNS_TOLD - 1], structs.replace(rest[0], end=max(run.end for run in rest), exact=False)]


def _uncompared(
    left: Replica, right: Replica, evidence: PartitionEvidence, unread: Sequence[tuple[int, int]], *, blind: bool
) -> Iterator[Uncompared]:
    start, end = shared_range(left, right)
    if blind:
        reason = "their batches differ as cleaning or conversion lets them, and records were not decoded"
        missing = "audit again at level full" if evidence.level == "quick" else "audit this partition at level deep"
        yield Uncompared(
            left=left, right=right, start_offset=start, end_offset=end, reason=reason, missing=missing,
            blocking=evidence.level == "quick" or not evidence.compacted,
        )  # fmt: skip
    elif unread:
        deep = bool(left.zooms and right.zooms)
        yield Uncompared(
            left=left,
            right=right,
            start_offset=max(unread[0][0], start),
            end_offset=min(unread[-1][1], end),
            reason="their digests differ and not all of their batches were read again",
            missing="audit this partition at level deep" if deep else "the segments of both",
            blocking=not (deep and evidence.compacted),
        )


def _difference(
    left: Replica,
    right: Replica,
    run: _DifferingRun,
    ours: tuple[BatchMark, ...],
    theirs: tuple[BatchMark, ...],
) -> Difference:
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
