"""Logs under the name of a partition that nothing shows to be of it."""

from __future__ import annotations

from rules.evidence import PartitionEvidence
from rules.replicas.replica import Replica
from rules.zoom.compare import shares_a_batch


def stands_alone(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether its log has no batch of any other replica's: it may be another partition's, under this one's name."""
    others = evidence.followers_of(replica)
    return bool(others) and not any(shares_a_batch(replica, other) for other in others)
