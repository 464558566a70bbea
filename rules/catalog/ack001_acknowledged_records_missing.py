"""ACK001: producers were told that records are written, and a later leader began below them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

from parsers.tables import BrokerEvent, Produce
from rules.evidence import (
    COMPACTED_TOPICS,
    Moment,
    PartitionEvidence,
    Replica,
    epoch_held,
    leaders_by_epoch,
    times_told,
)
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.history.led import sure_terms
from rules.history.moments import ROLE_KINDS, STARTING
from rules.loss.left_out import LeftOut, left_out
from rules.protocol.offsets import without
from rules.rule import rule
from rules.settings import STOPPED


@rule(
    id="ACK001",
    severity=Severity.HIGH,
    needs=(Produce, BrokerEvent),
    law="NoCommittedRecordLost",
    message="broker {leader} acknowledged records [{start_offset}, {end_offset}) of epoch {epoch} ({acks}), and {instead}",
    implied_by=("LEAD001", "LEAD002"),
)
def acknowledged_records_missing(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Acknowledged records were left out by the next leader.

    With acks=1 that is what the producer chose: nothing committed is lost, and the records are gone all the same.

    Proves
    ------
    Records whose producers were answered without error are not in the log: that of the last leader where its disk is
    at hand, else that of the next one. The range runs from the first such record to the end of the last
    such batch, which is the next batch boundary that anything tells of the epoch: an answer, a fetch, or the old leader's
    log end. Not all records in between need have been answered.

    Undecided when
    --------------
    Request logs do not hold produce answers (DEBUG), or no log tells where the next epoch opened, or the one in which a
    broker answered. Or records were written that no later leader had, and their leader was killed or its log is not
    here: an answer that it gave last may be in no log. The verdict is open then where producers of the partition do not
    wait for all replicas (acks=1, acks=0); where all that are seen do, what was not replicated was not acknowledged.

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
    starts = evidence.openings
    answers = _answers_by_epoch(evidence.moments, starts)
    led = {epoch: course.reign.epochs for course in reversed(evidence.replayed.courses) for epoch in course.reign.epochs}
    openings = [starts[epoch] for epoch in sorted(starts) if starts[epoch].offset is not None]
    log = _Later(openings, evidence.leader_at_the_end, led)
    for epoch, given in sorted(answers.items()):
        later = openings[log.place(epoch) :]
        missing = [m for m in given if log.lacks(m, epoch, starts.get(epoch))] if later else []
        if missing:
            first = min(m.offset or 0 for m in missing)
            lost_by = next((m for m in later if (m.offset or 0) <= first), later[0])
            yield _violation(evidence, epoch, lost_by, missing)
    yield from _unplaced(evidence)
    if evidence.topic not in COMPACTED_TOPICS:  # brokers themselves write those
        yield from _unanswered(evidence)


def _unplaced(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """Answers of brokers that nowhere tell that they lead: of which epoch they are, their own logs would tell."""
    telling, sure = {m.clock for m in evidence.moments if m.kind == "leader-starts"}, sure_terms(evidence.moments)
    answers: dict[int, list[Moment]] = {}
    for m in evidence.moments:
        placed = m.clock in telling or (m.clock, m.term) in sure
        if _succeeded(m) and m.witness is not None and not placed:
            answers.setdefault(m.witness, []).append(m)
    leaders = leaders_by_epoch(evidence.moments)
    for broker, own in sorted(answers.items()):
        reason = f"no log tells where the epochs opened in which broker {broker} answered producers"
        missing = f"broker {broker}'s own log of its roles (state-change.log, up to 2.5 server.log)"
        gone = [m.offset or 0 for m in own if _stands_no_more(m, evidence.leader_at_the_end, leaders)]
        if not gone:
            yield Undecided(reason=reason, missing=missing, blocking=False)
            continue
        yield Undecided(
            reason=f"{reason}; of what it answered, records between {min(gone)} and {max(gone)} are not in the log that"
            " leads: another broker's stand there, or none",
            missing=missing,
            brokers=(broker,),
            start_offset=min(gone),
            end_offset=max(gone) + 1,
        )


def _stands_no_more(answer: Moment, last: Replica | None, leaders: Mapping[int, int]) -> bool:
    """Whether the log that leads shows no record where a broker of unknown epoch answered for one, that it can have led.

    What is sent again is answered as it was the first time, by a later leader too.
    """
    offset = answer.offset or 0
    if last is None or last.cleaned or offset < last.log_start_offset:
        return False
    held = epoch_held(last, offset)
    if held is None:
        return offset >= last.log_end_offset and last.end_known and last.clean_shutdown is not None
    led = [epoch for epoch, leader in leaders.items() if leader == answer.witness]
    return held in leaders and all(epoch < held for epoch in led)


def _unanswered(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """Records that no later leader had and of which no answer is told, though one may have been given."""
    leaders = leaders_by_epoch(evidence.moments)
    for stretch in left_out(evidence):
        leader = leaders.get(stretch.epoch, stretch.leader)
        for start, end in _untold_parts(evidence, stretch):
            if leader is None or not _saw_its_last_answers(evidence, leader, stretch.epoch):
                yield _perhaps_acknowledged(evidence, stretch, leader, start, end)
    silent = _silent_leaders(evidence.moments, leaders)
    for broker in sorted(silent):
        yield Undecided(
            reason=f"nothing tells how far broker {broker} wrote and acknowledged before another broker led",
            missing=f"broker {broker}'s own logs (server.log and its request log)",
            brokers=(broker,),
            blocking=not {m.acks for m in evidence.moments if m.kind == "produced"}.isdisjoint(_NOT_OF_ALL),
        )


def _silent_leaders(moments: Sequence[Moment], leaders: Mapping[int, int]) -> set[int]:
    """Brokers that led before another one and of which no log is here."""
    followed = {leaders[before] for before, after in pairwise(sorted(leaders)) if leaders[before] != leaders[after]}
    clocks = {moment.clock for moment in moments}
    return {broker for broker in followed if f"broker {broker}" not in clocks}


def _untold_parts(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[tuple[int, int]]:
    """What of a stretch nobody tells to be acknowledged or committed, and is not in the log that leads."""
    epoch = stretch.epoch
    answers = [m.offset or 0 for m in evidence.moments if _succeeded(m) and m.term == epoch]
    own = [offset for offset in answers if stretch.start <= offset < stretch.end]
    known = [(min(own), evidence.batch_end(max(own), epoch))] if own else []
    known += [(0, proof.end_offset) for proof in evidence.committed_batches if proof.term == epoch]
    last = evidence.leader_at_the_end
    if last is not None:
        older = () if not stretch.older else (e for e in last.runs_by_epoch if e < epoch)
        held = (run for e in (epoch, *older) for run in last.runs_by_epoch.get(e, ()))
        known += [(run.start_offset, run.end_offset) for run in held]
        newer = (m.offset for e, m in evidence.openings.items() if e > epoch and m.offset is not None)
        known.append((0, min([last.log_start_offset, *newer])))
    yield from without(stretch.start, stretch.end, sorted(known))


def _saw_its_last_answers(evidence: PartitionEvidence, leader: int, epoch: int) -> bool:
    """Whether a leader answered in the epoch, and its process went on afterwards or stopped in order.

    What a broker answers before it is killed may not have reached its log of requests.
    """
    own = [m for m in evidence.moments if m.clock == f"broker {leader}"]
    opened = next((m.time for m in own if m.kind == "leader-starts" and m.epoch == epoch), None)
    if opened is None or not any(m.kind in ("produced", "fetched") and m.term == epoch for m in own):
        return False
    after = [m for m in own if m.time is not None and m.time > opened and m.epoch != epoch]
    following = next((m for m in after if m.kind in (*ROLE_KINDS, *STARTING)), None)
    if following is None or following.kind in ROLE_KINDS:
        return following is not None
    stops = [state.since or 0 for state in evidence.settings.states(leader) if state.value == STOPPED]
    return any(opened < since <= (following.time or 0) for since in stops)


def _perhaps_acknowledged(
    evidence: PartitionEvidence, stretch: LeftOut, leader: int | None, start: int, end: int
) -> Undecided:
    written = [m for m in evidence.moments if m.kind == "produced"]
    in_epoch = {m.acks for m in written if m.witness == leader and m.term == stretch.epoch}
    acks = in_epoch or {m.acks for m in written}
    who = "its leader" if leader is None else f"broker {leader}"
    missing = f"{who}'s request log whole up to its end, or what its producers were told"
    if acks.isdisjoint(_NOT_OF_ALL):
        reason = f"no later leader had the last records that {who} wrote: with acks=1 they may have been acknowledged"
        return Undecided(reason=reason, missing=missing, blocking=False)
    opening = evidence.openings.get(stretch.next_epoch)
    return Undecided(
        reason=f"no later leader had the records [{start}, {end}) of epoch {stretch.epoch}, and {who}, whose producers did not"
        " wait for all replicas, may have acknowledged them",
        missing=missing,
        brokers=() if leader is None else (leader,),
        start_offset=start,
        end_offset=end,
        exhibits=() if opening is None else (Exhibit(span=opening.span, role="the next leader opens its epoch"),),
    )


_NOT_OF_ALL: Final = (0, 1)
"""acks of producers that are answered, or go on, before other replicas hold their records."""


def _answers_by_epoch(moments: Sequence[Moment], starts: Mapping[int, Moment]) -> dict[int, list[Moment]]:
    """Answers of the epochs that their broker opened by its own word, or led by the controllers' record."""
    answers: dict[int, list[Moment]] = {}
    sure = sure_terms(moments)
    for m in moments:
        if _succeeded(m) and m.term is not None:
            opening = starts.get(m.term)
            if (m.clock, m.term) in sure or (opening is not None and opening.clock == m.clock):
                answers.setdefault(m.term, []).append(m)
    return answers


