"""TXN003: readers of committed transactions wait at an offset that nothing moves on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from parsers.tables import BatchHeader, Fetch, Transaction
from rules.evidence import PartitionEvidence
from rules.evidence.open_transactions import SLACK, open_transactions, why_untold
from rules.evidence.stable_answers import StableRun, stable_runs
from rules.finding import Exhibit, Severity, Undecided, Violation, sentences
from rules.rule import WEEK_MS, Threshold, rule

LASTING: Final = Threshold(
    name="lasting",
    unit="ms",
    default=60_000,
    most=WEEK_MS,
    means="How long a leader's answers must lag behind its own log before they are told.",
)
"""A leader works its last stable offset out a moment after the high watermark, never a minute."""


@rule(
    id="TXN003",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, Transaction, Fetch),
    law="liveness of the last stable offset",
    message="Consumers with isolation.level=read_committed stop at offset {start_offset} on broker {broker}. They do not "
    "get {offsets}, although these are below the high watermark. {why:.}",
    implied_by=("TXN001", "HW006"),
    thresholds=(SLACK, LASTING),
)
def last_stable_offset_stuck(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The last stable offset stands still, and committed records wait.

    It is the high watermark, or the first offset of the oldest transaction that is undecided below it. Consumers that
    read committed transactions get nothing from there on, whoever wrote it. The cleaner stops there too.

    It is worked out again from batch headers: on disk at the leader's high watermark, in traces at each one told.

    Lawful is a transaction within its time-out and `slack`, and a leader that is behind for less than a minute (`lasting`).

    Proves
    ------
    On disk: records are replicated and not read, because of a transaction that ought to have ended (TXN001). In
    traces: the leader tells a lower offset than its own log decides. It keeps a transaction open that had its marker.

    Undecided when
    --------------
    TXN001 cannot say whether the oldest open transaction ought to have ended, or nothing tells who led last. No high
    watermark is on the leader's disk. Of traces: no log that is here tells the transactions of the leader at that time.

    Upheld
    ------
    broker 1* 0{7:0t}0{7c}0{8:0t}0{9:0t}0{9c}| ; pace 60
    transactional pay of 8 is Ongoing at 120 in t-0

    Violated
    --------
    broker 1* 0{7:0t}0{8:0t}0{8c}0x9 0{8:1t}0{8c}| ; pace 60
    transactional pay of 7 is CompleteCommit at 240
    """
    yield from _on_disk(evidence)
    least = evidence.thresholds.of("TXN003", LASTING)
    for run in (run for course in evidence.replayed.courses for run in stable_runs(evidence, course)):
        if run.standing != "due" and run.lasted >= least:
            yield _told_late(run) if run.standing == "behind" else _unknown(run)


def _on_disk(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    leader = evidence.leader_at_the_end
    found = open_transactions(evidence, evidence.thresholds.of("TXN003", SLACK))
    untold = why_untold(evidence, found)
    if untold is not None:
        yield Undecided(reason=f"it is not known whether consumers wait. {sentences(untold[0])}", missing=untold[1], blocking=False)
    if leader is None or leader.high_watermark is None or not found or not found[0].held_up:
        return
    first = found[0]
    start, end = max(first.begun.offset, leader.log_start_offset), leader.high_watermark.offset
    if start + 1 < end:
        yield Violation(
            brokers=(leader.broker,),
            start_offset=start,
            end_offset=end,
            confidence="likely",
            facts={
                "broker": leader.broker,
                "behind": end - start,
                "why": f"the reason is an open transaction of producer id {first.producer_id}, which begins at offset {first.begun.offset}",
                "open_transactions": len(found),
                "subject": "on disk",
            },
            exhibits=(
                Exhibit(span=first.begun.span, role="the first batch of the transaction"),
                Exhibit(span=leader.high_watermark.span, role="the high watermark"),
            ),
        )


def _told_late(run: StableRun) -> Violation:
    worst, leader = run.worst, run.worst.moment.witness
    behind = (worst.due or 0) - worst.lso
    return Violation(
        brokers=() if leader is None else (leader,),
        start_offset=worst.lso,
        end_offset=worst.due,
        facts={
            "broker": leader,
            "behind": behind,
            "why": f"broker {leader} answered so for {run.lasted // 1000} s, though its log ends all transactions up to {worst.due}",
            "answers": sum(each.moment.count for each in run.answers),
            "subject": f"told in epoch {worst.moment.term}",
        },
        exhibits=tuple(_ends(run)),
    )


def _unknown(run: StableRun) -> Undecided:
    first = run.answers[0]
    who = "a leader" if first.moment.witness is None else f"broker {first.moment.witness}"
    return Undecided(
        reason=f"{who} told last stable offsets behind its high watermark for {run.lasted // 1000} s, and no log here"
        " tells its transactions then",
        missing="a log that holds what it led",
        start_offset=first.lso,
        blocking=False,
        exhibits=tuple(_ends(run)),
    )


def _ends(run: StableRun) -> Iterable[Exhibit]:
    yield Exhibit(span=run.answers[0].moment.span, role="the first such answer")
    yield Exhibit(span=run.answers[-1].moment.span, role="the last such answer")
