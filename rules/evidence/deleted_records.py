"""Which records in a replica's files leaders had deleted: its own log start may not be on its disk yet, or be lost."""

from __future__ import annotations

from rules.chronicle.extents import Extents
from rules.chronicle.log_starts import log_start_after
from rules.evidence import PartitionEvidence, Replica
from rules.history.statements import LogCut, LogEvent


def deleted_records(evidence: PartitionEvidence, replica: Replica) -> Extents:
    """Those below its log start, and of each epoch those below where its own leader had its log begin.

    A log start that was not on the disk is forgotten in a crash. What a client had deleted is there again, and nobody
    misses it, unless its broker leads again: it serves all from the start of its disk on. Whether leaders of later
    epochs had the same records, and deleted them, is not asked. Of epochs used twice nothing tells who had what.
    """
    begun = [(0, replica.log_start_offset)]
    if replica in evidence.leaders_at_the_end:
        return Extents.of([*begun, (0, _start_since_it_was_loaded(replica.broker, evidence))])
    leaders = {} if evidence.epochs_used_twice else evidence.chronicle.leaders
    for run in replica.log.epochs if leaders else ():
        below = evidence.deleted.below(leaders.get(run.epoch), run.epoch, run.start_offset)
        begun.append((run.start_offset, min(run.end_offset, below)))
    return Extents.of(begun)


def _start_since_it_was_loaded(broker: int, evidence: PartitionEvidence) -> int:
    """Where its log begins by its last word; it opened no later epoch with a log that ended below."""
    start, term = 0, -1
    for moment in evidence.chronicle.told_by(broker):
        if isinstance(moment, LogEvent | LogCut):
            before, start = start, log_start_after(moment, start, tells=True) or 0
            known = moment.latest_term if moment.term is None else moment.term
            term = known if start > before and known is not None else term
    later = (o.offset for epoch, o in evidence.openings.items() if epoch > term and o.broker == broker)
    return min([start, *(offset for offset in later if offset is not None)])


def first_undeleted(evidence: PartitionEvidence, start: int, end: int, *replicas: Replica) -> int:
    """The first offset of a range at which no record of these replicas had been deleted; its end if there is none."""
    left = Extents.of([(start, end)])
    for replica in replicas:
        left -= deleted_records(evidence, replica)
    return min((first for first, _ in left.parts), default=end)
