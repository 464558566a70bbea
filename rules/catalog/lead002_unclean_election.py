"""LEAD002: a leader was elected that was not in sync."""

from __future__ import annotations

from collections.abc import Container, Iterator

from parsers.tables import BrokerEvent, IsrRequest, MetadataChange
from rules.evidence import KeptOlder, LeaderChange, LostTerm, PartitionEvidence
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation, capital
from rules.loss.lacked import Lacked, lacked
from rules.rule import rule
from rules.words import numbered


@rule(
    id="LEAD002",
    severity=Severity.HIGH,
    needs=(MetadataChange, BrokerEvent, IsrRequest),
    law="LeaderCandidateCompleteness",
    message="Broker {leader} was elected leader for epoch {epoch} {outside}. {cost:.}",
    implied_by=("CONF001",),
    bearing=Bearing(change="unclean election", uncounted="uncounted"),
)
def unclean_election(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A broker was elected that was neither in sync nor eligible.

    Where no replica was left in sync or eligible, releases since 4.0 may elect the last known leader. It wrote what
    there is, and may have lost its tail.

    Proves
    ------
    Whatever the new leader lacked of the committed records is given up; LEAD001 says what that was. The severity is
    that of the known cost. It is high where records are known to be lost, else medium. It is low where nothing names a
    record of the partition. For the last known leader, and for whoever may be it, it is one step lower where no
    committed record is known to be lost. Where nothing tells how far the epoch before was written, records may be lost
    that nothing counts; the report says so.

    Undecided when
    --------------
    Neither the metadata log, nor the controller's log, nor its orders tell the ISR before the election. It is asked of
    elections whose leaders lacked committed records.

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
    changes = evidence.chronicle.elections
    for change in changes:
        if change.unclean:
            yield _violation(change, lacked(evidence, change))
    # A clean one that the controller recorded is no change of `leader_changes`.
    recorded = {m.epoch for m in evidence.moments if m.kind == "leadership" and m.previous_isr is not None}
    yield from _untold(evidence, recorded.union(change.epoch for change in changes))


def _violation(change: LeaderChange, cost: Lacked) -> Violation:
    again = not change.previous_isr and change.last_leader == change.leader
    perhaps = not change.previous_isr and change.last_leader is None
    eligible = _eligible(change)
    words = cost.words
    if again and cost.known != "committed records":
        words = f"broker {change.leader} was the last known leader; {words}"
    return Violation(
        brokers=(change.leader,),
        severity=_severity(cost, again=again or perhaps),
        facts={
            "leader": change.leader,
            "epoch": change.epoch,
            "previous_isr": change.previous_isr,
            "outside": _outside(change),
            "previous_elr": change.eligible,
            "cost": f"{eligible}. {capital(words)}" if eligible else words,
            "uncounted": cost.known in ("written records", "nothing told"),
            "clock": change.moment.clock,
            "time": change.moment.time,
            "subject": str(change.epoch),
        },
        exhibits=tuple(_exhibits(change)),
    )


def _severity(cost: Lacked, *, again: bool) -> Severity:
    """That of what is known: what is not told weighs nothing, however much more evidence might show."""
    if cost.known == "committed records":
        return Severity.HIGH
    if cost.known == "written records":
        return Severity(Severity.HIGH - again)
    return Severity((Severity.LOW if cost.empty else Severity.MEDIUM) - again)


def _outside(change: LeaderChange) -> str:
    """Where the new leader came from, in words."""
    isr = change.previous_isr
    if not isr:
        return "while the ISR was empty"
    return f"from outside the ISR, which was {numbered('broker', isr)}{' alone' if len(isr) == 1 else ''}"


def _eligible(change: LeaderChange) -> str:
    if not change.eligible:
        return ""
    were = "replica was" if len(change.eligible) == 1 else "replicas were"
    return f"the eligible leader {were} {numbered('broker', change.eligible)}"


def _exhibits(change: LeaderChange) -> Iterator[Exhibit]:
    yield Exhibit(span=change.moment.span, role="the election")
    if change.before is not None:
        yield Exhibit(span=change.before.span, role="the ISR before it")


def _untold(evidence: PartitionEvidence, epochs: Container[int | None]) -> Iterator[Undecided]:
    """Elections of which the ISR before is not told, though their leaders lacked committed records."""
    witnessed = (lost for lost in evidence.lost_terms if not lost.checkpointed)
    below: tuple[LostTerm | KeptOlder, ...] = (*witnessed, *evidence.kept_older)
    lacking = {opened.epoch: opened for opened in below}
    for epoch, opened in sorted(lacking.items()):
        if epoch not in epochs and opened.leader is not None:
            yield Undecided(
                reason=f"it is not known whether broker {opened.leader} was elected from outside the ISR."
                f" It led epoch {epoch} without committed records",
                missing="the ISR before the election: the metadata log or the controller's log",
                brokers=(opened.leader,),
                blocking=False,
                exhibits=(Exhibit(span=opened.opening.span, role="the leader opens its epoch"),),
            )
