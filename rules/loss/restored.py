"""Whether the log that leads now holds again what an epoch before had left out."""

from __future__ import annotations

from rules.evidence import PartitionEvidence
from rules.history.moments import ROLE_KINDS, Moment
from rules.history.turns import cuts
from rules.loss.left_out import LeftOut
from rules.loss.reopened import held_again
from rules.protocol.offsets import without


def restored(evidence: PartitionEvidence, part: LeftOut) -> bool:
    """Whether it holds all the records of a stretch."""
    if part.reopening is None:
        return held_end(evidence, part) >= part.end
    return not [*without(part.start, part.end, held_again(evidence, part))]


def held_end(evidence: PartitionEvidence, part: LeftOut) -> int:
    """How far into the stretch it holds the epoch's records; what it deleted below is no loss."""
    if not evidence.leaders_at_the_end:
        return part.end if _led_again(evidence, part) else part.start
    runs = (run for replica in evidence.leaders_at_the_end for run in replica.runs_by_epoch.get(part.epoch, ()))
    own = (run for run in runs if run.start_offset < part.end and run.end_offset > part.start)
    return max((min(part.end, run.end_offset) for run in own), default=part.start)


def _led_again(evidence: PartitionEvidence, part: LeftOut) -> bool:
    """Without the last leader's disk: whether who wrote them led again with all of them, and nobody since without."""
    openings = evidence.openings
    own = [e for e, o in openings.items() if o.broker == part.leader and (o.offset or 0) >= part.end]
    again = max((epoch for epoch in own if epoch > part.next_epoch), default=None)
    if again is None or part.leader is None:
        return False
    clock = f"broker {part.leader}"
    between = (m for m in evidence.moments if m.clock == clock and m.term is not None and part.epoch <= m.term < again)
    later = [opening for epoch, opening in openings.items() if epoch > again]
    return not (
        any(_shorter(moment, part.end) for moment in between)
        or any((opening.offset or 0) < part.end for opening in later)
        or (any(opening.broker == part.next_leader for opening in later) and not _cut_off(evidence, part))
    )


def _cut_off(evidence: PartitionEvidence, part: LeftOut) -> bool:
    """Whether who had left the records out was cut to where they begin, and so took them over afterwards."""
    own = (cut for cut in cuts(evidence.moments) if cut.broker == part.next_leader)
    return any(cut.offset <= part.start and (cut.epoch or 0) > part.next_epoch for cut in own)


def _shorter(moment: Moment, end: int) -> bool:
    """Whether a broker tells that its log ended below an offset."""
    if moment.kind in ("log-reset", "log-created", "log-deleted"):
        return True
    told = moment.end_offset if moment.kind == "log-loaded" else moment.offset
    return moment.kind in (*ROLE_KINDS, "truncated", "log-loaded") and told is not None and told < end
