"""ACK001: producers were told that records are written, and a later leader began below them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from parsers.tables import BrokerEvent, Produce
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import COMPACTED_TOPICS, Moment, PartitionEvidence, epoch_held, times_told
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation
from rules.history.repetitions import begin_unseen
from rules.history.turns import reopenings
from rules.loss.held_on import held_on, passed_over
from rules.loss.unanswered import Unanswered, answers_by_epoch, not_of_all_seen, silent_leaders, unanswered
from rules.loss.unplaced import Unplaced, unplaced
from rules.loss.whatever_order import NotHeld, not_held
from rules.replicas.later import Later
from rules.rule import rule


@rule(
    id="ACK001",
    severity=Severity.HIGH,
    needs=(Produce, BrokerEvent),
    law="NoCommittedRecordLost",
    message="broker {leader} acknowledged records [{start_offset}, {end_offset}) of {epochs} ({acks}){more}, and {instead}",
    implied_by=("LEAD001", "LEAD002"),
    order="none",
    bearing=Bearing(
        change="loss of acknowledged records", to_write_again=True, records=RecordsMeant(newest="its epoch")
    ),
)
def acknowledged_records_missing(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Acknowledged records were left out by the next leader.

    With acks=1 that is what the producer chose: nothing committed is lost, and the records are gone all the same.

    Proves
    ------
    Records whose producers were answered without error are not in the log: that of the last leader where its disk is
    at hand, else that of the next one. The range runs from the first such record to the end of the last such batch,
    which is the next batch boundary that anything tells of the epoch: an answer, a fetch, or the old leader's log end.
    Not all records in between need have been answered; of a thinned log some before may have been as well. Where
    leader epochs began anew: that no log here holds records of the epoch in which their broker led when it answered,
    or that one counts another epoch's as committed there. It is likely where only its leader's epoch file tells where
    the epoch opened that left them out.

    Undecided when
    --------------
    Request logs do not hold produce answers (DEBUG), or no log tells where the next epoch opened, or the one in which
    a broker answered, and another's records stand at the offsets of such answers, or none in the log that leads. Or
    the disk of who led last is not here, and one that had the records led again and tells of no cut, or one led next
    that had written others at their offsets. Or records were written that no later leader had, and their leader was
    killed or its log is not here: an answer that it gave last may be in no log, nor one that its log leaves out
    before others. The verdict is open then where producers of the partition are seen that do not wait for all
    replicas (acks=1, acks=0), or the leader's own answers of the epoch are not here, or end before those that its
    followers had, while others' are. Where its log of them is here, and all that are seen wait for all replicas, such
    records are most likely those that waited when it was killed.

    Upheld
    ------
    broker 1 0000|11
    broker 2 0000|11
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 3 acks=all
    t3 leads 2 epoch 1 at 4 hw 4

    Violated
    --------
    broker 1 00|11
    broker 2 00|11
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 3 acks=1
    t3 leads 2 epoch 1 at 2 hw 2
    """
    if evidence.epochs_used_twice:
        yield from map(_whatever_order, not_held(evidence))
        return
    starts = evidence.openings
    answers = answers_by_epoch(evidence.moments, starts)
    led = {epoch: course.reign.epochs for course in reversed(evidence.replayed.courses) for epoch in course.reign.epochs}
    openings = [starts[epoch] for epoch in sorted(starts) if starts[epoch].offset is not None]
    log = Later(openings, evidence.leader_at_the_end, led, reopenings(evidence.moments, starts))
    for epoch, given in sorted(answers.items()):
        later = openings[log.place(epoch) :]
        missing = [m for m in given if log.lacks(m, epoch, starts.get(epoch))] if later else []
        if missing:
            lost_by = log.lost_by(missing, epoch)
            yield from _told(evidence, epoch, lost_by, given, sorted(missing, key=lambda m: m.offset or 0))
        elif later and evidence.leader_at_the_end is None:
            yield from _passed_over(evidence, epoch, given)
        yield from _sent_again_or_not(log, epoch, given)
    yield from map(_unplaced, unplaced(evidence))
    if evidence.topic not in COMPACTED_TOPICS:  # brokers themselves write those
        yield from _unanswered(evidence)


