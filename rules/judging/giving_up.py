"""When judging ends without a judgement: more steps than the evidence is worth, or an exception nobody foresaw."""

from __future__ import annotations

import traceback
from typing import Final

from rules.evidence import PartitionEvidence
from rules.finding import Undecided
from rules.protocol.steps import Budget, TooManySteps

STEPS: Final = 1_000_000
STEPS_EACH: Final = 1_000
"""Steps that the loops of all rules may take for a partition, and more for each statement, epoch and batch of it."""
REPORTED: Final = "a corrected auditor, and report this dump's shape, please"


def budget_of(evidence: PartitionEvidence) -> Budget:
    """The steps that judging a partition may take."""
    batches = sum(len(zoom.batches) for replica in evidence.replicas for zoom in replica.zooms)
    epochs = sum(len(replica.log.epochs) + len(replica.epoch_file.entries) for replica in evidence.replicas)
    return Budget(STEPS + STEPS_EACH * (len(evidence.moments) + epochs + batches))


def failed(who: str, error: Exception) -> Undecided:
    """What is left open by a rule, or another part of the judgement, that did not come to its end."""
    why = f"gave up: {error}" if isinstance(error, TooManySteps) else f"failed: {place_of(error)}"
    return Undecided(reason=f"{who} {why}", missing=REPORTED)


def place_of(error: Exception) -> str:
    """Which exception it was, and where in the code: never its text, which may hold what stood in a file."""
    place = next((frame for frame in reversed(traceback.extract_tb(error.__traceback__))), None)
    where = f"{place.name}:{place.lineno}" if place is not None else "?"
    return f"{type(error).__name__} in {where}"
