"""Which logs of a partition hold less on disk than when their brokers stopped: asked by whoever tells or bills it."""

from __future__ import annotations

from rules.asked_once import asked_once
from rules.evidence import PartitionEvidence
from rules.replay.shorter import Known, Shorter, shorter_on_disk


def known_of(evidence: PartitionEvidence) -> Known:
    """What the question rests on."""
    return Known(chronicle=evidence.chronicle, openings=evidence.openings, clocks=evidence.replayed.clocks)


@asked_once
def shortened_on_disk(evidence: PartitionEvidence) -> tuple[Shorter, ...]:
    """Every such log."""
    return tuple(shorter_on_disk(known_of(evidence), evidence.closings, evidence.current))
