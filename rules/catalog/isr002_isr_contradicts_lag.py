"""ISR002: a follower stayed in the ISR, or was dropped from it, against replica.lag.time.max.ms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from parsers.tables import BrokerEvent, Fetch, IsrRequest, MetadataChange
from rules.evidence import Course, Lag, LeaderRow, Moment, PartitionEvidence, lags
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule

SLACK_MS: Final = 5000
"""For the time that a change of the ISR takes to come into force."""


@rule(
    id="ISR002",
    severity=Severity.MEDIUM,
    needs=(Fetch, BrokerEvent, MetadataChange, IsrRequest),
    law="ISR by replica.lag.time.max.ms",
    message="Broker {follower} {deed} by leader {leader} in epoch {epoch}. {because:.}",
)
def isr_contradicts_lag(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The ISR was not what the followers' lag makes of it.

    Every half of replica.lag.time.max.ms a leader drops members that have not been caught up for all of it. Since
    2.1 a member that stands at its log end stays, however long ago it fetched. Caught up is who asks for the
    leader's log end, or for what was the log end at its former fetch. The latest time at which a member can have
    been caught up is recomputed from its fetches. Fencing and orderly stops take members out without any lag.

    Proves
    ------
    Kept: commits waited for a dead member, or the leader could not reach its controller. Dropped: a replica that held
    everything was no longer counted, so that fewer copies stood behind what was committed.

    Undecided when
    --------------
    Neither replica.lag.time.max.ms nor the release, whose default it then is, are told; or changes of the ISR are not. Of
    the last half minute of a trace nothing is said: a fetch may have been under way whose answer was never logged.
    A stretch of more than a minute without a line begins the count anew: lines may be missing. A leader that has been
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
    shrinking: dict[tuple[str, int | None], list[Moment]] = {}
    for m in evidence.moments:
        if m.kind == "isr-shrinking":
            shrinking.setdefault((m.clock, m.term), []).append(m)
    for course in evidence.replayed.courses:
        limit = course.rank.lag_limit_ms
        if limit is None:
            reason = f"nobody tells how long a follower of broker {course.reign.leader} may lag"
            yield Undecided(reason=reason, missing="replica.lag.time.max.ms, or the broker's release", blocking=False)
            continue
        yield from _kept(evidence, course, limit)
        own = (shrinking.get((course.reign.clock, epoch), ()) for epoch in course.reign.epochs)
        yield from _dropped(course, chain.from_iterable(own))


def _kept(evidence: PartitionEvidence, course: Course, limit: int) -> Iterator[Violation]:
    told: set[int] = set()
    for row, followers in lags(course):
        for lag in followers:
            late = lag.milliseconds > limit + limit // 2 + SLACK_MS and lag.awake_ms > limit // 2 + SLACK_MS
            if late and lag.broker not in told and _surely_member(row, lag) and _changes_told(evidence, course, row):
                told.add(lag.broker)
                if not _proposed(evidence, course, lag, row):
                    yield _violation(course, lag.broker, "was kept in the ISR", *_why_kept(course, lag, limit, row))


def _surely_member(row: LeaderRow, lag: Lag) -> bool:
    return bool(row.isr) and all(lag.broker in isr for isr in row.isr)


def _changes_told(evidence: PartitionEvidence, course: Course, row: LeaderRow) -> bool:
    """Whether a change of the ISR by then would be known: from the controller, or from a leader's log that goes on."""
    if any(m.clock == "controller" and m.epoch in course.reign.epochs for m in evidence.moments):
        return True
    own = (m for m in evidence.moments if m.clock == course.reign.clock and m.kind in ("isr", "isr-shrinking"))
    return any((m.time or 0) >= (row.moment.time or 0) for m in own)


def _proposed(evidence: PartitionEvidence, course: Course, lag: Lag, row: LeaderRow) -> bool:
    """Whether the leader had asked for it: then the controller let it wait."""
    return any(
        m.kind == "isr-shrinking" and m.clock == course.reign.clock and m.term in course.reign.epochs
        and lag.broker not in (m.isr or ()) and (m.time or 0) <= (row.moment.time or 0)
        for m in evidence.moments
    )  # fmt: skip


def _why_kept(course: Course, lag: Lag, limit: int, row: LeaderRow) -> tuple[str, Confidence, tuple[Exhibit, ...]]:
    because = (
        f"it asked for {lag.offset} at most and cannot have been caught up for {lag.milliseconds} ms, and"
        f" {_limit(course, limit)}"
    )
    sure = course.rank.lag_time_max_ms is not None and not course.isr.estimated
    exhibits = (Exhibit(span=row.moment.span, role="the leader's log goes on"),)
    return because, "certain" if sure else "likely", exhibits


def _limit(course: Course, limit: int) -> str:
    return f"replica.lag.time.max.ms is {limit}" + (", by default" if course.rank.lag_time_max_ms is None else "")


def _dropped(course: Course, shrinking: Iterable[Moment]) -> Iterator[Violation]:
    version = course.rank.version
    if version is None or not version.at_least(2, 4):
        # Up to 2.0 a member at the log end is dropped too; up to 2.3 a failed read makes its leader forget it.
        return
    for m in shrinking:
        if m.end_offset is None or m.time is None:
            continue
        for broker in sorted(set(m.previous_isr or ()) - set(m.isr or ())):
            asked = _around(course, broker, m.time)
            if asked and all(fetch.offset is not None and fetch.offset >= m.end_offset for fetch in asked):
                because = f"it had asked for {asked[0].offset}, and the leader's log ended at {m.end_offset}"
                shown = (
                    Exhibit(span=m.span, role="the smaller ISR"),
                    Exhibit(span=asked[0].span, role="its last fetch"),
                )
                yield _violation(course, broker, "was dropped from the ISR", because, "likely", shown)


def _around(course: Course, broker: int, time: int) -> list[Moment]:
    """A follower's last accepted fetch before a time, and the next one, which may have been applied by then."""
    rows = [row for row in course.rows if row.moment.kind == "fetched" and row.moment.broker == broker]
    before = [row.moment for row in rows if (row.moment.time or 0) <= time]
    after = [row.moment for row in rows if (row.moment.time or 0) > time]
    asked = [*before[-1:], *after[:1]]
    unusable = any(m.doubtful or m.error not in (None, 0) or m.answered_epoch is not None for m in asked)
    return [] if unusable or not before else asked


def _violation(
    course: Course, follower: int, deed: str, because: str, confidence: Confidence, exhibits: tuple[Exhibit, ...]
) -> Violation:
    return Violation(
        brokers=(course.reign.leader, follower),
        confidence=confidence,
        facts={
            "leader": course.reign.leader,
            "follower": follower,
            "deed": deed,
            "epoch": course.reign.epochs[-1],
            "because": because,
            "subject": f"{deed} {course.reign.epochs[-1]}",
        },
        exhibits=exhibits,
    )
