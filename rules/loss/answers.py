"""What became of records that producers were told are written: which are gone, and of which that is not known."""

from __future__ import annotations

from collections.abc import Iterator

from rules.evidence import COMPACTED_TOPICS, PartitionEvidence
from rules.loss.gone import Fate, Gone, fates
from rules.loss.unanswered import silent_leaders, unanswered
from rules.loss.unplaced import unplaced
from rules.loss.unsettled import (
    Unsettled,
    damaged_there,
    held_or_not,
    of_a_silent_leader,
    of_no_known_place,
    perhaps_answered,
    sent_again_or_not,
)


def answered_for(evidence: PartitionEvidence) -> Iterator[Gone | Unsettled]:
    """Every epoch's answers whose records are gone or may be; where epochs have no order see `whatever_order`."""
    for fate in fates(evidence):
        yield from fate.gone
        yield from _open(evidence, fate)
    yield from map(of_no_known_place, unplaced(evidence))
    if evidence.topic not in COMPACTED_TOPICS:  # brokers themselves write those
        yield from map(perhaps_answered, unanswered(evidence))
        for broker, offset in sorted(silent_leaders(evidence).items()):
            yield of_a_silent_leader(evidence, broker, offset)


def _open(evidence: PartitionEvidence, fate: Fate) -> Iterator[Unsettled]:
    if fate.held_on is not None:
        yield held_or_not(evidence, fate.epoch, fate.held_on)
    if fate.unsure:
        yield sent_again_or_not(fate.epoch, fate.unsure, fate.stands)
    if fate.unread and evidence.leader_at_the_end is not None:
        yield damaged_there(evidence, fate.epoch, fate.unread, evidence.leader_at_the_end.broker)
