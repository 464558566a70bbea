"""Records of which no answer is told: whether one may have been given all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence import COMPACTED_TOPICS, PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.loss.last_answers import Answering
from rules.loss.lost_stretch import LeftOut
from rules.loss.worth import Portion

NOT_OF_ALL: Final = (0, 1)
"""acks of producers that are answered, or go on, before other replicas hold their records."""


class UntoldAnswers(Struct, frozen=True, kw_only=True):
    """Why it is open whether a leader answered producers for some records."""

    by_one: bool
    """Whether a producer of the partition is seen that does not wait for all replicas."""
    missing: bool = False
    """Whether answers are logged, and the leader's are not here or not whole."""
    end_unseen: bool = False
    """Whether requests are logged, and none that it answered after it had led."""

    @property
    def matters(self) -> bool:
        """Whether more speaks for an answer than a producer of a kind that is not seen among those that are."""
        return self.by_one or self.missing or self.end_unseen


@asked_once
def answered_by_one(evidence: PartitionEvidence) -> bool:
    """Whether a producer of the partition is seen that does not wait for all replicas."""
    return any(m.acks in NOT_OF_ALL for m in evidence.moments if m.kind == "produced")


def untold_answers(
    evidence: PartitionEvidence,
    epochs: tuple[int, int],
    leader: int | None,
    part: tuple[int, int],
    *,
    older: bool = False,
) -> UntoldAnswers | None:
    """Why it is open; null where all that the leader answered in the epoch is here.

    The records are of the first epoch, or of a later one before the second; perhaps of older ones too.
    """
    by_one = answered_by_one(evidence)
    if leader is None:
        return UntoldAnswers(by_one=by_one)
    own = Answering(evidence, leader, epochs[0])
    seen = own.saw_its_last and own.goes_on_behind(part[1]) and not own.begins_behind(part[0])
    holed = own.lacks_a_role(epochs[1]) or (not older and own.tells_no_produce)
    holed = holed or (seen and own.left_one_out(*part))
    if seen and not holed:
        return None
    return UntoldAnswers(by_one=by_one, missing=holed or own.requests_missing(part[0]), end_unseen=own.end_unseen)


def as_far_as_heard(evidence: PartitionEvidence, lost: LeftOut, portions: Sequence[Portion]) -> tuple[Portion, ...]:
    """Of what nobody tells to be written some may have been answered for, where not all answers are here."""
    return tuple(
        replace(portion, worth="possibly acknowledged") if _perhaps_heard(evidence, lost, portion) else portion
        for portion in portions
    )


def _perhaps_heard(evidence: PartitionEvidence, lost: LeftOut, portion: Portion) -> bool:
    if portion.worth != "never committed" or evidence.topic in COMPACTED_TOPICS:  # brokers themselves write those
        return False
    epochs, part = (lost.epoch, lost.next_epoch), (portion.start_offset, portion.end_offset)
    return untold_answers(evidence, epochs, lost.leader, part, older=lost.older) is not None
