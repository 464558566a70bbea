"""Known defects of elections and of the in-sync replicas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rules.evidence import Course, Moment, PartitionEvidence, gives_role
from rules.finding import Exhibit, Severity
from rules.signatures.signature import Hit, Signature


def _joined_below_epoch_start(evidence: PartitionEvidence) -> Iterator[Hit]:
    for course in evidence.replayed.courses:
        start = course.lead.start_offset
        for before, after in pairwise(course.isr.statements):
            for broker in sorted(after.isr - before.isr):
                asked = _asked_by(course, broker, after.moment)
                if start is not None and asked and max(asked) < start:
                    yield Hit(
                        broker=course.lead.leader,
                        at=after.moment,
                        says=f"broker {broker} was let into the ISR of epoch {course.lead.epochs[0]} with log end"
                        f" offset {max(asked)}, below offset {start} at which the epoch began",
                        exhibits=(Exhibit(span=after.moment.span, role="the larger ISR"),),
                        start_offset=max(asked),
                        end_offset=start,
                    )


def _asked_by(course: Course, broker: int, joined: Moment) -> list[int]:
    """What a follower had asked for when it joined, the fetch included that was answered right after.

    Without that one nothing: the fetch by which it joined may be among lines that are lost.
    """
    if joined.clock != course.lead.clock or joined.time is None:
        return []
    rows = [row.moment for row in course.rows if row.moment.kind == "fetched" and row.moment.broker == broker]
    before = [m for m in rows if m.time is not None and m.time <= joined.time]
    if len(rows) == len(before) or any(m.doubtful or m.offset is None for m in rows):
        return []
    return [m.offset for m in rows[: len(before) + 1] if m.offset is not None]


def _unknown_epoch_of_a_leader(evidence: PartitionEvidence) -> Iterator[Hit]:
    held = {replica.broker: replica for replica in evidence.current}
    for m in evidence.moments:
        leader = held.get(-1 if m.leader is None else m.leader)
        if m.kind != "epoch-asked" or leader is None or m.error not in (None, 0):
            continue
        formats, chain = leader.log.magics, leader.file_chain or leader.log_chain
        # What its log start has left behind, a leader of these releases lawfully does not know either.
        known = m.asked_epoch is not None and bool(chain) and m.asked_epoch >= max(0, chain[0].epoch)
        if known and m.answer_offset == -1 and formats and min(formats) > 1:
            yield Hit(
                broker=leader.broker,
                at=m,
                says=f"broker {leader.broker} led and could not say where epoch {m.asked_epoch} ends, so broker"
                f" {m.broker} fell back to its high watermark",
                exhibits=(Exhibit(span=m.span, role="the question and its answer"),),
            )


def _skipped_epoch(evidence: PartitionEvidence) -> Iterator[Hit]:
    orders: dict[int, list[Moment]] = {}
    for m in evidence.moments:
        if m.kind == "leadership" and gives_role(m) and m.witness is not None and m.epoch is not None:
            orders.setdefault(m.witness, []).append(m)
    for follower in sorted(orders):
        for before, after in pairwise(orders[follower]):
            skipped = (before.epoch or 0) + 1
            same = before.leader == after.leader != follower and (after.epoch or 0) > skipped
            start = _diverges_from(evidence, follower, after.leader, skipped) if same else None
            if start is not None:
                yield Hit(
                    broker=follower,
                    at=after,
                    says=f"broker {follower} followed broker {after.leader} from epoch {before.epoch} straight to"
                    f" {after.epoch} and did not look for what epoch {skipped} had changed: the logs differ from"
                    f" {start} on",
                    exhibits=(
                        Exhibit(span=before.span, role="the order before"),
                        Exhibit(span=after.span, role="the order that skips an epoch"),
                    ),
                    start_offset=start,
                )


def _diverges_from(evidence: PartitionEvidence, follower: int, leader: int | None, epoch: int) -> int | None:
    """Where the two logs differ, if not before the epoch, or the next one that left a trace, begins."""
    for difference in evidence.differences:
        pair = {difference.left.broker: difference.left, difference.right.broker: difference.right}
        if leader is None or pair.keys() != {follower, leader}:
            continue
        chain = pair[leader].file_chain or pair[leader].log_chain
        start = next((entry.start_offset for entry in chain if entry.epoch >= epoch), None)
        if start is not None and difference.start_offset >= start:
            return difference.start_offset
    return None


def _isr_outside_assignment(evidence: PartitionEvidence) -> Iterator[Hit]:
    # The last orders of a reassignment still name the old replicas among the ISR: what counts is what stays.
    states = evidence.chronicle.states
    newest = max((m.epoch for m in evidence.moments if m.kind == "leadership" and m.epoch is not None), default=None)
    for m in states[-1:]:
        foreign = sorted(set(m.isr or ()) - set(m.replicas or m.isr or ()))
        leaving = any(foreign[:1] and foreign[0] in (before.replicas or ()) for before in states[-2:-1])
        if m.kind == "leadership" and foreign and m.epoch == newest and not leaving:
            yield Hit(
                broker=m.witness,
                at=m,
                says=f"the ISR of epoch {m.epoch} holds broker {foreign[0]}, which is no replica of the partition",
                exhibits=(Exhibit(span=m.span, role="the partition state"),),
            )


def _empty_isr(evidence: PartitionEvidence) -> Iterator[Hit]:
    for m in evidence.moments:
        if m.kind in ("leadership", "isr") and m.isr == () and m.leader is not None and m.leader >= 0:
            yield Hit(
                broker=None,
                says=f"broker {m.leader} leads epoch {m.epoch} and the ISR is empty",
                exhibits=(Exhibit(span=m.span, role="the partition state"),),
            )


ELECTING: Final = (
    Signature(
        defect="KAFKA-7128",
        title="a follower enters the ISR below the leader's epoch",
        costs="if that broker leads before it has caught up, committed records are lost",
        releases=(((0, 11), (2, 0, 1)),),
        severity=Severity.HIGH,
        confidence="likely",
        find=_joined_below_epoch_start,
        drawing="""
            kafka 1 2.0.0
            broker 1 000011|
            broker 2 000011|
            t1 leads 1 epoch 1 at 4 hw 2 isr 1
            t2 fetch 2@2 from 1 hw=2
            t3 isr 1 now 1,2
            t4 fetch 2@3 from 1 hw=2
        """,
    ),
    Signature(
        defect="KAFKA-7415",
        title="a leader that has written nothing does not know its own epoch",
        costs="if that follower held committed records above its high watermark, it removed them",
        releases=(((0, 11), (2, 0, 1)),),
        severity=Severity.MEDIUM,
        confidence="likely",
        find=_unknown_epoch_of_a_leader,
        drawing="""
            kafka 1 1.1.1
            broker 1 0000|
            broker 2 0000|
            t1 asks 2 of 1 epoch 1 answer -1
        """,
    ),
    Signature(
        defect="KAFKA-7164",
        title="a follower of the same leader skips an epoch",
        costs="the follower keeps records that its leader does not have",
        releases=(((0, 11), (2, 0, 1)),),
        severity=Severity.HIGH,
        confidence="likely",
        find=_skipped_epoch,
        drawing="""
            kafka 2 1.1.1
            broker 1 0022|
            broker 2 0000|
            t1 leader 1 epoch 0 isr 1,2 told 2
            t3 leader 1 epoch 2 isr 1,2 told 2
        """,
    ),
    Signature(
        defect="KAFKA-9672",
        title="an ISR holds a broker that is no replica",
        costs="an election may choose a broker that does not hold the partition",
        releases=(((1, 1), (3, 0)),),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=_isr_outside_assignment,
        drawing="""
            kafka 1 2.8.1
            broker 1 00|
            broker 2 00|
            t1 leader 1 epoch 0 isr 1,2,3 of 1,2
        """,
    ),
    Signature(
        defect="KAFKA-15353",
        title="a retried change of the ISR empties it",
        costs="the partition has no broker that it may elect cleanly",
        releases=(((3, 3), (3, 5, 2)),),
        severity=Severity.HIGH,
        confidence="likely",
        find=_empty_isr,
        drawing="""
            kafka 1 3.5.1
            broker 1 00|
            broker 2 00|
            t1 leader 1 epoch 0 isr
        """,
    ),
)
