"""LOG003: one epoch, one offset, two records."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, RecordRow
from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LOG003",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, RecordRow),
    law="LogMatchingProperty",
    message="Brokers {left} and {right} hold different records of leader epoch {epochs} at {offsets}. Kafka "
    "takes them for the same and will not repair this. {judgement:.}",
    implied_by=("SEG006", "SEG007", "LEAD001"),
    bearing=Bearing(
        calls_for="Compare these records with their source to find the wrong replica. Let a right one lead, and let the wrong one copy its log again. No protocol heals this by itself.",
        needless="metadata",
    ),
)
def same_epoch_different_records(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two replicas hold different records at one offset in one leader epoch.

    One epoch has one leader, and a leader writes an offset once: epoch and offset identify a record. Batches that fail
    their checksum do not count here (SEG001).

    Proves
    ------
    A restored disk, a deposed leader that kept writing, or damage before the checksum was made. Leader epochs are
    equal, so every version of the protocol takes the logs for equal, and nothing will ever cut either.

    Undecided when
    --------------
    The batches are of a format without epochs, or were not read again.

    Upheld
    ------
    broker 1 0011|
    broker 2 0022|

    Violated
    --------
    broker 1 001a1a|
    broker 2 001b1b|
    """
    for difference in evidence.differences:
        if difference.same_epoch:
            sides = evidence.sides(difference.start_offset, difference.end_offset, [difference])
            yield Violation(
                brokers=(difference.left.broker, difference.right.broker),
                start_offset=difference.start_offset,
                end_offset=difference.end_offset,
                confidence="certain" if difference.verified else "likely",
                facts={
                    "left": difference.left.broker,
                    "right": difference.right.broker,
                    "metadata": evidence.topic == METADATA_TOPIC,
                    "epochs": difference.left_epochs,
                    "exact": difference.exact,
                    "deviating": sides.deviating,
                    "with_leader": sides.with_leader,
                    "judgement": sides.because,
                },
                exhibits=tuple(
                    Exhibit(span=span, role=f"broker {broker}'s first differing batch")
                    for broker, span in difference.first_batches
                ),
            )
