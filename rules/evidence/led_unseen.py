"""Brokers that may have led after the last leader that is told, and of whose logs nothing or not all is here."""

from __future__ import annotations

from rules.evidence import PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.replicas.led_last import perhaps_went_on


@asked_once
def led_unseen(evidence: PartitionEvidence) -> tuple[int, ...]:
    """Those to which the partition is assigned, and of which no log of theirs tells that they did not lead since."""
    epoch, leader = evidence.chronicle.last_leader
    known = max((replica.last_known_epoch for replica in evidence.current), default=-1)
    if evidence.elections_told or evidence.epochs_used_twice or leader < 0 or epoch < known:
        return ()
    seen = {replica.broker for replica in evidence.current if not replica.unopened}
    unseen = sorted(set(evidence.assignment) - seen - {leader})
    return tuple(perhaps_went_on(unseen, evidence.chronicle, evidence.settings, lambda: evidence.clocks))
