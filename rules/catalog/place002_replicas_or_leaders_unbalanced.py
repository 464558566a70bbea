"""PLACE002: partitions are led by others than their preferred replicas, or share a rack that they need not share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from parsers.tables import BrokerSetting, MetadataChange
from rules.evidence import PartitionShare
from rules.evidence.topic import TopicEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import topic_rule
from rules.words import numbered

SHOWN: Final = 8


@topic_rule(
    id="PLACE002",
    severity=Severity.INFO,
    needs=(MetadataChange, BrokerSetting),
    law="PreferredLeader",
    message="{which:.}",
)
def replicas_or_leaders_unbalanced(evidence: TopicEvidence) -> Iterator[Violation | Undecided]:
    """Preferred replicas do not lead, or replicas share a rack in need.

    The first replica of an assignment is the preferred leader: assignments spread these over the brokers. Where it is
    in sync and another one leads, load is not where it was meant to be. Where brokers name their racks, replicas of a
    partition are laid on as many racks as there are replicas or racks.

    Proves
    ------
    Nothing is lost. A preferred election moves the leaders back; brokers do it by themselves every five minutes unless
    `auto.leader.rebalance.enable` is off. Replicas on one rack fail together with it.

    Undecided when
    --------------
    Never: where neither the metadata log, ZooKeeper nor a tool tells the assignment, or racks are not told, nothing is
    asked.

    Upheld
    ------
    broker 1* 00|
    broker 2  00|
    t0 leader 1 epoch 0 isr 1,2 of 1,2

    Violated
    --------
    broker 1  00|
    broker 2* 00|
    t0 leader 2 epoch 0 isr 1,2 of 1,2
    """
    placed = [share for share in evidence.shares if share.replicas]
    moved = [share for share in placed if _led_elsewhere(share)]
    crowded = [share for share in placed if _on_few_racks(share, evidence.racks)]
    shown = sorted({share.partition: share for share in (*moved, *crowded)}.values(), key=lambda s: s.partition)
    if shown:
        yield Violation(
            brokers=tuple(sorted({s.leader for s in moved if s.leader is not None})),
            facts={
                "which": ". ".join(_which(placed, moved, crowded)),
                "told": len(placed),
                "moved": len(moved),
                "led_elsewhere": tuple(share.partition for share in moved),
                "crowded": len(crowded),
                "on_few_racks": tuple(share.partition for share in crowded),
            },
            exhibits=tuple(
                Exhibit(span=share.told_at, role=f"who leads partition {share.partition}")
                for share in shown[:SHOWN]
                if share.told_at is not None
            ),
        )


def _which(
    placed: Sequence[PartitionShare], moved: Sequence[PartitionShare], crowded: Sequence[PartitionShare]
) -> Iterator[str]:
    """The partitions of either kind, where there are some."""
    if moved:
        unled = numbered("partition", [share.partition for share in moved])
        many = f"{len(moved)} of {len(placed)} partitions"
        yield f"The preferred replica of {unled} is in sync, but another broker leads ({many})"
    if crowded:
        close = numbered("partition", [share.partition for share in crowded])
        yield f"The replicas of {close} lie on fewer racks than they could"


def _led_elsewhere(share: PartitionShare) -> bool:
    preferred, leader = share.replicas[0], share.leader
    return leader is not None and leader >= 0 and leader != preferred and preferred in share.isr


def _on_few_racks(share: PartitionShare, racks: Mapping[int, str]) -> bool:
    """Whether a rack without a replica is left while two replicas share one; all racks of its replicas are told."""
    if any(broker not in racks for broker in share.replicas):
        return False
    own = {racks[broker] for broker in share.replicas}
    return len(own) < min(len(share.replicas), len(set(racks.values())))