class _Later:
    """What came after an answer: later openings, and the log of who led last."""

    def __init__(
        self, openings: Sequence[Moment], last: Replica | None, led: Mapping[int, tuple[int, ...]]
    ) -> None:
        self._epochs = [-1 if opening.epoch is None else opening.epoch for opening in openings]
        self._lowest = list(accumulate((opening.offset or 0 for opening in reversed(openings)), min))[::-1]
        self._opener = {opening.epoch: opening.broker for opening in openings}
        self._last = last
        self._led = led

    def place(self, epoch: int) -> int:
        """Of the first opening of a newer epoch."""
        return bisect_right(self._epochs, epoch)

    def lacks(self, answer: Moment, epoch: int, opening: Moment | None) -> bool:
        """Whether the record is gone: by the last leader's own log, which may have come back with it, else by an opening.

        An answer beside a hole in its broker's log may be of any epoch up to the last one that the hole may hide, unless
        another broker opened it.
        """
        offset = answer.offset or 0
        latest = epoch if answer.latest_term is None else max(epoch, answer.latest_term)
        held = None if self._last is None else epoch_held(self._last, offset)
        if held is None or held < 0:  # up to message format 1 records carry no epoch
            newer = self.place(latest)
            return newer < len(self._lowest) and self._lowest[newer] <= offset
        if epoch < held <= latest and {self._opener.get(held), self._opener.get(latest)} & {None, answer.witness}:
            return False  # in its last epoch it may have been sent again
        if opening is None or offset < (opening.offset or 0):
            return held > epoch  # what is sent again is answered as it was the first time: an older epoch's record
        # Its answer waits through all that its leader leads without a break.
        without_a_break = (one for one in self._led.get(epoch, (epoch,)) if one <= epoch)
        return held not in without_a_break


