"""Known defects of fetching, as request logs show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import Course, Moment, PartitionEvidence, Replica
from rules.finding import Exhibit, Severity
from rules.history.statements import Fetched
from rules.signatures.signature import Hit, Signature

STORAGE_ERROR: Final = 56
IN_FLIGHT_MS: Final = 1000
"""A fetch may be answered for this long after a change that it did not see."""
SHRINKS_WITHIN_MS: Final = 30_000


def _fetches(evidence: PartitionEvidence) -> Iterator[Fetched]:
    return (m for m in evidence.moments if m.kind == "fetched" and not m.doubtful)


def _diverges(m: Fetched) -> bool:
    return m.error in (None, 0) and m.answered_epoch is not None and m.answered_epoch >= 0


def _diverging_below_log_start(evidence: PartitionEvidence) -> Iterator[Hit]:
    for m in _fetches(evidence):
        start = m.log_start_offset
        if _diverges(m) and m.offset is not None and start is not None and m.offset < start:
            yield Hit(
                broker=m.witness,
                at=m,
                says=f"broker {m.witness} told broker {m.broker}, which asked for {m.offset}, below the log start"
                f" {start}, to cut its log instead of refusing the offset",
                exhibits=(Exhibit(span=m.span, role="the answer"),),
                start_offset=m.offset,
                end_offset=start,
            )


def _counted_a_diverging_fetch(evidence: PartitionEvidence) -> Iterator[Hit]:
    for course in evidence.replayed.courses:
        yield from _risen(course)


def _risen(course: Course) -> Iterator[Hit]:
    """Answers beyond what a member of the ISR held whose diverging offset they reach."""
    pending: dict[int, Fetched] = {}
    for row in course.rows:
        m = row.moment
        watermark = m.high_watermark if isinstance(m, Fetched) else None
        for broker, asked in pending.items():
            reached = watermark is not None and asked.offset is not None and watermark >= asked.offset
            if reached and row.isr and all(broker in isr for isr in row.isr):
                yield Hit(
                    broker=m.witness,
                    at=m,
                    says=f"broker {m.witness} told broker {broker} to cut its log below {asked.offset} and then counted"
                    f" it as if it held {asked.offset}: high watermark {watermark}",
                    exhibits=(
                        Exhibit(span=asked.span, role="the diverging answer"),
                        Exhibit(span=m.span, role="the high watermark behind it"),
                    ),
                    start_offset=asked.answer_offset,
                    end_offset=watermark,
                )
                return
        if m.kind != "fetched" or m.broker is None or m.doubtful or m.offset is None:
            continue
        if _diverges(m) and m.answer_offset is not None and m.answer_offset < m.offset:
            pending[m.broker] = m
        elif m.broker in pending and m.offset >= (pending[m.broker].offset or 0):
            del pending[m.broker]


def _without_last_epoch(evidence: PartitionEvidence) -> Iterator[Hit]:
    held = {replica.broker: replica for replica in evidence.current}
    for m in _fetches(evidence):
        follower = held.get(-1 if m.broker is None else m.broker)
        if m.asked_epoch != -1 or m.error not in (None, 0) or m.offset is None or follower is None:
            continue
        has_epochs = follower.log_chain and min(follower.log.magics) > 1 and _knows_epoch_before(follower, m.offset)
        begun = has_epochs and max(m.log_start_offset or 0, follower.log_chain[0].start_offset) < m.offset
        if begun:
            yield Hit(
                broker=follower.broker,
                at=m,
                says=f"broker {follower.broker} asked for offset {m.offset} without the epoch of its last record",
                exhibits=(Exhibit(span=m.span, role="the fetch"),),
                start_offset=m.offset,
            )


def _knows_epoch_before(follower: Replica, offset: int) -> bool:
    """Whether its epoch file gives an epoch to what is before an offset: one cut with the log start may not."""
    entries = follower.epoch_file.entries
    return not entries or entries[0].start_offset < offset


def _implied_in_an_old_epoch(evidence: PartitionEvidence) -> Iterator[Hit]:
    role: dict[str, Moment] = {}
    for m in evidence.moments:
        if m.kind in ("leader-starts", "follower-starts"):
            role[m.clock] = m
        opened = role.get(m.clock)
        if m.kind != "fetched" or not m.implied or m.doubtful or m.error != 0 or opened is None or m.epoch is None:
            continue
        late = m.time is not None and opened.time is not None and m.time > opened.time + IN_FLIGHT_MS
        if opened.kind == "leader-starts" and 0 <= m.epoch < (opened.epoch or 0) and late:
            yield Hit(
                broker=m.witness,
                at=m,
                says=f"broker {m.witness} had opened epoch {opened.epoch}, and went on to serve broker {m.broker} in"
                f" epoch {m.epoch}",
                exhibits=(Exhibit(span=opened.span, role="the newer epoch"), Exhibit(span=m.span, role="the fetch")),
                start_offset=m.offset,
            )


def _shrunk_after_failed_read(evidence: PartitionEvidence) -> Iterator[Hit]:
    failed: dict[tuple[str, int | None], Moment] = {}
    for m in evidence.moments:
        if m.kind == "fetched":
            if m.error == STORAGE_ERROR:
                failed[m.clock, m.broker] = m
            else:
                failed.pop((m.clock, m.broker), None)
        elif m.kind == "isr-shrinking":
            for broker in set(m.previous_isr or ()) - set(m.isr or ()):
                before = failed.pop((m.clock, broker), None)
                if before is not None and (m.time or 0) - (before.time or 0) <= SHRINKS_WITHIN_MS:
                    yield Hit(
                        broker=m.witness,
                        at=m,
                        says=f"broker {m.witness} failed to read for broker {broker} and dropped it from the ISR",
                        exhibits=(
                            Exhibit(span=before.span, role="the failed read"),
                            Exhibit(span=m.span, role="the smaller ISR"),
                        ),
                    )


FETCHING: Final = (
    Signature(
        defect="KAFKA-12996",
        title="a diverging answer for an offset below the log start",
        costs="the follower's fetcher fails and the replica stops fetching",
        releases=(((2, 7), (2, 7, 2)), ((2, 8), (2, 8, 1))),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=_diverging_below_log_start,
        drawing="""
            kafka 1 2.8.0
            broker 1 @7:111|
            broker 2 @7:111|
            t1 fetch 2@4 from 1 hw=10 start 7 diverges 0:3
        """,
    ),
    Signature(
        defect="KAFKA-13141",
        title="a leader counts a follower that it told to cut its log",
        costs="records count as committed that this follower does not hold",
        releases=(((2, 7), (2, 7, 2)), ((2, 8), (2, 8, 1))),
        severity=Severity.HIGH,
        confidence="certain",
        find=_counted_a_diverging_fetch,
        drawing="""
            kafka 1 2.8.0
            broker 1 000011|
            broker 2 000011|
            t1 leads 1 epoch 1 at 4 hw 2 isr 1,2
            t2 acks 1 at 5 acks=1
            t3 fetch 2@6 from 1 hw=2 diverges 0:4
            t4 fetch 2@4 from 1 hw=6
        """,
    ),
    Signature(
        defect="KAFKA-15510",
        title="a follower forgets the epoch of its last record",
        costs="for that fetch nobody could tell whether its log diverged",
        releases=(((2, 8), (3, 7)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_without_last_epoch,
        drawing="""
            kafka 2 3.5.1
            broker 1 0000|
            broker 2 0000|
            t1 fetch 2@4 from 1 hw=4 last -1
        """,
    ),
    Signature(
        defect="KAFKA-9338",
        title="partitions that a fetch session leaves out are not fenced",
        costs="so a replica with an older epoch was served as if it were up to date",
        releases=(((2, 1), (2, 5)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_implied_in_an_old_epoch,
        drawing="""
            kafka 1 2.4.1
            broker 1 0000|
            broker 2 0000|
            t1 leads 1 epoch 1 at 4 hw 4
            t2000 fetch 2@4 from 1 hw=4 epoch 0 implied
        """,
    ),
    Signature(
        defect="KAFKA-8400",
        title="a failed read makes a leader forget where its follower stands",
        costs="the replica is out of sync for a moment although it lacks nothing",
        releases=(((1, 0), (2, 4)),),
        severity=Severity.LOW,
        confidence="possible",
        find=_shrunk_after_failed_read,
        drawing="""
            kafka 1 2.3.1
            broker 1 0000|
            broker 2 0000|
            t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
            t2 fetch 2@4 from 1 hw=4 error 56
            t3 shrinks 1 from 1,2 to 1 at 4
        """,
    ),
)
