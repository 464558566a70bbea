"""HW005: the high watermark on disk is below the log start."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import OffsetCheckpoint
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="HW005",
    severity=Severity.MEDIUM,
    needs=(OffsetCheckpoint,),
    law="TypeOk",
    message="Broker {broker} wrote high watermark {high_watermark}, below its log start offset {log_start_offset}.",
)
def high_watermark_below_log_start(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The high watermark on disk is below the log start offset.

    Proves
    ------
    After a clean shutdown, which writes both: the log was reset or its start moved past what was committed (KAFKA-9491,
    KAFKA-16452).

    Undecided when
    --------------
    The broker did not shut down cleanly. A checkpoint that is merely older than a move of the log start is lawful, and
    nothing is said.

    Upheld
    ------
    broker 1 @5:<000|0
    broker 2 @5:<000|0 ; hw 3, unclean

    Violated
    --------
    broker 1 @5:<0000 ; hw 3
    broker 2 @5:<000|0
    """
    for replica in evidence.current:
        claim = replica.high_watermark
        if claim is None or replica.clean_shutdown is None or claim.offset >= replica.log_start_offset:
            continue
        start = replica.log_start_claim
        yield Violation(
            brokers=(replica.broker,),
            start_offset=claim.offset,
            end_offset=replica.log_start_offset,
            facts={
                "broker": replica.broker,
                "high_watermark": claim.offset,
                "log_start_offset": replica.log_start_offset,
            },
            exhibits=(
                Exhibit(span=claim.span, role="the high watermark"),
                *((Exhibit(span=start.span, role="the log start offset"),) if start else ()),
            ),
        )
