"""By which generation of the protocol a broker cuts its log as a follower."""

from __future__ import annotations

from rules.evidence import BrokerVersion, PartitionEvidence, Replica
from rules.protocol.truncation import RuleName, rule_in_force
from rules.protocol.versions import parse_kafka_version, parse_protocol_version


def rule_run_by(version: BrokerVersion | None) -> RuleName | None:
    """The generation of the protocol by which a broker cuts its log as a follower; None where nothing tells."""
    if version is None or version.binary is None:
        return None
    spoken = version.inter_broker_protocol
    return rule_in_force(parse_kafka_version(version.binary), parse_protocol_version(spoken) if spoken else None)


def knows_no_epoch(evidence: PartitionEvidence, follower: Replica, leader: Replica) -> Replica | None:
    """Which of the two leaves a cut to the follower's high watermark, if one does: it has no epochs to go by.

    A follower of old versions asks nobody, though its files may name the epochs that it led itself.
    """
    own = next((version for version in evidence.versions if version.broker == follower.broker), None)
    asks = follower.last_epoch >= 0 or rule_run_by(own) != "hw-truncation"
    if not (asks and follower.loaded_chain):
        return follower
    return None if leader.loaded_chain else leader
