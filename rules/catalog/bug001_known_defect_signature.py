"""BUG001: what was found is how a known defect of the running release shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from parsers.tables import BatchHeader, BrokerEvent, EpochRequest, Fetch, MetadataChange
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.protocol.versions import parse_protocol_version
from rules.rule import rule
from rules.signatures import SIGNATURES, Hit, Signature

UNKNOWN: Final = "an unknown release"


@rule(
    id="BUG001",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, BrokerEvent, EpochRequest, Fetch, MetadataChange),
    law="known defects of Kafka",
    message="{defect}, {title}: {says}; broker {broker} ran {release}, and {fixed} is without it",
)
def known_defect_signature(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The evidence has the shape that a known defect of Kafka leaves.

    A table gives each defect its releases and its signature. One finding is made of a defect and a broker, with the
    severity of the defect. Other rules say what is damaged; this one says that an upgrade ends it.

    Proves
    ------
    That a broker ran a release with the defect, and that its trace is there. Only certain where nothing else leaves
    that trace.

    Undecided when
    --------------
    The broker's release is unknown: the finding is then only possible. Releases are those that the logs tell last: what
    happened before an upgrade to a release without the defect is passed over.

    Upheld
    ------
    kafka 2 3.9.1
    broker 1 0011|
    broker 2 0011|
    t1 follows 2 epoch 1 at 4 hw 1 from 1
    t2 truncates 2 to 2
    t3 fell 2 from 3 to 2

    Violated
    --------
    kafka 2 3.3.2
    broker 1 0011|
    broker 2 0011|
    t1 follows 2 epoch 1 at 4 hw 1 from 1
    t2 truncates 2 to 2
    t3 fell 2 from 3 to 2
    """
    for signature in SIGNATURES:
        hits: dict[int | None, list[Hit]] = {}
        for hit in signature.find(evidence):
            hits.setdefault(hit.broker, []).append(hit)
        for own in hits.values():
            found = _violation(evidence, signature, own)
            if found is not None:
                yield found


def _violation(evidence: PartitionEvidence, signature: Signature, hits: list[Hit]) -> Violation | None:
    first = hits[0]
    ran = [v for v in evidence.versions if first.broker in (None, v.broker)]
    if signature.spoken_below and not ran:
        return None
    affected = {
        v.broker: signature.affects(
            evidence.release_of(v.broker), parse_protocol_version(v.inter_broker_protocol or "")
        )
        for v in ran
    }
    guilty = next((v for v in ran if affected[v.broker]), None)
    if guilty is None and any(answer is False for answer in affected.values()):
        return None
    broker = first.broker if guilty is None else guilty.broker
    release = UNKNOWN if guilty is None else _release(signature, guilty.binary, guilty.inter_broker_protocol)
    said = Violation(
        brokers=() if broker is None else (broker,),
        start_offset=first.start_offset,
        end_offset=first.end_offset,
        severity=signature.severity,
        confidence=signature.confidence,
        facts={
            "defect": signature.defect,
            "title": signature.title,
            "says": first.says,
            "broker": broker,
            "release": release,
            "fixed": signature.fixed,
            "times": len(hits),
            "subject": signature.defect,
        },
        exhibits=first.exhibits,
    )
    # Whoever does not know the release must not be alarmed by a defect that it may not have.
    return said if guilty else replace(said, confidence="possible", severity=min(signature.severity, Severity.LOW))


def _release(signature: Signature, binary: str | None, spoken: str | None) -> str:
    return f"{binary or UNKNOWN}, speaking {spoken}" if signature.spoken_below else binary or UNKNOWN
