"""SEG004: an offset stands twice in one log."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="SEG004",
    severity=Severity.CRITICAL,
    needs=(BatchHeader,),
    law="TypeOk",
    message="Broker {broker}'s log goes back from offset {end_offset} to {start_offset}. "
    "It holds offsets from {start_offset} on twice.",
    implied_by=("SEG006",),
)
def offsets_overlap_or_regress(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """One log holds an offset twice, or its offsets go back.

    Segments are read in the order a broker would read them, after its rules for half-finished compactions.

    Proves
    ------
    Two appends claimed the same offsets on one replica; a reader of this log sees one or the other, depending on where
    it starts. No lawful operation does this.

    Undecided when
    --------------
    A compressed legacy batch does not tell its first offset, and nothing asked for decoding it. The last offset of a
    batch that fails its checksum (SEG001) proves nothing.

    Upheld
    ------
    broker 1 000/11|
    broker 2 00011|

    Violated
    --------
    broker 1 0000 @2:11|
    broker 2 00011|
    """
    for replica in evidence.current:
        for step in replica.log.overlaps:
            yield Violation(
                brokers=(replica.broker,),
                start_offset=step.found,
                end_offset=step.expected,
                facts={
                    "broker": replica.broker,
                    "overlaps": replica.log.overlap_count,
                    "epoch_before": step.epoch_before,
                    "epoch_after": step.epoch_after,
                },
                exhibits=(
                    Exhibit(span=step.before, role="the batch that ends higher"),
                    Exhibit(span=step.after, role="the batch behind it that starts lower"),
                ),
            )
