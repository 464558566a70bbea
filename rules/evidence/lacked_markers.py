"""Which markers of transactions a replica lacks that another one has, by what both know to be committed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from rules.evidence import PartitionEvidence, Replica
from rules.replicas.markers import MarkerMissing, missing_markers


def transactional_pairs(evidence: PartitionEvidence) -> Sequence[tuple[Replica, Replica]]:
    """Pairs of replicas of which both hold records of transactions."""
    return [pair for pair in evidence.pairs if all(replica.log.transactions.open for replica in pair)]


def lacked_markers(evidence: PartitionEvidence, left: Replica, right: Replica) -> Sequence[MarkerMissing]:
    """Those that one of the pair has and the other lacks."""
    committed = committed_by_all(evidence, left, right)
    pairs = permutations((left, right))
    return [missing for holding, lacking in pairs for missing in missing_markers(holding, lacking, committed)]


def committed_by_all(evidence: PartitionEvidence, *replicas: Replica) -> int:
    """How far each of them knows that records are committed; 0 where one does not tell."""
    claims = ((r.high_watermark.offset if r.high_watermark else 0, r) for r in replicas)
    return min(max(min(claim, r.log_end_offset), evidence.committed_by_proof(r)) for claim, r in claims)
