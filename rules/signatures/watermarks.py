"""Known defects of whom a leader counts, as its answers show."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from rules.evidence import Course, LeaderRow, Moment, PartitionEvidence
from rules.finding import Exhibit, Severity
from rules.history.moments import high_watermark
from rules.history.statements import Fetched
from rules.signatures.below_min_isr import committed_below_min_isr
from rules.signatures.signature import Hit, Signature

SETTLED_MS: Final = 1000
"""What stood for so long was in flight no more."""
LAG_LIMITS_MS: Final = (10_000, 30_000)
"""The smallest and the largest default of replica.lag.time.max.ms, for leaders whose release is not known."""
BEFORE_ALL: Final = -(1 << 62)


def _held_by_a_leaver(evidence: PartitionEvidence) -> Iterator[Hit]:
    for course in evidence.replayed.courses:
        limit = course.rank.lag_limit_ms or LAG_LIMITS_MS[0]
        held = next((held for held in _held_back(course) if _silence(*held) < limit), None)
        if held is not None:
            yield _holding(course, *held, "and had stopped fetching a moment before")


def _held_after_shrinking(evidence: PartitionEvidence) -> Iterator[Hit]:
    for course in evidence.replayed.courses:
        limit = course.rank.lag_limit_ms or LAG_LIMITS_MS[1]
        held = next((held for held in _held_back(course) if _silence(*held) > limit), None)
        if held is not None:
            yield _holding(course, *held, "and was dropped from the ISR for its lag")


def _held_back(course: Course) -> Iterator[tuple[Fetched, Fetched]]:
    """Last fetches of brokers outside the ISR, and answers that stand there although every member had gone on."""
    asked: dict[int, list[Fetched]] = {}
    for row in course.rows:
        m = row.moment
        if m.kind != "fetched" or m.broker is None or m.doubtful or m.error != 0 or m.time is None:
            continue
        # Whatever of its fetches is left out behind the last one, it may have gone on meanwhile.
        stand = {b: own[-1] for b, own in asked.items() if own[-1].offset == m.high_watermark and not own[-1].left_out}
        for broker in sorted(stand.keys() - {m.broker} if row.isr and m.high_watermark is not None else ()):
            outside = all(broker not in isr for isr in row.isr)
            late = _silence(stand[broker], m) > SETTLED_MS
            if outside and late and _all_beyond(row, m.high_watermark or 0, course, asked):
                yield stand[broker], m
        asked.setdefault(m.broker, []).append(m)


def _all_beyond(row: LeaderRow, watermark: int, course: Course, asked: dict[int, list[Fetched]]) -> bool:
    """Whether each follower in the ISR had asked, long enough ago, for more than the watermark that is told now."""
    members = frozenset().union(*row.isr) - {course.lead.leader}
    settled = [
        next((m for m in reversed(asked.get(member, ())) if _silence(m, row.moment) > SETTLED_MS), None)
        for member in members
    ]
    return bool(settled) and all(m is not None and (m.offset or 0) > watermark for m in settled)


def _silence(last: Moment, now: Moment) -> int:
    """Milliseconds from one statement of a clock to another; -1 where a time is not known."""
    began = last.last_time or last.time
    return -1 if began is None or now.time is None else now.time - began


def _holding(course: Course, last: Fetched, now: Fetched, which: str) -> Hit:
    return Hit(
        broker=course.lead.leader,
        at=now,
        says=f"broker {course.lead.leader} told high watermark {now.high_watermark}, although every replica in the ISR"
        f" had fetched beyond it; broker {last.broker} had fetched up to there, {which}",
        exhibits=(
            Exhibit(span=last.span, role=f"broker {last.broker}'s last fetch"),
            Exhibit(span=now.span, role="an answer behind it"),
        ),
        start_offset=now.high_watermark,
    )


def _starts_beyond_watermark(evidence: PartitionEvidence) -> Iterator[Hit]:
    for m in evidence.moments:
        if not isinstance(m, Fetched) or m.error not in (None, 0) or m.doubtful:
            continue
        start, watermark = m.log_start_offset, m.high_watermark
        if start is not None and watermark is not None and start > watermark:
            yield Hit(
                broker=m.witness,
                at=m,
                says=f"broker {m.witness} had deleted its log up to {start}, beyond its high watermark {watermark}",
                exhibits=(Exhibit(span=m.span, role="the answer"),),
                start_offset=watermark,
                end_offset=start,
            )


def _joined_on_its_former_word(evidence: PartitionEvidence) -> Iterator[Hit]:
    for course in evidence.replayed.courses:
        joins = [
            (joined.moment, broker)
            for joined, brokers in zip(course.isr.statements, course.isr.joined(), strict=True)
            if joined.moment.clock == course.lead.clock and joined.moment.time is not None
            for broker in sorted(brokers - {course.lead.leader})
        ]
        fetches: dict[int | None, list[Fetched]] = {}
        watermarks: list[tuple[int, int]] = [(BEFORE_ALL, 0)]
        for row in course.rows if joins else ():
            m = row.moment
            if m.time is None:
                continue
            watermarks.append((m.time, max(watermarks[-1][1], high_watermark(m) or 0)))
            # One that is answered with an error, as when the role ends while it waits, counted when it came.
            if m.kind == "fetched":
                fetches.setdefault(m.broker, []).append(m)
        for joined, broker in joins:
            watermark = watermarks[bisect_right(watermarks, (joined.time or 0) - SETTLED_MS, key=itemgetter(0)) - 1][1]
            hit = _joined(course, joined, fetches.get(broker, ()), watermark)
            if hit is not None:
                yield hit


def _joined(course: Course, joined: Moment, fetches: Sequence[Fetched], watermark: int) -> Hit | None:
    """A join of a broker that has come back with less since it last stood as far as its leader's high watermark."""
    # The fetch that made it join may be answered after that.
    count = bisect_right(fetches, joined.time or 0, key=lambda m: m.time or 0) + 1
    if not any(_about(m, joined.time or 0) for m in fetches[max(count - 2, 0) : count]):
        return None  # it joined by a fetch of which no line is here
    furthest = 0
    for place in range(min(count, len(fetches)) - 1, 0, -1):
        m = fetches[place]
        furthest = max(furthest, m.offset or 0)
        if m.doubtful or m.offset is None or furthest >= watermark:
            return None
        if _returned_with_less(fetches[place - 1], m):
            return Hit(
                broker=course.lead.leader,
                at=joined,
                says=f"broker {m.broker} came back with its log up to {furthest} and was let into the ISR below high"
                f" watermark {watermark}, on the word of a fetch from before it was started again",
                exhibits=(
                    Exhibit(span=m.span, role="its first fetch since it came back"),
                    Exhibit(span=joined.span, role="the larger ISR"),
                ),
                start_offset=furthest,
                end_offset=watermark,
            )
    return None


