"""LEAD002: a leader was elected that was not in sync."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from parsers.tables import BrokerEvent, IsrRequest, MetadataChange
from rules.evidence import (
    Chronicle,
    LeaderChange,
    PartitionEvidence,
)
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation, numbered
from rules.replicas.epoch_ends import EpochEnd
from rules.rule import rule


@rule(
    id="LEAD002",
    severity=Severity.HIGH,
    needs=(MetadataChange, BrokerEvent, IsrRequest),
    law="LeaderCandidateCompleteness",
    message="Broker {leader} was elected for epoch {epoch} {outside}. {cost:.}",
    implied_by=("CONF001",),
    bearing=Bearing(change="unclean election"),
)
def unclean_election(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A broker was elected that was neither in sync nor eligible.

    Where no replica was left in sync or eligible, releases since 4.0 may elect the last known leader. It wrote what
    there is, and may have lost its tail.

    Proves
    ------
    Whatever the new leader lacked of the committed records is given up; LEAD001 says what that was. The severity is
    that of the cost. It is high where records are known to be lost, or nothing tells how far the epoch before was
    written. It is medium where what is told of it reaches no further than the new leader's log did. Of the last
    known leader it is one lower where no loss is known.

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
            severity, cost = _weigh(evidence, change)
            eligible = _eligible(evidence.chronicle, change)
            named = f"{_in_words(eligible)}, and " if eligible else ""
            yield Violation(
                brokers=(change.leader,),
                severity=severity,
                facts={
                    "leader": change.leader,
                    "epoch": change.epoch,
                    "previous_isr": change.previous_isr,
                    "outside": _outside(change.previous_isr),
                    "previous_elr": eligible,
                    "cost": named + cost,
                    "clock": change.moment.clock,
                    "time": change.moment.time,
                    "subject": str(change.epoch),
                },
                exhibits=tuple(_exhibits(change)),
            )
    # A clean one that the controller recorded is no change of `leader_changes`.
    recorded = {m.epoch for m in evidence.moments if m.kind == "leadership" and m.previous_isr is not None}
    yield from _untold(evidence, recorded.union(change.epoch for change in changes))


def _in_words(eligible: Sequence[int]) -> str:
    if len(eligible) == 1:
        return f"the eligible leader replica was broker {eligible[0]}"
    return f"the eligible leader replicas were brokers {', '.join(map(str, eligible))}"


def _untold(evidence: PartitionEvidence, told: Container[int | None]) -> Iterator[Undecided]:
    """Elections of which the ISR before is not told, though their leaders lacked committed records."""
    lacking = {lost.epoch: (lost.leader, lost.opening) for lost in evidence.lost_terms if not lost.checkpointed}
    lacking |= {kept.epoch: (kept.leader, kept.opening) for kept in evidence.kept_older}
    for epoch, (leader, opening) in sorted(lacking.items()):
        if epoch not in told and leader is not None:
            yield Undecided(
                reason=f"broker {leader} led epoch {epoch} without records that were committed, and nothing tells who was"
                " in sync before",
                missing="the ISR before the election: the metadata log or the controller's log",
                brokers=(leader,),
                blocking=False,
                exhibits=(Exhibit(span=opening.span, role="the leader opens its epoch"),),
            )


def _weigh(evidence: PartitionEvidence, change: LeaderChange) -> tuple[Severity, str]:
    lost = [lost.committed.end_offset for lost in evidence.lost_terms if lost.epoch == change.epoch]
    lost += [kept.end_offset for kept in evidence.kept_older if kept.epoch == change.epoch]
    if lost:
        return Severity.HIGH, f"committed records up to offset {max(lost) - 1} were given up"
    again = not change.previous_isr and _last_leader(evidence.chronicle, change) == change.leader
    who = "it was the last known leader, and " if again else ""
    opening = evidence.openings.get(change.epoch)
    before = {epoch: end for epoch, end in evidence.epoch_ends.items() if epoch < change.epoch and end.offset > 0}
    furthest = max(before.values(), key=lambda end: (end.offset, end.witnessed), default=None)
    open_cost = Severity.MEDIUM if again else Severity.HIGH
    if opening is None or opening.offset is None or furthest is None:
        return open_cost, f"{who}nothing tells what it lacked"
    if furthest.offset > opening.offset:
        return open_cost, f"{who}it lacked what was written from {opening.offset} to {furthest.offset}"
    untold = _untold_before(evidence, change) or _untold_of_its_log(evidence, change, before, furthest)
    if untold is not None:
        return open_cost, f"{who}{untold}"
    severity = Severity.LOW if again else Severity.MEDIUM
    return severity, f"{who}it opened at {opening.offset} with all that is known to have been written"


def _wrote_others(evidence: PartitionEvidence, leader: int, epoch: int, end: int) -> bool:
    """Whether a leader had written records of an older epoch where another's stood, and is not seen to have had those."""
    opening = evidence.openings.get(epoch)
    if opening is None or opening.broker == leader or opening.offset is None:
        return False
    own = (e for e, o in evidence.openings.items() if e < epoch and o.broker == leader and e in evidence.epoch_ends)
    fetches = (m for m in evidence.moments if m.kind == "fetched" and m.broker == leader and m.term == epoch)
    held = (run for r in evidence.current if r.broker == leader for run in r.runs_by_epoch.get(epoch, ()))
    taken = any((m.offset or 0) > opening.offset for m in fetches) or any(run.end_offset >= end for run in held)
    return not taken and any(evidence.epoch_ends[e].offset > opening.offset for e in own)


