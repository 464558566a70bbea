"""TXN001: a transaction is open that ought to have ended."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, Transaction
from rules.evidence import DECIDED, Coordinated, PartitionEvidence
from rules.evidence.open_transactions import SLACK, OpenTransaction, open_transactions
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule

SHOWN: Final = 32
FIND_HANGING: Final = "what kafka-transactions.sh find-hanging prints"
_ABORT: Final = "kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic {} --partition {} --start-offset {}"


@rule(
    id="TXN001",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, Transaction),
    law="transactions end",
    message="Producer id {producer} has a transaction open since offset {start_offset} in broker {broker}'s log. {why:.}",
    implied_by=("SEG002", "LOG005"),
    thresholds=(SLACK,),
    bearing=Bearing(
        calls_for="Review the open transaction, and abort it if no coordinator will end it. For both use"
        " kafka-transactions.sh of Kafka 3.0 or later: find-hanging lists it, and abort ends it."
        " For brokers before 3.0, abort takes its producer id, its producer epoch and the coordinator epoch."
    ),
)
def transaction_hangs(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A transaction is open that ought to have ended.

    A producer's batches stay undecided until its marker. The coordinator of its transactional id writes the partition
    into `__transaction_state` before the producer may write. It aborts what is older than the producer's time-out.
    So an open transaction has a coordinator that will end it.

    Lawful is a transaction within its time-out, and five minutes more (`slack`).

    Proves
    ------
    A hanging transaction: its coordinator has none for this partition, so no marker will ever come. A producer that
    came back too late can leave one, before 4.0. Or the transaction is overdue: its coordinator has it and does not
    end it. Readers of committed records wait at its first offset (TXN003), and the cleaner stops there.

    Review it, then abort it by the line that the finding names (Kafka 3.0 and later).

    Undecided when
    --------------
    `__transaction_state` is not here, not whole, or ends before the transaction began. Or no broker's time tells how
    long it has been open: producers' own clocks prove that only where brokers had stopped. Or logs elsewhere are later
    copies, by their times. The verdict stays open where the transaction is older than its time-out and `slack`, by any
    time on its broker's disk. Level quick does not read what coordinators hold. Of more than 4096 producers in one log
    nothing is told.

    Upheld
    ------
    broker 1* 0{7:0t}0{7c}0{8:0t}0{9:0t}0{9c}| ; pace 60
    transactional pay of 8 is Ongoing at 120 in t-0

    Violated
    --------
    broker 1* 0{7:0t}0{8:0t}0{8c}0x9 0{8:1t}0{8c}| ; pace 60
    transactional pay of 7 is CompleteCommit at 240
    """
    found = open_transactions(evidence, evidence.thresholds.of("TXN001", SLACK))
    yield from (_violation(evidence, each) for each in [each for each in found if each.held_up][:SHOWN])
    for overlong in (True, False):
        left = [each for each in found if each.standing == "open" and each.overlong == overlong]
        if left:
            yield _open(evidence, left, overlong=overlong)
    leader = evidence.leader_at_the_end
    if leader is not None and leader.log.transactions.untold:
        reason = f"too many producers wrote transactions into broker {leader.broker}'s log to tell which are open"
        yield Undecided(reason=reason, missing=FIND_HANGING, brokers=(leader.broker,), blocking=False)


def _violation(evidence: PartitionEvidence, found: OpenTransaction) -> Violation:
    state, begun = found.coordinated, found.begun
    exhibits = [Exhibit(span=begun.span, role="the transaction's first batch")]
    if state is not None:
        exhibits.append(Exhibit(span=state.span, role="the coordinator's last word"))
    if found.clock is not None:
        exhibits.append(Exhibit(span=found.clock, role="the last broker's time in the log"))
    return Violation(
        brokers=(found.broker,),
        start_offset=begun.offset,
        end_offset=begun.offset + 1,
        confidence="likely",
        facts={
            "producer": found.producer_id,
            "epoch": begun.producer_epoch,
            "broker": found.broker,
            "standing": found.standing,
            "why": "; ".join(_why(evidence, found)),
            "open_ms": found.age_ms,
            "timeout_ms": found.timeout_ms,
            "subject": str(found.producer_id),
        },
        exhibits=tuple(exhibits),
    )


def _why(evidence: PartitionEvidence, found: OpenTransaction) -> Iterator[str]:
    state, open_s = found.coordinated, (found.age_ms or 0) // 1000
    if state is not None and found.standing == "overdue":
        yield f"its coordinator has kept it open for {open_s} s, and its time-out is {state.timeout_ms // 1000} s"
    elif state is not None and found.standing == "undelivered":
        yield f"its coordinator decided to {DECIDED[state.state]} it {open_s} s before, and no marker was written"
    else:
        yield f"it hangs: {_coordinator(state)}"
        yield f"it was open for {open_s} s at least"
        line = _ABORT.format(shlex.quote(evidence.topic), evidence.partition, found.begun.offset)
        yield f"review it, then abort it: {line}"


def _coordinator(state: Coordinated | None) -> str:
    if state is None:
        return "no coordinator knows the producer"
    return f"the coordinator of transactional id {state.transactional_id} has none ongoing here; its last state is {state.state}"


def _open(evidence: PartitionEvidence, found: list[OpenTransaction], *, overlong: bool) -> Undecided:
    first, others = found[0], f", and {len(found) - 1} more are" if len(found) > 1 else ""
    quick = evidence.level == "quick"
    why = "level quick does not read what coordinators hold" if quick else first.unknown
    return Undecided(
        reason=f"producer id {first.producer_id}'s transaction is open from offset {first.begun.offset} on{others}; {why}",
        missing="audit again at level full" if quick else f"copies of __transaction_state of the same time, or {FIND_HANGING}",
        brokers=(first.broker,),
        start_offset=first.begun.offset,
        blocking=overlong and not quick,
        asked_at_level="full" if quick else None,
        exhibits=(Exhibit(span=first.begun.span, role="the transaction's first batch"),),
    )
