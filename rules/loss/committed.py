"""How far lost records were certainly committed, by who told it before they went."""

from __future__ import annotations

from rules.evidence import PartitionEvidence
from rules.history.moments import ROLE_KINDS, Moment
from rules.loss.left_out import LeftOut
from rules.replicas.openings import ON_DISK


def committed_end_of(evidence: PartitionEvidence, part: LeftOut, *, again: bool) -> int:
    """How far it was committed: in its epoch, in those of later leaders that had all of it, by its leader's own word.

    A high watermark on disk tells nothing of records that stand again: they may have been committed since. Of records
    that may be older than the epoch its proofs tell nothing: only who cut them knows.
    """
    if part.older or part.held_by_none:
        return min(part.end, max(part.start, part.known_end))
    later = (e for e in evidence.openings if part.epoch < e < part.next_epoch)
    held = (e for e in later if (evidence.openings[e].offset or 0) >= part.end)
    terms = (part.epoch, *held)
    if again:
        proofs = (c for c in evidence.committed_batches if c.term in terms and c.moment.clock != ON_DISK)
        ends = [part.start, *(min(part.end, proof.end_offset) for proof in proofs), _known_by_a_cut(evidence, part)]
    else:
        ends = [evidence.accounts.committed_end(e, part.start, part.end) for e in terms]
    own = (c for c in evidence.committed_batches if part.epoch < c.term < part.next_epoch)
    ends += [min(part.end, c.end_offset) for c in own if _of_its_log(c.moment, part.leader)]
    return max(ends)


def _known_by_a_cut(evidence: PartitionEvidence, part: LeftOut) -> int:
    """How far a replica that cut the records knew them to be committed."""
    cuts = (c for c in evidence.chronicle.cuts if c.former_epoch is not None and c.former_epoch < part.next_epoch)
    own = (c for c in cuts if c.offset <= part.start < (c.log_end_offset or 0))
    return min(part.end, max((c.high_watermark or 0 for c in own), default=0))


def _of_its_log(moment: Moment, broker: int | None) -> bool:
    """Whether a broker tells of the log that it holds itself."""
    return moment.clock == f"broker {broker}" and moment.kind in (*ROLE_KINDS, "high-watermark-loaded")