def _about(fetch: Fetched, time: int) -> bool:
    """Whether a fetch, or one of a run of them, was answered about then."""
    first = fetch.time or 0
    return first - SETTLED_MS <= time <= max(first, fetch.last_time or first) + SETTLED_MS


def _returned_with_less(before: Fetched, after: Fetched) -> bool:
    told_to_cut = before.answered_epoch is not None and before.answered_epoch >= 0
    return not told_to_cut and (after.offset or 0) < (before.offset or 0)


WATERMARKS: Final = (
    Signature(
        defect="KAFKA-13091",
        title="a smaller ISR does not move the high watermark",
        costs="producers with acks=all and consumers wait until something else moves it",
        releases=(((2, 7), (3, 1)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_held_after_shrinking,
        drawing="""
            kafka 1 2.8.2
            broker 1 0000|
            broker 2 0000|
            broker 3 00|
            t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
            t2 fetch 2@4 from 1 hw=0
            t3 fetch 3@2 from 1 hw=0
            t70000 shrinks 1 from 1,2,3 to 1,2 at 4
            t70001 isr 1 now 1,2 version 1
            t140000 fetch 2@4 from 1 hw=2
            t210000 fetch 2@4 from 1 hw=2
            t210001 follows 1 epoch 1 at 4 hw 2 from 2
        """,
    ),
    Signature(
        defect="KAFKA-15021",
        title="a replica that is shutting down holds the high watermark",
        costs="until it rises, producers with acks=all and consumers wait, for up to replica.lag.time.max.ms",
        releases=(((0, 11), (3, 6)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_held_by_a_leaver,
        drawing="""
            kafka 1 3.5.1
            broker 1 000000|
            broker 2 000000|
            broker 3 0000|
            t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
            t2 fetch 2@4 from 1 hw=0
            t3 fetch 3@4 from 1 hw=0
            t10 isr 1 now 1,2
            t100 fetch 2@6 from 1 hw=4
            t3000 fetch 2@6 from 1 hw=4
        """,
    ),
    Signature(
        defect="KAFKA-15583",
        title="records count as committed below min.insync.replicas",
        costs="what acks=1 wrote was read by consumers and is gone: the last replica in sync was the only one",
        releases=(((0, 11), (3, 7)),),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=committed_below_min_isr,
        drawing="""
            kafka 1 3.6.1
            set min.insync.replicas 2
            broker 1 000000|
            broker 2 000011|
            t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
            t2 isr 1 now 1
            t3 acks 1 at 4 acks=1
            t4 acks 1 at 5 acks=1
            t3000 serve 4 from 1 hw=6
            t5000 leads 2 epoch 1 at 4 hw 4 isr 2
        """,
    ),
    Signature(
        defect="KAFKA-5634",
        title="retention beyond the high watermark",
        costs="records are deleted before they are committed, and fetches from the leader fail",
        releases=(((0, 11), (0, 11, 0, 1)),),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=_starts_beyond_watermark,
        drawing="""
            kafka 1 0.11.0.0
            broker 1 @6:00|
            broker 2 @6:00|
            t1 fetch 2@8 from 1 hw=5 start 6
        """,
    ),
    Signature(
        defect="KAFKA-15221",
        title="a follower enters the ISR on a fetch from before its restart",
        costs="if that broker leads before it has caught up, committed records are lost",
        releases=(((0, 11), (3, 7)),),
        severity=Severity.HIGH,
        confidence="likely",
        find=_joined_on_its_former_word,
        drawing="""
            kafka 1 3.5.1
            broker 1 000000|
            broker 2 000000|
            t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
            t2 fetch 2@6 from 1 hw=0
            t3 fetch 2@6 from 1 hw=6
            t4 isr 1 now 1
            t3000 fetch 2@3 from 1 hw=6
            t3001 isr 1 now 1,2
            t3002 fetch 2@4 from 1 hw=6
        """,
    ),
)
