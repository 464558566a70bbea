"""What stands around a batch, and what it says of the batch's header: the witnesses that `rules.zoom.headers` hears.

Each function names batches whose header its surroundings contradict, and what they say in the field's place. One
neighbour alone is no witness: two neighbours agree, or one agrees with a checkpoint, a name or another replica.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from parsers.provenance import Span
from rules.evidence import COMPACTED_TOPICS, PartitionEvidence, Replica, same_topic
from rules.facts.read_again import BatchMark
from rules.facts.stretch import BATCH_HEADER, EpochRun, OffsetStep, Stray, counted_end

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


def misplaced(replica: Replica, evidence: PartitionEvidence) -> dict[Span, Stray]:
    """Batches that do not stand where their base offset, or end where their last offset says; with their true place.

    Witnesses are heard in the order of what they know: of two batches that could both be the one that strays, the one
    is told whose true place is known.
    """
    steps = ordered_steps(replica)
    if not replica.log.batches:
        return {}
    claims = end_claims(replica, evidence)
    found: dict[Span, Stray] = {}
    witnesses = (
        _elsewhere(replica, steps, evidence),
        _between(replica, steps, exact=True),
        _first(replica, steps),
        _last(replica, steps, claims),
        _open_end(replica, evidence, claims),
        _counted(steps),
        _between(replica, steps, exact=False),
    )
    for witness in witnesses:
        for stray in list(witness):
            beside = [(step.before, step.after) for step in steps if stray.span in (step.before, step.after)]
            if not any(span in found for pair in beside for span in pair):
                found[stray.span] = stray
    return found


def _between(replica: Replica, steps: Sequence[OffsetStep], *, exact: bool) -> Iterator[Stray]:
    """Two steps around one batch, back at one of them: without it its neighbours ascend, and leave room for it."""
    begun = [entry.start_offset for entry in replica.epoch_file.entries]
    for before, behind in pairwise(steps):
        length, room = behind.expected - before.found, behind.found - before.expected
        back = before.found < before.expected or behind.found < behind.expected
        if before.after == behind.before and back and 0 < length <= room and (length == room) is exact:
            # In a hole the batch may stand anywhere, but where an epoch begins, a batch does.
            start = next((at for at in begun if before.expected <= at <= behind.found - length), before.expected)
            yield _at("base offset", start, behind.found, before.after)


def _counted(steps: Sequence[OffsetStep]) -> Iterator[Stray]:
    """A batch whose last offset reaches into the next one, or falls short of it, where its records do not."""
    for step in steps:
        base, counted = step.base_before, step.counted
        if base is None or counted is None or base < 0 or counted == step.expected:
            continue
        if counted == step.found or counted < step.found < step.expected:
            yield _at("last offset", base, step.found, step.before)


def _first(replica: Replica, steps: Sequence[OffsetStep]) -> Iterator[Stray]:
    """The first batch, which the next one and the segment's name or the log's beginning place elsewhere."""
    log = replica.log
    resume = {step.before for step in steps}
    for step in steps:
        if not replica.segments or log.first_offset is None or step.before != log.epochs[0].first:
            continue
        length = step.expected - log.first_offset
        start = step.found - length
        begins = {replica.segments[0].base_offset, *(entry.start_offset for entry in replica.epoch_file.entries[:1])}
        alone = step.found < step.expected and step.after not in resume and step.after != log.epochs[-1].last
        possible = length > 0 and start >= replica.segments[0].base_offset and log.first_offset not in begins
        if possible and (start in begins or alone):
            yield _at("base offset", start, step.found, step.before)


def _last(replica: Replica, steps: Sequence[OffsetStep], claims: frozenset[int]) -> Iterator[Stray]:
    """The last batch, which the one before it and what claims to know the log's end place elsewhere."""
    log = replica.log
    if log.end_offset is None or log.end_offset in claims:
        return
    last = log.epochs[-1].last
    # Holes are everyday in a compacted log: only the end that a clean shutdown wrote down tells that there was none.
    stopped = {replica.recovery_point.offset} if replica.clean_shutdown and replica.recovery_point else frozenset[int]()
    follow = {step.after for step in steps}
    for step in steps:
        end = step.expected + (log.end_offset - step.found if step.found >= 0 else log.last_records or 0)
        back = step.found < step.expected
        alone = back and step.before not in follow and step.before != log.epochs[0].first
        if step.after == last and step.expected < end and (alone or end in (claims if back else stopped)):
            yield _at("base offset", step.expected, max({end, *stopped}), last)


