"""Headers that cannot be believed, because everything around the batch contradicts them.

A flipped base offset, leader epoch or last offset would testify to holes, overlaps, foreign epochs and a log end that
never were. The log is therefore judged with what the surroundings say in the field's place (`testimony` hears
them), and what strayed is told once, as what it is. Of a batch that fails its checksum, what that covers is not heard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import structs
from msgspec.structs import replace

from parsers.provenance import Span
from rules.evidence import PartitionEvidence, Replica
from rules.facts.stretch import ChecksumFault, EpochRun, LogFacts, OffsetStep, Stray, counted_end
from rules.zoom.testimony import end_claims, foreign_epochs, misplaced


def with_believed_headers(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with every log as its surroundings tell it, and beside it what strays from that."""
    believed = tuple(_believed(replica, evidence) for replica in evidence.replicas)
    changed = any(one is not other for one, other in zip(believed, evidence.replicas, strict=True))
    return replace(evidence, replicas=believed) if changed else evidence


def as_written(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with every log as all its headers tell it."""
    logs = tuple(replace(r, log=r.log if r.log_as_written is None else r.log_as_written) for r in evidence.replicas)
    return replace(evidence, replicas=logs, differences=(), uncompared=())


def _believed(replica: Replica, evidence: PartitionEvidence) -> Replica:
    """The replica with the log that its batches make up where their headers can be believed."""
    failed = {fault.span for fault in replica.log.checksum_faults}
    placed = {span: stray for span, stray in misplaced(replica, evidence).items() if span not in failed}
    epochs = {run.first: epoch for run, epoch in foreign_epochs(replica, evidence)}
    known = {*placed, *failed}
    strays = [*placed.values(), *_of_epochs(replica, epochs, known), *_impossible(replica, {*known, *epochs})]
    if not strays and not failed:
        return replica
    log = _mended(replica.log, failed | {stray.span for stray in strays if stray.field != "leader epoch"}, placed)
    heard: dict[Span, Stray | ChecksumFault] = {**{f.span: f for f in log.checksum_faults}, **placed}
    log = structs.replace(log, epochs=tuple(_merged(_placed(log.epochs, heard, epochs))))
    strays.sort(key=lambda stray: (stray.span.source, stray.span.start))
    log = _ended(log, end_claims(replica, evidence))
    return replace(replica, log=log, strays=tuple(strays), log_as_written=replica.log)


def _of_epochs(replica: Replica, epochs: Mapping[Span, int], known: Collection[Span]) -> Iterator[Stray]:
    for run in replica.log.epochs:
        if run.first in epochs and run.first not in known:
            yield Stray(
                field="leader epoch", start_offset=run.start_offset, end_offset=run.end_offset, span=run.first
            )


def _impossible(replica: Replica, placed: Collection[Span]) -> Iterator[Stray]:
    """Headers that say what no broker writes, where nothing tells what they should say."""
    for fault in replica.log.header_faults:
        if fault.span not in placed:
            known = fault.base_offset >= 0
            end = max(fault.base_offset, fault.end_offset)
            yield Stray(
                field="header",
                start_offset=fault.base_offset if known else None,
                end_offset=end if known else None,
                span=fault.span,
            )


def _mended(log: LogFacts, unheard: Collection[Span], placed: Mapping[Span, Stray]) -> LogFacts:
    """The log without the steps beside batches that are not heard, and with its ends where they truly are."""
    gaps = tuple(step for step in log.gaps if step.before not in unheard and step.after not in unheard)
    overlaps = tuple(step for step in log.overlaps if step.before not in unheard and step.after not in unheard)
    dropped = [step for step in log.gaps if step not in gaps]
    first, last = placed.get(log.epochs[0].first), placed.get(log.epochs[-1].last)
    return structs.replace(
        log,
        gaps=gaps,
        gap_count=log.gap_count - len(dropped),
        gap_offsets=max(0, log.gap_offsets - sum(step.found - step.expected for step in dropped)),
        overlaps=overlaps,
        overlap_count=log.overlap_count - len(log.overlaps) + len(overlaps),
        first_offset=first.start_offset if first else log.first_offset,
        end_offset=last.end_offset if last else log.end_offset,
        sparse_batches=max(0, log.sparse_batches - sum(stray.field == "last offset" for stray in placed.values())),
        checksum_faults=tuple(_heard(fault, (*log.gaps, *log.overlaps)) for fault in log.checksum_faults),
    )


def _heard(fault: ChecksumFault, steps: Sequence[OffsetStep]) -> ChecksumFault:
    """A batch that fails its checksum, between its neighbours: its own last offset may be part of the damage."""
    before = next((step.expected for step in steps if step.after == fault.span), fault.base_offset)
    base = fault.base_offset if fault.base_offset >= 0 else max(before, 0)
    behind = next((step.found for step in steps if step.before == fault.span), fault.end_offset)
    end = behind if behind > base else fault.end_offset
    return structs.replace(fault, base_offset=base, end_offset=max(base, end))


def _placed(
    runs: Sequence[EpochRun], heard: Mapping[Span, Stray | ChecksumFault], epochs: Mapping[Span, int]
) -> Iterator[EpochRun]:
    """The runs with the places and epochs that the surroundings give to the batches at their borders."""
    for run in runs:
        first, last = heard.get(run.first), heard.get(run.last)
        start = first.base_offset if isinstance(first, ChecksumFault) else first.start_offset if first else None
        end = last.end_offset if last else None
        yield structs.replace(
            run,
            epoch=epochs.get(run.first, run.epoch),
            start_offset=run.start_offset if start is None else start,
            end_offset=run.end_offset if end is None else end,
        )


def _merged(runs: Iterator[EpochRun]) -> Iterator[EpochRun]:
    """Neighbouring runs of one epoch as one."""
    held: EpochRun | None = None
    for run in runs:
        if held is not None and held.epoch == run.epoch:
            held = structs.replace(held, end_offset=run.end_offset, batches=held.batches + run.batches, last=run.last)
            continue
        if held is not None:
            yield held
        held = run
    if held is not None:
        yield held


def _ended(log: LogFacts, claims: Collection[int]) -> LogFacts:
    """The log with an end that does not rest on the last offset of a batch that fails its checksum.

    It cannot have held more offsets than bytes; within that, what counts its records or claims the log's end is heard.
    """
    last = log.epochs[-1]
    fault = next((fault for fault in log.checksum_faults if fault.span == last.last), None)
    if fault is None or log.end_offset is None or log.end_offset in claims:
        return log
    room = range(fault.base_offset + 1, fault.base_offset + fault.span.end - fault.span.start + 1)
    counted = counted_end(log.last_base, log.last_records)
    ends = [offset for offset in (counted, *sorted(claims, reverse=True)) if offset in claims and offset in room]
    if not ends and log.end_offset in room:
        return log
    end = next((offset for offset in ends if offset is not None), room.start)
    faults = tuple(structs.replace(f, end_offset=end) if f is fault else f for f in log.checksum_faults)
    epochs = (*log.epochs[:-1], structs.replace(last, end_offset=end))
    return structs.replace(log, end_offset=end, epochs=epochs, checksum_faults=faults)