def _untold_of_its_log(
    evidence: PartitionEvidence, change: LeaderChange, before: Mapping[int, EpochEnd], furthest: EpochEnd
) -> str | None:
    """Why a log that is long enough need not hold what had been written."""
    if not furthest.witnessed:  # of records that every copy has lost since, none tells
        return "no witness tells what it lacked"
    last = max(before)
    if _wrote_others(evidence, change.leader, last, before[last].offset):
        return f"nothing tells that it held what epoch {last} had written, not older records of its own"
    return None


def _untold_before(evidence: PartitionEvidence, change: LeaderChange) -> str | None:
    """Whether who led before or after an election tells of no epoch that it led: how far it wrote, or what it held."""
    led = evidence.chronicle.leaders
    former = max((epoch for epoch in led if epoch < change.epoch), default=None)
    telling = {m.broker for m in evidence.moments if m.kind == "leader-starts"}
    leaders = [change.leader] if former is None else [led[former], change.leader]
    untold = next((leader for leader in leaders if leader not in telling), None)
    return None if untold is None else f"nothing tells what it lacked, as broker {untold}'s own log of its roles is not here"


def _eligible(chronicle: Chronicle, change: LeaderChange) -> tuple[int, ...]:
    """The eligible leaders in the state right before it, where that is told; with one missing they may be others."""
    states = chronicle.states
    own = next((state.partition_epoch for state in states if state.epoch == change.epoch), None)
    told = (
        m.elr
        for m in chronicle.moments
        if own is not None and m.partition_epoch == own - 1 and m.kind in ("leadership", "isr") and m.elr is not None
    )
    return next(told, ())


def _last_leader(chronicle: Chronicle, change: LeaderChange) -> int | None:
    led = (state for state in chronicle.states if (state.epoch or 0) < change.epoch)
    leaders = [state.leader for state in led if state.leader is not None and state.leader >= 0]
    return leaders[-1] if leaders else None


def _outside(isr: Sequence[int]) -> str:
    """Where the new leader came from, in words."""
    return f"from outside the in-sync replicas ({numbered('broker', isr)})" if isr else "while no replica was in sync"


def _exhibits(change: LeaderChange) -> Iterator[Exhibit]:
    yield Exhibit(span=change.moment.span, role="the election")
    if change.before is not None:
        yield Exhibit(span=change.before.span, role="the ISR before it")
