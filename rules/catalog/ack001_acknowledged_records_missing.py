"""ACK001: producers were told that records are written, and a later leader began below them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from parsers.tables import BrokerEvent, Produce
from rules.evidence import Moment, PartitionEvidence, Replica, epoch_held, times_told
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


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
    broker answered.

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
    for epoch, opening in sorted(starts.items()):
        later = openings[log.place(epoch) :] if epoch in answers else []
        missing = [m for m in answers[epoch] if log.lacks(m, opening)] if later else []
        if missing:
            first = min(m.offset or 0 for m in missing)
            lost_by = next((m for m in later if (m.offset or 0) <= first), later[0])
            yield _violation(evidence, opening, lost_by, missing)
    yield from _unplaced(evidence.moments)


def _unplaced(moments: Sequence[Moment]) -> Iterator[Undecided]:
    """Answers of brokers that nowhere tell that they lead: of which epoch they are, their own logs would tell."""
    telling = {m.clock for m in moments if m.kind == "leader-starts"}
    answering = {m.witness for m in moments if _succeeded(m) and m.clock not in telling and m.witness is not None}
    for broker in sorted(answering):
        reason = f"no log tells where the epochs opened in which broker {broker} answered producers"
        missing = f"broker {broker}'s own log of its roles (state-change.log, up to 2.5 server.log)"
        yield Undecided(reason=reason, missing=missing, blocking=False)


def _answers_by_epoch(moments: Sequence[Moment], starts: Mapping[int, Moment]) -> dict[int, list[Moment]]:
    answers: dict[int, list[Moment]] = {}
    for m in moments:
        opening = None if m.kind != "produced" or m.term is None else starts.get(m.term)
        if opening is not None and _acknowledged(m, opening):
            answers.setdefault(opening.epoch or 0, []).append(m)
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

    def lacks(self, answer: Moment, opening: Moment) -> bool:
        """Whether the record is gone: by the last leader's own log, which may have come back with it, else by an opening.

        An answer beside a hole in its broker's log may be of any epoch up to the last one that the hole may hide, unless
        another broker opened it.
        """
        offset, epoch = answer.offset or 0, opening.epoch or 0
        latest = epoch if answer.latest_term is None else max(epoch, answer.latest_term)
        held = None if self._last is None else epoch_held(self._last, offset)
        if held is None or held < 0:  # up to message format 1 records carry no epoch
            newer = self.place(latest)
            return newer < len(self._lowest) and self._lowest[newer] <= offset
        if epoch < held <= latest and self._opener.get(held) in (None, answer.witness):
            return False
        if offset < (opening.offset or 0):
            return held > epoch  # what is sent again is answered as it was the first time: an older epoch's record
        # Its answer waits through all that its leader leads without a break.
        without_a_break = (one for one in self._led.get(epoch, (epoch,)) if one <= epoch)
        return held not in without_a_break


def _acknowledged(moment: Moment, opening: Moment) -> bool:
    """Whether it is an answer of the epoch: by the broker that said itself that it opened it."""
    return _succeeded(moment) and moment.clock == opening.clock and moment.term == opening.epoch


def _succeeded(moment: Moment) -> bool:
    """Whether a producer was told that its records are written."""
    answered = moment.kind == "produced" and moment.error == 0 and moment.offset is not None and moment.offset >= 0
    return answered and moment.acks != 0


def _violation(evidence: PartitionEvidence, opening: Moment, following: Moment, answers: list[Moment]) -> Violation:
    end = evidence.batch_end(max(m.offset or 0 for m in answers), opening.epoch or 0)
    everyone = any(m.acks == -1 for m in answers)
    start = min(m.offset or 0 for m in answers)
    who = "its leader" if following.broker is None else f"broker {following.broker}"
    opened = f"{who} opened epoch {following.epoch} at {following.offset}"
    held = evidence.leader_at_the_end and epoch_held(evidence.leader_at_the_end, start)
    return Violation(
        brokers=() if opening.broker is None else (opening.broker,),
        start_offset=start,
        end_offset=end,
        severity=Severity.CRITICAL if everyone else Severity.HIGH,
        facts={
            "leader": opening.broker,
            "epoch": opening.epoch,
            "acks": "acks=all" if everyone else "acks=1",
            "successor": following.broker,
            "next_epoch": following.epoch,
            "instead": opened if (following.offset or 0) <= start else f"epoch {held}'s records stand at {start} now",
            "answers": times_told(answers),
        },
        exhibits=(
            Exhibit(span=answers[0].span, role="the first acknowledgement"),
            Exhibit(span=following.span, role="the next leader opens its epoch"),
        ),
    )
