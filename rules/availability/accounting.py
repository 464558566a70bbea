"""The account of a partition's availability, where it was exposed or something grave was found in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rules.availability.account import Availability, StateRow
from rules.availability.exposure import exposed, exposures, silences
from rules.availability.lasting_states import state_rows
from rules.availability.safeguards import safeguards
from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.loss.incurred import Loss

ROWS_KEPT: Final = 60
FEW_KEPT: Final = 8
"""Of a partition in which nothing grave was found: a cluster has very many of those."""


def availability(evidence: PartitionEvidence, losses: Sequence[Loss], *, grave: bool) -> Iterator[Availability]:
    """The account, or none."""
    rows = () if evidence.topic == METADATA_TOPIC else state_rows(evidence)
    shown: Sequence[StateRow] = rows if grave else exposed(rows)
    if evidence.topic == METADATA_TOPIC or not (shown or grave):
        return
    yield Availability(
        rows=tuple(shown[-(ROWS_KEPT if grave else FEW_KEPT) :]),
        rows_told=len(rows),
        exposures=tuple(exposures(evidence, rows)),
        safeguards=safeguards(evidence, rows, losses),
        silences=tuple(silences(evidence, rows)),
    )
