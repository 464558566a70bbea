"""Known defects of record formats without leader epochs, under an epoch file that says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import PartitionEvidence, Replica
from rules.finding import Exhibit, Severity
from rules.signatures.signature import Hit, Signature


def _stale_epochs(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        entries = replica.epoch_file.entries
        if entries and _legacy(replica):
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker}'s log holds only record formats without leader epochs, and its epoch"
                f" file still ends with epoch {entries[-1].epoch} at {entries[-1].start_offset}",
                exhibits=(Exhibit(span=entries[-1].span, role="the stale entry"),),
                start_offset=entries[-1].start_offset,
            )


def _format_went_back(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        runs, entries = replica.log.epochs, replica.epoch_file.entries
        if len(runs) > 1 and runs[-1].epoch < 0 <= runs[-2].epoch and entries:
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker}'s log goes on from {runs[-1].start_offset} in a record format without"
                f" leader epochs, and its epoch file still ends with epoch {entries[-1].epoch} at"
                f" {entries[-1].start_offset}",
                exhibits=(
                    Exhibit(span=runs[-1].first, role="the first batch of the older format"),
                    Exhibit(span=entries[-1].span, role="the stale entry"),
                ),
                start_offset=runs[-1].start_offset,
            )


def _legacy(replica: Replica) -> bool:
    return bool(replica.log.magics) and max(replica.log.magics) < 2  # noqa: PLR2004 - the format that has epochs


FORMATS: Final = (
    Signature(
        defect="KAFKA-7897",
        title="old record formats under an epoch file that was never cleared",
        costs="the next change of leaders may cut far more than it should",
        releases=(((0, 11), (2, 1, 1)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_stale_epochs,
        drawing="""
            kafka 1 2.0.1
            broker 1 ----| ; epochs 0@0 1@2
        """,
    ),
    Signature(
        defect="KAFKA-7601",
        title="the record format went back under an epoch file",
        costs="the next change of leaders may cut far more than it should",
        releases=(((0, 11), (2, 2, 1)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_format_went_back,
        drawing="""
            kafka 1 2.2.0
            broker 1 0011--| ; epochs 0@0 1@2
        """,
    ),
)