def _succeeded(moment: Moment) -> bool:
    """Whether a producer was told that its records are written."""
    answered = moment.kind == "produced" and moment.error == 0 and moment.offset is not None and moment.offset >= 0
    return answered and moment.acks != 0


def _violation(evidence: PartitionEvidence, epoch: int, following: Moment, answers: list[Moment]) -> Violation:
    end = evidence.batch_end(max(m.offset or 0 for m in answers), epoch)
    leader = answers[0].witness
    everyone = any(m.acks == -1 for m in answers)
    start = min(m.offset or 0 for m in answers)
    who = "its leader" if following.broker is None else f"broker {following.broker}"
    opened = f"{who} opened epoch {following.epoch} at {following.offset}"
    held = evidence.leader_at_the_end and epoch_held(evidence.leader_at_the_end, start)
    return Violation(
        brokers=() if leader is None else (leader,),
        start_offset=start,
        end_offset=end,
        severity=Severity.CRITICAL if everyone else Severity.HIGH,
        facts={
            "leader": leader,
            "epoch": epoch,
            "acks": "acks=all" if everyone else "acks=1",
            "successor": following.broker,
            "next_epoch": following.epoch,
            "instead": opened if (following.offset or 0) <= start else f"epoch {held}'s records stand at {start} now",
            "answers": times_told(answers),
            "clock": following.clock,
            "time": following.time,
        },
        exhibits=(
            Exhibit(span=answers[0].span, role="the first acknowledgement"),
            Exhibit(span=following.span, role="the next leader opens its epoch"),
        ),
    )
