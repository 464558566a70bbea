"""What stands around a batch, and what it says of the batch's header: the witnesses that `rules.headers` hears.

Each function names batches whose header its surroundings contradict, and what they say in the field's place. One
neighbour alone is no witness: two neighbours agree, or one agrees with a checkpoint, a name or another replica.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from parsers.provenance import Span
from rules.evidence import PartitionEvidence, Replica, same_topic
from rules.facts import EpochRun, OffsetStep, Stray, counted_end
from rules.zoom import BatchMark

_MAGIC_2: Final = 2


def ordered_steps(replica: Replica) -> list[OffsetStep]:
    """The gaps and overlaps of a log in physical order."""
    order = {segment.source: place for place, segment in enumerate(replica.segments)}
    steps = (*replica.log.gaps, *replica.log.overlaps)
    return sorted(steps, key=lambda step: (order.get(step.after.source, 0), step.after.source, step.after.start))


def end_claims(replica: Replica, evidence: PartitionEvidence) -> frozenset[int]:
    """Offsets at which something other than the batches says that this log, or a peer's, ends or ended."""
    own = (replica.recovery_point, replica.high_watermark, *replica.snapshot_offsets)
    peers = (r for r in evidence.current if r is not replica and same_topic(r, replica))
    return frozenset({claim.offset for claim in own if claim is not None} | {peer.log_end_offset for peer in peers})


def misplaced(replica: Replica, evidence: PartitionEvidence) -> Iterator[Stray]:
    """Batches that do not stand where their base offset, or end where their last offset says; with their true place."""
    steps = ordered_steps(replica)
    claims = end_claims(replica, evidence)
    yield from _between(steps)
    yield from _counted(steps)
    yield from _first(replica, steps)
    yield from _last(replica, steps, claims)
    yield from _elsewhere(replica, steps, evidence)


def _between(steps: Sequence[OffsetStep]) -> Iterator[Stray]:
    """Two steps around one batch that cancel each other out: its neighbours continue without it."""
    for before, behind in pairwise(steps):
        length = behind.expected - before.found
        if before.after == behind.before and length > 0 and before.expected + length == behind.found:
            yield _at("base offset", before.expected, behind.found, before.after)


def _counted(steps: Sequence[OffsetStep]) -> Iterator[Stray]:
    """A batch behind whose records, not behind whose last offset, the next one continues."""
    for step in steps:
        if step.counted == step.found != step.expected and step.base_before is not None and step.base_before >= 0:
            yield _at("last offset", step.base_before, step.found, step.before)


def _first(replica: Replica, steps: Sequence[OffsetStep]) -> Iterator[Stray]:
    """The first batch, which the next one and the segment's name or the log's beginning place elsewhere."""
    log = replica.log
    for step in steps:
        if not replica.segments or log.first_offset is None or step.before != log.epochs[0].first:
            continue
        length = step.expected - log.first_offset
        start = step.found - length
        begins = {replica.segments[0].base_offset, *(entry.start_offset for entry in replica.epoch_file.entries[:1])}
        if length > 0 and start in begins and log.first_offset not in begins:
            yield _at("base offset", start, step.found, step.before)


def _last(replica: Replica, steps: Sequence[OffsetStep], claims: frozenset[int]) -> Iterator[Stray]:
    """The last batch, which the one before it and what claims to know the log's end place elsewhere."""
    log = replica.log
    if log.end_offset is None or log.end_offset in claims:
        return
    last = log.epochs[-1].last
    # Holes are everyday in a compacted log: only the end that an orderly stop wrote down tells that there was none.
    stopped = {replica.recovery_point.offset} if replica.clean_shutdown and replica.recovery_point else frozenset[int]()
    for step in steps:
        end = step.expected + (log.end_offset - step.found if step.found >= 0 else log.last_records or 0)
        if step.after == last and step.expected < end and end in (claims if step.found < step.expected else stopped):
            yield _at("base offset", step.expected, end, last)
            return
    counted, base = counted_end(log.last_base, log.last_records), log.last_base
    heard = counted in claims or any(fault.span == last for fault in log.header_faults)
    if counted is not None and base is not None and base >= 0 and counted != log.end_offset and heard:
        yield _at("last offset", base, counted, last)


def _at(field: str, start: int, end: int, span: Span) -> Stray:
    return Stray(field=field, start_offset=start, end_offset=end, span=span)


