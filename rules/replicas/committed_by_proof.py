"""How far a replica's own records are committed by what was told, beside the high watermark on its disk."""

from __future__ import annotations

from collections.abc import Iterable

from rules.history.moments import Committed
from rules.replicas.replica import Replica


def committed_by_proof(replica: Replica, proofs: Iterable[Committed]) -> int:
    """Where the last of its records ends that a proof of their own leader epoch covers; 0 where none does.

    Records of one epoch are the same in every log that holds them, so that whoever told it told it of these too.
    """
    ends: dict[int, int] = {}
    for proof in proofs:
        ends[proof.term] = max(proof.end_offset, ends.get(proof.term, 0))
    runs = (run for run in replica.log.epochs if run.epoch >= 0)
    covered = (min(ends[run.epoch], run.end_offset) for run in runs if ends.get(run.epoch, 0) > run.start_offset)
    return max(covered, default=0)