def _open_end(replica: Replica, evidence: PartitionEvidence, claims: frozenset[int]) -> Iterator[Stray]:
    """The last batch, whose records end before its last offset although no cleaner can have taken any."""
    log = replica.log
    counted, base = counted_end(log.last_base, log.last_records), log.last_base
    if counted is None or base is None or base < 0 or counted == log.end_offset or log.end_offset in claims:
        return
    last = log.epochs[-1].last
    alone = log.sparse_batches == 1 and log.gap_count == 0 and not replica.bare and counted < (log.end_offset or 0)
    cleaned = evidence.topic in COMPACTED_TOPICS or any(r.cleaner_offset is not None for r in evidence.replicas)
    impossible = any(fault.span == last for fault in log.header_faults)
    if counted in claims or impossible or (alone and not cleaned):
        yield _at("last offset", base, counted, last)


def _at(field: str, start: int, end: int, span: Span) -> Stray:
    return Stray(field=field, start_offset=start, end_offset=end, span=span)


def _elsewhere(replica: Replica, steps: Sequence[OffsetStep], evidence: PartitionEvidence) -> Iterator[Stray]:
    """Batches beside a step that other replicas hold at one other base offset: two of them, or one without a step."""
    beside = {span for step in steps for span in (step.before, step.after)}
    found: dict[Span, list[tuple[BatchMark, BatchMark, Replica]]] = {}
    for mark, twin, peer in _twins(replica, beside, evidence) if beside else ():
        found.setdefault(mark.span, []).append((mark, twin, peer))
    for span, twins in found.items():
        bases = {twin.base_offset for _, twin, _ in twins}
        mark, twin, peer = twins[0]
        apart = any(twin.span in (step.before, step.after) for step in (*peer.log.gaps, *peer.log.overlaps))
        if len(bases) == 1 and mark.base_offset not in bases and (len(twins) > 1 or not apart):
            yield _at("base offset", twin.base_offset, twin.end_offset, span)


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
    """Whether the checksum of a batch covers its last offset and some record, and holds as far as anybody has looked.

    Cleaners empty several batches to the same bytes.
    """
    covered = mark.magic >= _MAGIC_2 and mark.size > BATCH_HEADER
    return covered and mark.crc_valid is not False and mark.base_offset >= 0


def _content(mark: BatchMark) -> tuple[int, int, int]:
    """What the checksum covers, as far as two batches are compared by it."""
    return mark.crc, mark.size, mark.end_offset - mark.base_offset


def foreign_epochs(replica: Replica, evidence: PartitionEvidence) -> Iterator[tuple[EpochRun, int]]:
    """Runs of one batch whose epoch its surroundings contradict, and the epoch that they give it.

    Against a batch that fails its checksum the epoch file is believed without another witness.
    """
    runs = replica.log.epochs
    faulty = {fault.span for fault in (*replica.log.header_faults, *replica.log.checksum_faults)}
    # Formats without epochs have none to be wrong about.
    alone = [at for at, run in enumerate(runs) if run.batches == 1 and (run.epoch >= 0 or run.first in faulty)]
    lone = [at for at in alone if runs[at].epoch != _epoch_of(replica, runs[at])]
    if not lone:
        return
    testified: dict[Span, set[int]] = {}
    for mark, twin, _ in _twins(replica, [runs[place].first for place in lone], evidence):
        testified.setdefault(mark.span, set()).add(twin.leader_epoch)
    for place in lone:
        run, twins = runs[place], testified.get(runs[place].first, set())
        if run.epoch in twins or _held_alike(replica, run, evidence):
            continue
        before = runs[place - 1].epoch if place else None
        behind = runs[place + 1].epoch if place + 1 < len(runs) else None
        damaged = any(fault.span == run.first for fault in replica.log.checksum_faults)
        epoch = _epoch_of(replica, run) if damaged else _testified(replica, run, before, behind, twins)
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
    """The epoch that two witnesses give to a batch: its neighbours, the epoch file, the same batch elsewhere."""
    on_file = _epoch_of(replica, run)
    if on_file is not None and on_file in twins:
        return on_file
    around = [epoch for epoch in (before, behind) if epoch is not None and epoch >= 0]
    if before is not None and before == behind and before >= 0:
        # Neighbours alone do not tell: where a topic was made anew without an id, epochs began anew in its old logs.
        return before if before in twins or before == on_file else None
    falls = run.epoch < 0 or (before is not None and run.epoch < before) or (behind is not None and run.epoch > behind)
    return next((epoch for epoch in around if epoch in twins or (falls and epoch == on_file)), None)
