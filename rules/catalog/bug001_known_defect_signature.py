"""BUG001: what was found is how a known defect of the running release shows."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, BrokerEvent, EpochRequest, Fetch, MetadataChange
from rules.evidence import BrokerVersion, PartitionEvidence
from rules.finding import Bearing, Severity, Undecided, Violation
from rules.protocol.versions import KafkaVersion, parse_protocol_version
from rules.rule import rule
from rules.signatures import SIGNATURES, Hit, Signature, reach


@rule(
    id="BUG001",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, BrokerEvent, EpochRequest, Fetch, MetadataChange),
    law="known defects of Kafka",
    message="Known defect {defect}: {title}. {says:.} {costs:.} Broker {broker} ran Kafka {release}. Upgrade all brokers to {fixed} or later.{besides}",
    reach=reach(),
    bearing=Bearing(spoils_what_went_wrong=True),
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
    The broker's release at the time is unknown, as in the minutes about an upgrade. Of what lies on its disk, and of the
    protocol that it spoke, the release is asked that its log tells last.

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
            found = _judged(evidence, signature, own)
            if found is not None:
                yield found


def _judged(evidence: PartitionEvidence, signature: Signature, hits: list[Hit]) -> Violation | Undecided | None:
    first = hits[0]
    ran = [v for v in evidence.versions if first.broker in (None, v.broker)]
    affected = {
        v.broker: signature.affects(
            evidence.release_of(v.broker, first.at), parse_protocol_version(v.inter_broker_protocol or "")
        )
        for v in ran
    }
    guilty = next((v for v in ran if affected[v.broker]), None)
    if guilty is None:
        ruled_out = signature.spoken_below is not None or any(answer is False for answer in affected.values())
        reason = f"what is seen fits the known defect {signature.defect} ({signature.title}). Whether the release has it is not known"
        whose = "the controller's release" if first.broker is None else f"broker {first.broker}'s release"
        return None if ruled_out else Undecided(reason=reason, missing=whose, blocking=False)
    then = evidence.release_of(guilty.broker, first.at)
    return Violation(
        brokers=(guilty.broker,),
        start_offset=first.start_offset,
        end_offset=first.end_offset,
        severity=signature.severity,
        confidence=signature.confidence,
        facts={
            "defect": signature.defect,
            "title": signature.title,
            "says": first.says,
            "costs": signature.costs,
            "broker": guilty.broker,
            "release": _release(signature, guilty, then),
            "fixed": signature.without(then),
            "besides": f" {signature.besides}" if signature.besides else "",
            "times": len(hits),
            "subject": signature.defect,
        },
        exhibits=first.exhibits,
    )


def _release(signature: Signature, ran: BrokerVersion, then: KafkaVersion | None) -> str:
    binary = "of an unknown release" if then is None else str(then)
    return f"{binary} with inter-broker protocol {ran.inter_broker_protocol}" if signature.spoken_below else binary
