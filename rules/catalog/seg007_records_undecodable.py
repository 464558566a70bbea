"""SEG007: a batch with a good checksum whose records cannot be decoded."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, RecordRow
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="SEG007",
    severity=Severity.HIGH,
    needs=(BatchHeader, RecordRow),
    law="TypeOk",
    message="Broker {broker} holds a batch that cannot be decoded: {found}.",
    implied_by=("SEG001", "SEG006"),
)
def records_undecodable(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A batch's records cannot be decoded.

    Proves
    ------
    The batch was written so: a wrong record count, a broken varint, an unknown codec, a stream that does not
    decompress. Every consumer fails on it, and the log cleaner stops at it.

    Undecided when
    --------------
    Records were not decoded: level quick never does, level full only where digests differ, level deep always.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|

    Violated
    --------
    broker 1 00?0|
    broker 2 0000|
    """
    for replica in evidence.current:
        zoomed = {u.span: f"expected {u.expected}, found {u.found}" for zoom in replica.zooms for u in zoom.undecodable}
        deep = {u.span: u.words for u in replica.log.undecodable}
        for span, found in sorted({**zoomed, **deep}.items(), key=lambda item: (item[0].source, item[0].start)):
            yield Violation(
                brokers=(replica.broker,),
                facts={"broker": replica.broker, "found": found, "subject": str(span.start)},
                exhibits=(Exhibit(span=span, role="the batch that cannot be decoded"),),
            )
    if evidence.level != "deep":
        yield Undecided(
            reason="whether every record can be decoded",
            missing="audit again at level deep",
            blocking=False,
            asked_at_level="deep",
        )