def _told(
    evidence: PartitionEvidence, epoch: int, lost_by: Moment, given: Sequence[Moment], missing: Sequence[Moment]
) -> Iterator[Violation | Undecided]:
    """Without the log of who led last: who had them may have held them still, and led again with them."""
    place = 0
    if evidence.leader_at_the_end is None:
        place = bisect_left(missing, 1, key=lambda m: held_on(evidence, m, epoch, lost_by) is None)
    if place < len(missing):
        unseen = place == 0 and begin_unseen(given, missing)
        yield _violation(evidence, epoch, lost_by, [*missing[place:]], begun_unseen=unseen)
    again = held_on(evidence, missing[0], epoch, lost_by) if place else None
    if again is not None:
        left = f"broker {lost_by.broker} opened epoch {lost_by.epoch} without them"
        yield _held_or_not(evidence, epoch, missing[:place], again, f"{left}, but broker {again.broker} had them")


def _passed_over(evidence: PartitionEvidence, epoch: int, given: Sequence[Moment]) -> Iterator[Undecided]:
    """Answers whose records the next leader need not have had, though its log was long enough."""
    begun = evidence.openings[epoch].offset if epoch in evidence.openings else None
    own = sorted((m for m in given if begun is not None and (m.offset or 0) >= begun), key=lambda m: m.offset or 0)
    following = passed_over(evidence, own[0], epoch) if own else None
    if following is not None:
        kept = f"broker {following.broker} had written others there before"
        yield _held_or_not(evidence, epoch, own, following, kept)


def _sent_again_or_not(log: Later, epoch: int, given: Sequence[Moment]) -> Iterator[Undecided]:
    """Answers of no certain epoch at whose offsets another leader's records stand."""
    unsure = sorted((m for m in given if log.perhaps_lacks(m, epoch) is not None), key=lambda m: m.offset or 0)
    if not unsure:
        return
    first, last = unsure[0], unsure[-1]
    yield Undecided(
        reason=f"broker {first.witness} acknowledged records between {first.offset} and {last.offset} in an epoch from"
        f" {epoch} to {first.latest_term}, and epoch {log.perhaps_lacks(first, epoch)}'s, which it did not lead, stand"
        f" at {first.offset}: they are gone, unless they were sent again",
        missing=would_tell(Silence(broker=first.witness, log="roles")),
        brokers=() if first.witness is None else (first.witness,),
        start_offset=first.offset,
        end_offset=(last.offset or 0) + 1,
        exhibits=(Exhibit(span=first.span, role="the first acknowledgement"),),
    )


def _held_or_not(
    evidence: PartitionEvidence, epoch: int, answers: Sequence[Moment], leader: Moment, why: str
) -> Undecided:
    start, end = answers[0].offset or 0, evidence.batch_end(answers[-1].offset or 0, epoch)
    who = f"broker {answers[0].witness}"
    return Undecided(
        reason=f"{who} acknowledged records [{start}, {end}) of epoch {epoch}; {why}, led epoch {leader.epoch} and tells of no"
        " cut: whether the log that leads now holds them is not known",
        missing=f"the log of who led last, or broker {leader.broker}'s own log (server.log) whole",
        brokers=() if answers[0].witness is None else (answers[0].witness,),
        start_offset=start,
        end_offset=end,
        exhibits=(
            Exhibit(span=answers[0].span, role="the first acknowledgement"),
            Exhibit(span=leader.span, role="the leader opens its epoch"),
        ),
    )


def _unplaced(found: Unplaced) -> Undecided:
    """Where the next epochs opened, or the ones in which the broker answered, a log of roles would tell."""
    who = f"broker {found.broker}"
    reason = f"no log tells where the epochs opened in which {who} answered producers"
    if found.of_known_epochs:
        reason = f"no log tells where the epochs opened after {who} had answered producers"
    asked = found.successor if found.of_known_epochs else found.broker
    missing = would_tell(Silence(broker=asked, log="roles"))
    if not found.gone:
        return Undecided(reason=reason, missing=missing, blocking=False)
    first, last = min(found.gone), max(found.gone)
    return Undecided(
        reason=f"{reason}; of what it answered, records between {first} and {last} are not in the log that"
        " leads: another broker's stand there, or none",
        missing=missing,
        brokers=(found.broker,),
        start_offset=first,
        end_offset=last + 1,
    )


