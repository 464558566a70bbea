"""SEG006: a header field outside the checksum contradicts the batches around it."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader
from rules.evidence import PartitionEvidence, Stray
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="SEG006",
    severity=Severity.HIGH,
    needs=(BatchHeader,),
    law="TypeOk",
    message="Broker {broker} holds a batch {where} whose {field} contradicts the batches around it.",
)
def header_contradicts_chain(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A header field is contradicted by everything around its batch.

    Base offset, length, leader epoch and format byte lie outside the checksum. A flipped bit there passes every
    verification. A program that computes the checksum again can write a last offset that the records do not reach. What
    lies around the batch tells: neighbours that continue without it, the epoch file, and the same batch on another
    replica. Checkpoints, peers and the segment's name give the log's ends. Or the field itself says what no broker
    writes. Every other rule then judges the log by what the surroundings say, not by the field.

    Proves
    ------
    The header was changed after it was written. (A damaged length breaks the chain itself: see SEG002.)

    Undecided when
    --------------
    Nothing but one neighbour can testify: a first or last batch of a log of which no checkpoint and no other replica
    tells. What the header claims is then judged as it stands.

    Upheld
    ------
    broker 1 00122|
    broker 2 00122|

    Violated
    --------
    broker 1 00200| ; epochs 0@0
    broker 2 00000|
    """
    for replica in evidence.current:
        for stray in replica.strays:
            yield Violation(
                brokers=(replica.broker,),
                start_offset=stray.start_offset,
                end_offset=stray.end_offset,
                facts={
                    "broker": replica.broker,
                    "where": _where(stray),
                    "field": stray.field,
                    "subject": str(stray.span.start),
                },
                exhibits=(Exhibit(span=stray.span, role="the header that cannot be believed"),),
                as_written=True,
            )


def _where(stray: Stray) -> str:
    if stray.start_offset is None or stray.end_offset is None:
        return "at an offset below 0"
    if stray.end_offset == stray.start_offset:
        return f"at offset {stray.start_offset}"
    return f"at offsets [{stray.start_offset}, {stray.end_offset})"
