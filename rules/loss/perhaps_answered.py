"""Records of which no answer is told: whether one may have been given all the same."""

from __future__ import annotations

from msgspec import Struct

from rules.evidence import PartitionEvidence
from rules.loss.last_answers import Answering

NOT_OF_ALL = (0, 1)
"""acks of producers that are answered, or go on, before other replicas hold their records."""


class UntoldAnswers(Struct, frozen=True, kw_only=True):
    """Why it is open whether a leader answered producers for some records."""

    leader: int | None
    by_one: bool
    """Whether a producer of the partition is seen that does not wait for all replicas."""
    missing: bool
    """Whether answers are logged, and the leader's are not here or not whole."""
    end_unseen: bool
    """Whether requests are logged, and none that it answered after it had led."""

    @property
    def matters(self) -> bool:
        """Whether more speaks for an answer than a producer of a kind that is not seen among those that are."""
        return self.by_one or self.missing or self.end_unseen


def untold(evidence: PartitionEvidence, epoch: int, leader: int | None, part: tuple[int, int]) -> UntoldAnswers | None:
    """Why it is open; null where all that the leader answered in the epoch is here."""
    acks = {m.acks for m in evidence.moments if m.kind == "produced"}
    by_one = not acks.isdisjoint(NOT_OF_ALL)
    if leader is None:
        return UntoldAnswers(leader=None, by_one=by_one, missing=False, end_unseen=False)
    own = Answering(evidence, leader, epoch)
    seen = own.saw_its_last and not own.begins_behind(part[0])
    if seen and not (by_one and own.left_one_out(*part)):
        return None
    missing = own.requests_missing(part[0])
    return UntoldAnswers(leader=leader, by_one=by_one, missing=missing, end_unseen=own.end_unseen)