def _elsewhere(replica: Replica, steps: Sequence[OffsetStep], evidence: PartitionEvidence) -> Iterator[Stray]:
    """Batches beside a step that another replica holds at another base offset, beside none."""
    beside = {span for step in steps for span in (step.before, step.after)}
    for mark, twin, peer in _twins(replica, beside, evidence) if beside else ():
        apart = {span for step in ordered_steps(peer) for span in (step.before, step.after)}
        if twin.base_offset != mark.base_offset and twin.span not in apart:
            yield _at("base offset", twin.base_offset, twin.end_offset, mark.span)


def _twins(
    replica: Replica, spans: Iterable[Span], evidence: PartitionEvidence
) -> Iterator[tuple[BatchMark, BatchMark, Replica]]:
    """Batches of a replica that were read again, each with the only one of its bytes on another replica."""
    wanted = set(spans)
    marks = [mark for zoom in replica.zooms for mark in zoom.batches if mark.span in wanted and _summed(mark)]
    for peer in evidence.current if marks else ():
        if peer is replica or not same_topic(peer, replica):
            continue
        theirs: dict[tuple[int, int, int], list[BatchMark]] = {}
        for mark in (mark for zoom in peer.zooms for mark in zoom.batches if _summed(mark)):
            theirs.setdefault(_content(mark), []).append(mark)
        for mark in marks:
            found = theirs.get(_content(mark), ())
            if len(found) == 1:
                yield mark, found[0], peer


def _summed(mark: BatchMark) -> bool:
    """Whether the checksum of a batch covers its last offset, and holds as far as anybody has looked."""
    return mark.crc_valid is not False and mark.magic >= _MAGIC_2 and mark.base_offset >= 0


def _content(mark: BatchMark) -> tuple[int, int, int]:
    """What the checksum covers, as far as two batches are compared by it."""
    return mark.crc, mark.size, mark.end_offset - mark.base_offset


def foreign_epochs(replica: Replica, evidence: PartitionEvidence) -> Iterator[tuple[EpochRun, int]]:
    """Runs of one batch whose epoch its surroundings contradict, and the epoch that they give it."""
    runs = replica.log.epochs if len(replica.log.epochs) > 1 else ()
    lone = [at for at, run in enumerate(runs) if run.batches == 1 and run.epoch != _epoch_of(replica, run)]
    if not lone:
        return
    told: dict[Span, set[int]] = {}
    for mark, twin, _ in _twins(replica, [runs[place].first for place in lone], evidence):
        told.setdefault(mark.span, set()).add(twin.leader_epoch)
    for place in lone:
        run, twins = runs[place], told.get(runs[place].first, set())
        if run.epoch in twins or _held_alike(replica, run, evidence):
            continue
        before = runs[place - 1].epoch if place else None
        behind = runs[place + 1].epoch if place + 1 < len(runs) else None
        epoch = _testified(replica, run, before, behind, twins)
        if epoch is not None:
            yield run, epoch


def _epoch_of(replica: Replica, run: EpochRun) -> int | None:
    """The epoch that the leader-epoch-checkpoint gives to the first served offset of a run."""
    first = max(run.start_offset, replica.log_start_offset)
    covering = [e.epoch for e in replica.epoch_file.entries if e.start_offset <= first]
    return covering[-1] if covering and replica.epoch_file.state == "entries" else None


def _held_alike(replica: Replica, run: EpochRun, evidence: PartitionEvidence) -> bool:
    """Whether another replica holds the same, header and all: their digests were equal, so nothing was read again."""
    if any(mark.span == run.first for zoom in replica.zooms for mark in zoom.batches):
        return False
    peers = (r for r in evidence.current if r is not replica and same_topic(r, replica) and r.log.batches)
    return any(r.log_start_offset <= run.start_offset and run.end_offset <= r.log_end_offset for r in peers)


def _testified(
    replica: Replica, run: EpochRun, before: int | None, behind: int | None, twins: Collection[int]
) -> int | None:
    """A neighbour's epoch that another witness gives to the batch too; the other neighbour is one."""
    on_file = _epoch_of(replica, run)
    around = [epoch for epoch in (before, behind) if epoch is not None and epoch >= 0]
    if before is not None and before == behind and before >= 0:
        known = {entry.epoch for entry in replica.epoch_file.entries}
        return before if before in twins or before == on_file or run.epoch not in known else None
    falls = run.epoch < 0 or (before is not None and run.epoch < before) or (behind is not None and run.epoch > behind)
    return next((epoch for epoch in around if epoch in twins or (falls and epoch == on_file)), None)
