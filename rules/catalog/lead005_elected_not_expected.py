"""LEAD005: the elected leader is not the first replica of the assignment that was in sync."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from parsers.tables import IsrRequest, MetadataChange
from rules.evidence import PartitionEvidence, PartitionState
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LEAD005",
    severity=Severity.INFO,
    needs=(MetadataChange, IsrRequest),
    law="ElectionOrder",
    message="Broker {leader} was elected for epoch {epoch}. Broker {expected} is before it in the assignment "
    "({replicas:+broker}) and stayed in the ISR ({isr:+broker}).",
)
def elected_not_expected(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """An election passed over an earlier replica of the assignment.

    The one passed over stood in the ISR before and after it. Every clean election takes the first replica of the
    assignment that is alive and in the ISR. That holds after a failure, for a controlled shutdown, of the preferred
    leader and at the end of a reassignment. Whoever is dead or stops leaves the ISR in the same change. Elections
    during a reassignment, unclean ones, those from the eligible leader replicas and an incumbent that stays are
    lawful.

    Proves
    ------
    Nothing bad by itself: the controller knew something that its records do not tell, or a state was written by hand.

    Undecided when
    --------------
    No record tells the assignment, or the state before the election is missing.

    Upheld
    ------
    broker 1 00|
    broker 2 00|
    broker 3 00|
    t0 leader 1 epoch 0 isr 1,2,3 of 1,2,3
    t1 leader 2 epoch 1 isr 2,3 of 1,2,3

    Violated
    --------
    broker 1 00|
    broker 2 00|
    broker 3 00|
    t0 leader 1 epoch 0 isr 1,2,3 of 1,2,3
    t1 leader 3 epoch 1 isr 2,3 of 1,2,3
    """
    for before, after in pairwise(evidence.chronicle.states):
        expected = _expected(before, after)
        if expected is not None and expected != after.leader and after.leader is not None:
            yield Violation(
                brokers=(after.leader,),
                facts={
                    "leader": after.leader,
                    "epoch": after.epoch,
                    "expected": expected,
                    "replicas": after.replicas,
                    "isr": after.isr,
                    "subject": str(after.epoch),
                },
                exhibits=(
                    Exhibit(span=after.span, role="the election"),
                    Exhibit(span=before.span, role="the state before it"),
                ),
            )


def _expected(before: PartitionState, after: PartitionState) -> int | None:
    """Whom the order of the assignment calls for; null where something else may lawfully decide, or nobody is elected."""
    unchanged = after.replicas is not None and before.replicas == after.replicas
    follows = before.partition_epoch is not None and after.partition_epoch == before.partition_epoch + 1
    elects = after.leader is not None and after.leader >= 0 and after.leader != before.leader
    if not (unchanged and follows and elects) or after.unclean or before.isr is None or after.leader not in before.isr:
        return None
    stayed = set(before.isr) & set(after.isr or ())
    return next((broker for broker in after.replicas or () if broker in stayed), None)
