"""Who may lead without being seen here, and what a replica that follows it may cut and nobody else here holds."""

from __future__ import annotations

from collections.abc import Iterator

from rules.advice.cuts import stretch_of
from rules.advice.lacking import copy_of
from rules.advice.weighed import Gate, Stretch, named
from rules.evidence import PartitionEvidence, Replica
from rules.loss.survivors import held_alike
from rules.protocol.offsets import without
from rules.words import numbered


def perhaps_cut(replica: Replica, unjudged: str, evidence: PartitionEvidence) -> Gate | None:
    """A restart after which a broker may follow a log that is not here whole, and cut the last copy of something."""
    partly = sorted({other.broker for other in evidence.followers_of(replica) if other.unopened})
    has = "has" if len(partly) == 1 else "have"
    who = unjudged or (f"{numbered('broker', partly).capitalize()} {has} no whole log here" if partly else "")
    alone = [s for s in _held_alone(replica, evidence) if s.told_of or s.perhaps_answered] if who else []
    if not alone:
        return None
    because = f"cannot be judged. {who} and may lead. In this dump, only broker {replica.broker} has {named(alone)}."
    action = f"restart broker {replica.broker}"
    return Gate(action=action, going="unknown", because=because, first=copy_of(replica.broker, [replica.path]))


def _held_alone(replica: Replica, evidence: PartitionEvidence) -> Iterator[Stretch]:
    """Records of which no other copy is here, but for those that were deleted elsewhere by their age."""
    peers = evidence.followers_of(replica)
    others = [other for other in evidence.own_logs if other is not replica]
    begun = min((peer.log_start_offset for peer in peers), default=replica.log_start_offset)
    for run in replica.log.epochs:
        held = sorted(part for other in others for part in held_alike(other, replica, run.epoch, evidence))
        for low, high in without(max(run.start_offset, begun), run.end_offset, held):
            yield stretch_of(replica, run.epoch, low, high, evidence)
