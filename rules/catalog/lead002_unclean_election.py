"""LEAD002: a leader was elected that was not in sync."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, IsrRequest, MetadataChange
from rules.evidence import LeaderChange, PartitionEvidence, leader_changes
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LEAD002",
    severity=Severity.HIGH,
    needs=(MetadataChange, BrokerEvent, IsrRequest),
    law="LeaderCandidateCompleteness",
    message="broker {leader} was elected for epoch {epoch} from outside the in-sync replicas ({previous_isr})",
    implied_by=("CONF001",),
)
def unclean_election(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A broker was elected that was neither in sync nor eligible.

    Proves
    ------
    Whatever the new leader lacked of the committed records is given up; LEAD001 says what that was.

    Undecided when
    --------------
    Neither the metadata log, nor the controller's log, nor its orders tell the ISR before the election.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leader 1 epoch 0 isr 1,2
    t2 leader 2 epoch 1 isr 2

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leader 1 epoch 0 isr 1
    t2 leader 2 epoch 1 isr 2
    """
    for change in leader_changes(evidence.moments):
        if change.unclean:
            yield Violation(
                brokers=(change.leader,),
                facts={
                    "leader": change.leader,
                    "epoch": change.epoch,
                    "previous_isr": change.previous_isr,
                    "subject": str(change.epoch),
                },
                exhibits=tuple(_exhibits(change)),
            )


def _exhibits(change: LeaderChange) -> Iterator[Exhibit]:
    yield Exhibit(span=change.moment.span, role="the election")
    if change.before is not None:
        yield Exhibit(span=change.before.span, role="the ISR before it")