def _unanswered(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """What leaders wrote last, of which no answer is told though one may have been given."""
    for part in unanswered(evidence):
        yield _perhaps_acknowledged(part)
    for broker, offset in sorted(silent_leaders(evidence).items()):
        yield Undecided(
            reason=f"nothing tells how far{'' if offset is None else f' beyond {offset}'} broker {broker} wrote and"
            " acknowledged before another broker led",
            missing=would_tell(Silence(broker=broker, log="server and requests")),
            brokers=(broker,),
            start_offset=offset,
            blocking=not_of_all_seen(evidence.moments),
        )


def _perhaps_acknowledged(part: Unanswered) -> Undecided:
    asked = Silence(broker=part.leader, log="requests", window="whole up to its end")
    return Undecided(
        reason=part.words,
        missing=would_tell(asked, "what its producers were told"),
        brokers=() if part.leader is None else (part.leader,),
        start_offset=part.start,
        end_offset=part.end,
        blocking=part.by_one or part.log_missing,
        exhibits=() if part.opening is None else (Exhibit(span=part.opening.span, role="the next leader opens its epoch"),),
    )


def _violation(
    evidence: PartitionEvidence, epoch: int, following: Moment, answers: list[Moment], *, begun_unseen: bool
) -> Violation:
    first, last = min(m.offset or 0 for m in answers), max(m.offset or 0 for m in answers)
    opened = evidence.openings[epoch].offset if epoch in evidence.openings else None
    lowest = min(first, max(opened or 0, following.offset or 0)) if begun_unseen else first
    latest = max(epoch if m.latest_term is None else m.latest_term for m in answers)
    # Of an epoch that is not sure the boundaries may be another's.
    end = evidence.batch_end(last, epoch) if latest == epoch else last + 1
    cut_short = any(m.offset == last and m.end_offset is not None for m in answers)
    ended = latest == epoch and evidence.ends_told(epoch, end) and not cut_short
    leader = answers[0].witness
    everyone = any(m.acks == -1 for m in answers)
    return Violation(
        brokers=() if leader is None else (leader,),
        start_offset=first,
        end_offset=end,
        confidence="likely" if following.doubtful else "certain",
        severity=Severity.CRITICAL if everyone else Severity.HIGH,
        facts={
            "leader": leader,
            "epoch": epoch,
            "latest_epoch": latest,
            "epochs": _epochs(epoch, latest, answers),
            "more": _more(first, lowest, None if ended else last),
            "perhaps_from": lowest,
            "acks": "acks=all" if everyone else "acks=1",
            "successor": following.broker,
            "next_epoch": following.epoch,
            "instead": _instead(evidence, following, first),
            "answers": times_told(answers),
            "clock": following.clock,
            "time": following.time,
        },
        exhibits=(
            Exhibit(span=answers[0].span, role="the first acknowledgement"),
            Exhibit(span=following.span, role="the next leader opens its epoch"),
        ),
    )


def _more(first: int, lowest: int, unended: int | None) -> str:
    """What else may have been acknowledged: before the first answer that is told, and behind the last one."""
    before = f", and perhaps more from {lowest} on" if lowest < first else ""
    return before + ("" if unended is None else f" and whatever more the batch at {unended} held")


def _whatever_order(found: NotHeld) -> Violation | Undecided:
    told = ((found.answers[0], "the first acknowledgement"), (found.opening, "the role in which it was given"))
    exhibits = tuple(Exhibit(span=moment.span, role=role) for moment, role in told)
    brokers, place, end = (found.leader,), found.start_offset, found.end_offset
    reason = f"broker {found.leader} acknowledged records [{place}, {end}) of epoch {found.epoch}, and {found.instead}"
    if found.doubt is not None:
        return Undecided(
            reason=reason, missing=found.doubt, brokers=brokers, start_offset=place, end_offset=end, exhibits=exhibits
        )
    return Violation(
        brokers=brokers,
        start_offset=place,
        end_offset=end,
        confidence="certain" if found.sure else "likely",
        severity=Severity.CRITICAL if found.for_all else Severity.HIGH,
        facts={
            "leader": found.leader,
            "only_epoch": found.epoch,
            "epochs": f"epoch {found.epoch}",
            "answers": times_told(found.answers),
            "more": "" if found.end_told else f" and whatever more the batch at {found.answers[-1].offset} held",
            "acks": "acks=all" if found.for_all else "acks=1",
            "instead": found.instead,
            "lacking": () if found.everywhere else tuple(one.broker for one in found.elsewhere),
        },
        exhibits=exhibits,
    )


def _epochs(epoch: int, latest: int, answers: Sequence[Moment]) -> str:
    """The epoch in which the answers were given, or those of which it is one."""
    if latest == epoch:
        return f"epoch {epoch}"
    some = any(m.latest_term in (None, epoch) for m in answers)
    return f"epoch {epoch} and perhaps of later ones up to {latest}" if some else f"an epoch from {epoch} to {latest}"


def _instead(evidence: PartitionEvidence, following: Moment, start: int) -> str:
    who = "its leader" if following.broker is None else f"broker {following.broker}"
    if (following.offset or 0) <= start:
        return f"{who} opened epoch {following.epoch} at {following.offset}"
    held = evidence.leader_at_the_end and epoch_held(evidence.leader_at_the_end, start)
    return f"epoch {held}'s records stand at {start} now"
