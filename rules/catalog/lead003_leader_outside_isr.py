"""LEAD003: a committed partition state whose leader is not in its ISR."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Description, IsrRequest, MetadataChange
from rules.evidence import PartitionEvidence, PartitionState, Role, RoleTaken
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LEAD003",
    severity=Severity.HIGH,
    needs=(MetadataChange, IsrRequest, BrokerEvent, Description),
    law="LeaderInIsr",
    message="Broker {leader} leads {when} but is not among the in-sync replicas ({isr:+broker}).",
)
def leader_outside_isr(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The leader of a partition state is not a member of its ISR.

    Proves
    ------
    The controller is wrong, or somebody wrote the state by hand; what follows from the ISR no longer holds.

    Undecided when
    --------------
    Neither a metadata log, nor orders, nor the leader's own log tell leader and ISR together. What `kafka-topics
    --describe` printed makes it only likely. Nobody wrote down when it was asked, and up to 2.1 it asked for leader
    and ISR one after the other.

    Upheld
    ------
    broker 1 00|
    broker 2 00|
    t1 leader 1 epoch 0 isr 1,2
    t2 leader -1 epoch 1 isr 2

    Violated
    --------
    broker 1 00|
    broker 2 00|
    t1 leader 1 epoch 0 isr 1,2
    t2 leader 1 epoch 1 isr 2
    """
    epochs: set[int | None] = set()
    states = (moment for moment in evidence.moments if isinstance(moment, Role))
    for moment in states:
        leader = _leader(moment)
        if leader is None or leader < 0 or moment.doubtful:
            continue
        if moment.isr is None or leader in moment.isr or moment.epoch in epochs:
            continue
        epochs.add(moment.epoch)
        printed = moment.kind == "described"
        yield Violation(
            brokers=(leader,),
            confidence="likely" if printed else "certain",
            facts={
                "leader": leader,
                "epoch": moment.epoch,
                "isr": moment.isr,
                "when": "as a tool printed it" if printed else f"epoch {moment.epoch}",
                "subject": str(moment.epoch),
            },
            exhibits=(Exhibit(span=moment.span, role="the partition state"),),
        )


def _leader(moment: RoleTaken | PartitionState) -> int | None:
    """Who leads, where the statement tells leader and ISR as one state."""
    if moment.kind == "leader-starts":
        return moment.broker
    return moment.leader if moment.kind in ("leadership", "described") else None
