"""TXN003: readers of committed transactions wait at an offset that nothing moves on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from parsers.tables import BatchHeader, Fetch, Transaction
from rules.evidence import Course, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.history.statements import Fetched
from rules.protocol.watermarks import expected_interval
from rules.replay.leading.bounds import at_least, at_most
from rules.replicas.open_transactions import SLACK, open_transactions
from rules.rule import rule
from rules.thresholds import WEEK_MS, Threshold

LASTING: Final = Threshold(
    name="lasting",
    unit="ms",
    default=60_000,
    most=WEEK_MS,
    means="How long a leader's answers must lag behind its own log before they are told.",
)
"""A leader works its last stable offset out a moment after the high watermark, never a minute."""
Behind = tuple[Fetched, int]
"""An answer, and the last stable offset that was due in it."""


@rule(
    id="TXN003",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, Transaction, Fetch),
    law="liveness of the last stable offset",
    message="Readers of committed transactions stop at offset {start_offset} of broker {broker}'s log, before "
    "{behind:committed offset}. {why:.}",
    implied_by=("TXN001", "HW006"),
    thresholds=(SLACK, LASTING),
)
def last_stable_offset_stuck(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The last stable offset stands still, and committed records wait.

    It is the high watermark, or the first offset of the oldest transaction that is undecided below it. Consumers that
    read committed transactions get nothing from there on, whoever wrote it. The cleaner stops there too.

    It is worked out anew from batch headers: on disk at the leader's high watermark, in traces at each one told.

    Lawful is a transaction within its time-out and `slack`, and a leader that is behind for less than a minute (`lasting`).

    Proves
    ------
    On disk: records are replicated and not read, because of a transaction that ought to have ended (TXN001). In
    traces: the leader tells a lower offset than its own log decides. It keeps a transaction open that had its marker.

    Undecided when
    --------------
    TXN001 cannot say whether the oldest open transaction ought to have ended. No high watermark is on the leader's
    disk. Of traces: no log that is here tells the transactions of the leader at that time.

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
    for course in evidence.replayed.courses:
        yield from _in_answers(evidence, course)


def _on_disk(evidence: PartitionEvidence) -> Iterator[Violation]:
    leader = evidence.leader_at_the_end
    found = open_transactions(evidence, evidence.thresholds.of("TXN003", SLACK))
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
                "why": f"the transaction of producer {first.producer_id} is open there",
                "open_transactions": len(found),
                "subject": "on disk",
            },
            exhibits=(
                Exhibit(span=first.begun.span, role="the first batch of the transaction"),
                Exhibit(span=leader.high_watermark.span, role="the high watermark"),
            ),
        )


def _in_answers(evidence: PartitionEvidence, course: Course) -> Iterator[Violation]:
    least = evidence.thresholds.of("TXN003", LASTING)
    for behind, answers in groupby(_answers(evidence, course), key=lambda each: each[1] is not None):
        told = [(moment, due) for moment, due in answers if due is not None]
        if behind and _lasted(told) >= least:
            yield _told_late(told)


def _answers(evidence: PartitionEvidence, course: Course) -> Iterator[tuple[Fetched, int | None]]:
    """Answers that tell a last stable offset, with the one that was due where that is higher."""
    for row in course.rows:
        moment = row.moment
        if not isinstance(moment, Fetched):
            continue
        told, watermark = moment.last_stable_offset, moment.high_watermark
        if told is None or watermark is None or moment.doubtful or moment.error:
            continue
        exact = at_least(watermark, "it was told"), at_most(watermark, "it was told")
        due = evidence.stable.at(course, expected_interval(exact)).interval.low
        yield moment, due if due is not None and told < due else None


def _lasted(told: list[Behind]) -> int:
    first, last = told[0][0].time, told[-1][0].last_time or told[-1][0].time
    return 0 if first is None or last is None else last - first


def _told_late(told: list[Behind]) -> Violation:
    worst, due = max(told, key=lambda each: each[1] - (each[0].last_stable_offset or 0))
    leader = worst.witness
    return Violation(
        brokers=() if leader is None else (leader,),
        start_offset=worst.last_stable_offset,
        end_offset=due,
        facts={
            "broker": leader,
            "behind": due - (worst.last_stable_offset or 0),
            "why": f"it told so for {_lasted(told) // 1000} s, and its log decides all transactions up to {due}",
            "answers": sum(moment.count for moment, _ in told),
            "subject": f"told in epoch {worst.term}",
        },
        exhibits=tuple(_ends(told)),
    )


def _ends(told: list[Behind]) -> Iterable[Exhibit]:
    yield Exhibit(span=told[0][0].span, role="the first such answer")
    yield Exhibit(span=told[-1][0].span, role="the last such answer")
