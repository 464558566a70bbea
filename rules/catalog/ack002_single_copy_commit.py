"""ACK002: records were committed while one replica alone was in sync."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from parsers.tables import BrokerEvent, IsrRequest, MetadataChange, Produce
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import Course, Cut, LeaderRow, Moment, PartitionEvidence, Span
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import it_or_them


@rule(
    id="ACK002",
    severity=Severity.LOW,
    needs=(MetadataChange, IsrRequest, Produce, BrokerEvent),
    law="WeakIsr",
    message="Broker {leader} alone was in sync in epoch {epoch} and acknowledged {offsets}. {fate:.}",
    implied_by=("CONF001",),
)
def single_copy_commit(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Records were committed while one replica alone was in sync.

    With acks=all and min.insync.replicas of 1 an ISR of one commits whatever its only member holds.

    Proves
    ------
    For these records there was one copy in sync when the producer was told that they are safe. Medium when that copy
    was then cut, or the next epoch opened below them.

    Undecided when
    --------------
    Request logs do not hold produce answers (DEBUG), or nothing tells the ISR in force. Or another clock alone places
    the ISR, and the followers' fetches do not show that they had not reached the records. Or the log of the leader's
    roles leaves out a role, so that the answers may be of one epoch or of another.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 acks 1 at 0 acks=all

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1
    t2 acks 1 at 0 acks=all
    """
    if len({m.broker for m in evidence.moments if m.kind == "fetched"} | {r.broker for r in evidence.current}) < 2:
        return
    courses = evidence.replayed.courses
    for place, course in enumerate(courses):
        rows = [(row, row.stands_alone(course.lead.leader)) for row in course.rows if _acknowledges(row, course)]
        for alone in _alone(rows):
            yield _violation(evidence, course, alone, courses[place + 1 :])
        if any(sure is None for _, sure in rows) and not any(sure for _, sure in rows):
            yield _undecided(course)
    unplaced = [course for course in courses if course.lead.unplaced and _may_acknowledge(evidence, course)]
    if unplaced:
        yield _unplaced(unplaced[0])


def _alone(rows: Sequence[tuple[LeaderRow, bool | None]]) -> Iterator[list[LeaderRow]]:
    """The answers that it gave alone, apart where one that others had too stands between.

    Where the ISR's times are of another clock, they are an estimate: such answers are told apart from certain ones.
    """
    for with_others, part in groupby(rows, key=lambda pair: pair[1] is False):
        alone = [] if with_others else [row for row, sure in part if sure]
        for certain in (True, False):
            alike = [row for row in alone if _certain(row) == certain]
            if alike:
                yield alike


def _certain(row: LeaderRow) -> bool:
    return len(row.isr) == 1


def _acknowledges(row: LeaderRow, course: Course) -> bool:
    answer = row.moment
    # Below the opening stands what is sent again: it was written under an older leader.
    own = (answer.offset or 0) >= (course.lead.start_offset or 0)
    return answer.kind == "produced" and answer.acks == -1 and answer.error == 0 and own


def _undecided(course: Course) -> Undecided:
    leader, epochs = course.lead.leader, ", ".join(map(str, course.lead.epochs))
    reason = f"it is not known whether broker {leader} was alone in sync when it acknowledged records in epoch {epochs}"
    requests = Silence(broker=leader, log="requests in full", window="of the time when it led")
    asked = Silence(broker=leader, log="isr"), requests
    return Undecided(reason=reason, missing=would_tell(*asked), blocking=False)


def _may_acknowledge(evidence: PartitionEvidence, course: Course) -> bool:
    """Whether its leader answered a producer in what may be the lead, though no row of it tells so."""
    clock, epochs = course.lead.clock, course.lead.epochs
    answers = (m for m in evidence.moments if m.kind == "produced" and m.clock == clock and m.term in epochs)
    return any(m.acks == -1 and m.error == 0 for m in answers)


def _unplaced(course: Course) -> Undecided:
    leader, epochs = course.lead.leader, ", ".join(map(str, course.lead.epochs))
    reason = f"it is not known in which epoch broker {leader} answered producers: {epochs} or another one"
    return Undecided(reason=reason, missing=would_tell(course.lead.unheard["unplaced"].silence), blocking=False)


def _violation(evidence: PartitionEvidence, course: Course, rows: Sequence[LeaderRow], later: Sequence[Course]) -> Violation:
    offsets = [row.moment.offset for row in rows if row.moment.offset is not None]
    last = max(rows, key=lambda row: row.moment.offset or 0).moment
    end = evidence.batch_end(max(offsets), last.term)
    own = [c for c in evidence.chronicle.cuts if c.broker == course.lead.leader and c.offset < end]
    cuts = [f"later broker {c.broker} truncated its log to offset {c.offset}" for c in own if _afterwards(c, course, rows[0].moment)]
    below = [c.lead.leader for c in later if c.lead.start_offset is not None and c.lead.start_offset < end]
    left_out = [f"later broker {leader} became leader and lacked at least some of them" for leader in below]
    fate = next(iter((*left_out, *cuts)), "")
    return Violation(
        brokers=(course.lead.leader,),
        start_offset=min(offsets),
        end_offset=end,
        severity=Severity.MEDIUM if fate else Severity.LOW,
        confidence="certain" if all(map(_certain, rows)) else "likely",
        facts={
            "leader": course.lead.leader,
            "epoch": course.lead.epochs[-1] if last.term is None else last.term,
            "fate": fate or f"there was no other copy of {it_or_them(end - min(offsets))} in sync at that time",
            "answers": len(rows),
        },
        exhibits=tuple(_exhibits(rows[0].moment.span, rows[-1].moment.span)),
    )


def _afterwards(cut: Cut, course: Course, answer: Moment) -> bool:
    """Whether a leader cut its log after its answer: by the epoch that it had followed, else by its own clock."""
    if cut.former_epoch is not None:
        return cut.former_epoch >= course.lead.epochs[0]
    m = cut.moment
    return None in (m.time, answer.time) or m.clock != answer.clock or (m.time or 0) >= (answer.time or 0)


def _exhibits(first: Span, last: Span) -> Iterator[Exhibit]:
    yield Exhibit(span=first, role=f"the {'only' if first == last else 'first'} acknowledgement")
    if first != last:
        yield Exhibit(span=last, role="the last acknowledgement")
