"""The join of two neighbouring stretches of a log: associative, and exact at the border."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

from msgspec.structs import replace

from rules.facts.producers import join_fences, join_producers
from rules.facts.producing import ProducerFence, ProducerRun
from rules.facts.stretch import BucketDigest, EpochRun, LogFacts, OffsetStep, UnreadBytes
from rules.facts.transactions import join_transactions

KEEP: Final = 256
"""How many members a list of defects keeps; the rest is counted."""
KEEP_RUNS: Final = 4096
"""Epoch runs and producers kept: far more than clusters have, and few enough for bytes made to exhaust memory."""
_LAST: Final = (1 << 63) - 1


def join(left: LogFacts, right: LogFacts) -> LogFacts:
    """Facts of two neighbouring stretches of one log, `left` lying physically before `right`."""
    step = _border(left, right)
    epochs = _join_runs(left.epochs, right.epochs)
    merged = len(left.epochs) + len(right.epochs) - len(epochs)
    gap = step is not None and step.found > step.expected
    missing = step.found - step.expected if step is not None and gap else 0
    gaps = left.gaps + ((step,) if step is not None and gap else ()) + right.gaps
    overlaps = left.overlaps + ((step,) if step is not None and not gap else ()) + right.overlaps
    producers, fences = newest(
        join_producers(left.producers, left.fences, right.producers), join_fences(left.fences, right.fences)
    )
    return LogFacts(
        batches=left.batches + right.batches,
        records=left.records + right.records,
        bytes=left.bytes + right.bytes,
        checksums_verified=left.checksums_verified + right.checksums_verified,
        checksum_fault_count=left.checksum_fault_count + right.checksum_fault_count,
        header_fault_count=left.header_fault_count + right.header_fault_count,
        unread_count=left.unread_count + right.unread_count,
        sparse_batches=left.sparse_batches + right.sparse_batches,
        transactional_batches=left.transactional_batches + right.transactional_batches,
        control_batches=left.control_batches + right.control_batches,
        unknown_bases=left.unknown_bases + right.unknown_bases,
        first_offset=left.first_offset if left.batches else right.first_offset,
        end_offset=right.end_offset if right.batches else left.end_offset,
        last_base=right.last_base if right.batches else left.last_base,
        last_records=right.last_records if right.batches else left.last_records,
        min_timestamp=min((t for t in (left.min_timestamp, right.min_timestamp) if t is not None), default=None),
        max_timestamp=max((t for t in (left.max_timestamp, right.max_timestamp) if t is not None), default=None),
        magics=tuple(sorted({*left.magics, *right.magics})),
        epochs=first_and_last(epochs),
        epoch_count=left.epoch_count + right.epoch_count - merged,
        gaps=gaps[:KEEP],
        gap_count=left.gap_count + gap + right.gap_count,
        gap_offsets=min(left.gap_offsets + missing + right.gap_offsets, _LAST),
        overlaps=overlaps[:KEEP],
        overlap_count=left.overlap_count + (step is not None and not gap) + right.overlap_count,
        checksum_faults=(left.checksum_faults + right.checksum_faults)[:KEEP],
        header_faults=(left.header_faults + right.header_faults)[:KEEP],
        unread=_join_unread(left, right)[:KEEP],
        decoded_batches=left.decoded_batches + right.decoded_batches,
        undecodable=(left.undecodable + right.undecodable)[:KEEP],
        undecodable_count=left.undecodable_count + right.undecodable_count,
        digests=_join_digests(left.digests, right.digests),
        producers=producers,
        fences=fences,
        transactions=join_transactions(left.transactions, right.transactions, right.first_clock),
        first_clock=left.first_clock or right.first_clock,
        last_clock=right.last_clock or left.last_clock,
    )


def join_all(stretches: Iterable[LogFacts]) -> LogFacts:
    """The stretches of one log, given in physical order, as one; joined as a tree, so that long logs stay linear."""
    parts = list(stretches) or [LogFacts()]
    for _ in range((len(parts) - 1).bit_length()):
        pairs = zip_longest(parts[::2], parts[1::2])
        parts = [left if right is None else join(left, right) for left, right in pairs]
    return parts[0]


def first_and_last(runs: tuple[EpochRun, ...]) -> tuple[EpochRun, ...]:
    """Epoch runs as facts keep them: all, or the first ones and the last, which the next stretch may continue."""
    return runs if len(runs) <= KEEP_RUNS else (*runs[: KEEP_RUNS - 1], runs[-1])


def newest(
    runs: tuple[ProducerRun, ...], fences: tuple[ProducerFence, ...]
) -> tuple[tuple[ProducerRun, ...], tuple[ProducerFence, ...]]:
    """Producer runs and fences as facts keep them: those of the highest producer ids and epochs.

    Both are counted together, so that no run is kept without the fence before it, wherever a log is cut.
    """
    if len(runs) + len(fences) <= KEEP_RUNS:
        return runs, fences
    least = sorted({*map(_writer, runs), *map(_writer, fences)})[-KEEP_RUNS:][0]
    return tuple(run for run in runs if _writer(run) >= least), tuple(f for f in fences if _writer(f) >= least)


def _writer(written: ProducerRun | ProducerFence) -> tuple[int, int]:
    return written.producer_id, written.producer_epoch


def _border(left: LogFacts, right: LogFacts) -> OffsetStep | None:
    if left.end_offset is None or right.first_offset is None or left.end_offset == right.first_offset:
        return None
    before, after = left.epochs[-1], right.epochs[0]
    return OffsetStep(
        expected=left.end_offset,
        found=right.first_offset,
        epoch_before=before.epoch,
        epoch_after=after.epoch,
        before=before.last,
        base_before=left.last_base,
        records_before=left.last_records,
        after=after.first,
    )


def _join_runs(left: tuple[EpochRun, ...], right: tuple[EpochRun, ...]) -> tuple[EpochRun, ...]:
    if not left or not right or left[-1].epoch != right[0].epoch:
        return left + right
    merged = replace(
        left[-1], end_offset=right[0].end_offset, batches=left[-1].batches + right[0].batches, last=right[0].last
    )
    return (*left[:-1], merged, *right[1:])


def _join_unread(left: LogFacts, right: LogFacts) -> tuple[UnreadBytes, ...]:
    due, following = left.end_offset, right.epochs[0].start_offset if right.epochs else None
    ahead = (replace(u, next_offset=following) if u.next_offset is None else u for u in left.unread)
    behind = (replace(u, expected_offset=due) if u.expected_offset is None else u for u in right.unread)
    return (*ahead, *behind)


def _join_digests(left: tuple[BucketDigest, ...], right: tuple[BucketDigest, ...]) -> tuple[BucketDigest, ...]:
    if not left or not right or left[-1].bucket < right[0].bucket:
        return left + right
    sums: dict[int, tuple[int, int]] = {}
    for part in (*left, *right):
        batches, digest = sums.get(part.bucket, (0, 0))
        sums[part.bucket] = (batches + part.batches, _wrap(digest + part.digest))
    return tuple(BucketDigest(bucket=b, batches=n, digest=d) for b, (n, d) in sorted(sums.items()))


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
