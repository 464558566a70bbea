"""ISR002: a follower stayed in the ISR, or was dropped from it, against replica.lag.time.max.ms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from parsers.tables import BrokerEvent, Fetch, IsrRequest, MetadataChange
from rules.evidence import Course, Lag, LeaderRow, PartitionEvidence, PartitionState
from rules.evidence.against_lag import SLACK, TakenOut, dropped_caught_up, kept_behind
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="ISR002",
    severity=Severity.MEDIUM,
    needs=(Fetch, BrokerEvent, MetadataChange, IsrRequest),
    law="ISR by replica.lag.time.max.ms",
    thresholds=(SLACK,),
    message="Broker {follower} {deed} by leader {leader} in epoch {epoch}. {because:.}",
)
def isr_contradicts_lag(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The ISR was not what the followers' lag makes of it.

    Every half of replica.lag.time.max.ms a leader drops members that have not been caught up for all of it. Since 2.1
    a member that stands at its log end stays, however long ago it fetched. A follower is caught up when it asks for
    the leader's log end, or for the log end at its fetch before. The latest time at which a member can have been
    caught up is recomputed from its fetches. Fencing and clean shutdowns take members out without any lag.

    Proves
    ------
    Kept: commits waited for a dead member, or the leader could not reach its controller. Dropped: a replica that held
    everything was no longer counted, so that fewer copies stood behind what was committed.

    Undecided when
    --------------
    Neither replica.lag.time.max.ms nor the release, whose default it then is, are told; or changes of the ISR are not. Of
    the last half minute of a trace nothing is said, nor of whom it saw dropped. A fetch may have been under way then,
    and its answer never logged.
    A stretch of more than a minute without a line begins the count again: lines may be missing. A leader that has been
    silent for five seconds may have stood still, and is given the time to look once more.

    Upheld
    ------
    kafka 1 3.9.1
    set replica.lag.time.max.ms 10000
    broker 1 000000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@4 from 1 hw=0
    t3 acks 1 at 5 acks=1
    t13000 shrinks 1 from 1,2 to 1 at 6
    t13001 isr 1 now 1
    t50000 acks 1 at 6 acks=1

    Violated
    --------
    kafka 1 3.9.1
    set replica.lag.time.max.ms 10000
    broker 1 000000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@4 from 1 hw=0
    t3 acks 1 at 5 acks=1
    t50000 acks 1 at 6 acks=1
    t54000 acks 1 at 7 acks=1
    t58000 acks 1 at 8 acks=1
    t62000 acks 1 at 9 acks=1
    t99000 acks 1 at 10 acks=1
    t99001 shrinks 1 from 1,2 to 1 at 11
    """
    shrinking: dict[tuple[str, int | None], list[PartitionState]] = {}
    for m in evidence.moments:
        if m.kind == "isr-shrinking":
            shrinking.setdefault((m.clock, m.term), []).append(m)
    for course in evidence.replayed.courses:
        limit = course.rank.lag_limit_ms
        if limit is None:
            reason = f"it is not known how long a follower of broker {course.lead.leader} may lag before it leaves the ISR"
            yield Undecided(reason=reason, missing="replica.lag.time.max.ms, or the broker's release", blocking=False)
            continue
        slack, steady = evidence.thresholds.of("ISR002", SLACK), evidence.steady.get(course.lead.clock, ())
        for row, lag in kept_behind(evidence.moments, course, limit, slack, steady):
            yield _violation(course, lag.broker, "was kept in the ISR", *_why_kept(course, lag, limit, row))
        own = (shrinking.get((course.lead.clock, epoch), ()) for epoch in course.lead.epochs)
        for dropped in dropped_caught_up(course, chain.from_iterable(own), steady):
            yield _violation(course, dropped.broker, "was dropped from the ISR", *_why_dropped(dropped))


def _why_kept(course: Course, lag: Lag, limit: int, row: LeaderRow) -> tuple[str, Confidence, tuple[Exhibit, ...]]:
    because = (
        f"it asked for offset {lag.offset} at most, so it cannot have caught up for {lag.milliseconds / 1000:.1f} seconds;"
        f" {_limit(course, limit)}"
    )
    sure = course.rank.lag_time_max_ms is not None and not course.isr.estimated
    exhibits = (Exhibit(span=row.moment.span, role="the leader's log goes on"),)
    return because, "certain" if sure else "likely", exhibits


def _limit(course: Course, limit: int) -> str:
    return f"replica.lag.time.max.ms is {limit} ({limit / 1000:g} seconds)" + (", by default" if course.rank.lag_time_max_ms is None else "")


def _why_dropped(dropped: TakenOut) -> tuple[str, Confidence, tuple[Exhibit, ...]]:
    because = f"it had asked for {dropped.asked.offset}, and the leader's log end offset was {dropped.shrinking.end_offset}"
    shown = (
        Exhibit(span=dropped.shrinking.span, role="the smaller ISR"),
        Exhibit(span=dropped.asked.span, role="its last fetch"),
    )
    return because, "likely", shown


def _violation(
    course: Course, follower: int, deed: str, because: str, confidence: Confidence, exhibits: tuple[Exhibit, ...]
) -> Violation:
    return Violation(
        brokers=(course.lead.leader, follower),
        confidence=confidence,
        facts={
            "leader": course.lead.leader,
            "follower": follower,
            "deed": deed,
            "epoch": course.lead.epochs[-1],
            "because": because,
            "subject": f"{deed} {course.lead.epochs[-1]}",
        },
        exhibits=exhibits,
    )
