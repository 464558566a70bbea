"""What became of records that producers were told are written: which are gone, and of which that is not known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.evidence import COMPACTED_TOPICS, Moment, PartitionEvidence, epoch_held
from rules.history.repetitions import begin_unseen
from rules.history.turns import reopenings
from rules.loss.held_on import held_on, passed_over
from rules.loss.unanswered import answers_by_epoch, silent_leaders, unanswered
from rules.loss.unplaced import unplaced
from rules.loss.unsettled import (
    Unsettled,
    damaged_there,
    held_or_not,
    of_a_silent_leader,
    of_no_known_place,
    perhaps_answered,
    sent_again_or_not,
)
from rules.replicas.later import Later


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """Answers of one epoch whose records the log that leads does not hold."""

    epoch: int
    following: Moment
    """The opening of the epoch that left them out."""
    answers: tuple[Moment, ...]
    start_offset: int
    lowest: int
    """From where on more may have been answered: the first answer need not be the first that was given."""
    end_offset: int
    ended: bool
    """Whether something tells that the last batch ends there."""
    held: int | None
    """The epoch whose records stand at the first of them; None where an opening alone shows that they are gone."""

    @property
    def leader(self) -> int | None:
        """Who answered."""
        return self.answers[0].witness

    @property
    def latest_epoch(self) -> int:
        """The newest epoch of which the answers may be."""
        return max(self.epoch if m.latest_term is None else m.latest_term for m in self.answers)

    @property
    def for_all(self) -> bool:
        """Whether a producer was told that every replica in sync has them."""
        return any(m.acks == -1 for m in self.answers)

    @property
    def epochs(self) -> str:
        """The epoch in which the answers were given, or those of which it is one."""
        latest = self.latest_epoch
        if latest == self.epoch:
            return f"epoch {self.epoch}"
        if any(m.latest_term in (None, self.epoch) for m in self.answers):
            return f"epoch {self.epoch} and perhaps of later ones up to {latest}"
        return f"an epoch from {self.epoch} to {latest}"

    @property
    def more(self) -> str:
        """What else may have been acknowledged: before the first answer that is told, and behind the last one."""
        before = f", and perhaps more from {self.lowest} on" if self.lowest < self.start_offset else ""
        last = max(m.offset or 0 for m in self.answers)
        return before + ("" if self.ended else f" and whatever else the batch at {last} held")

    @property
    def instead(self) -> str:
        """What is there in their place."""
        following = self.following
        if (following.offset or 0) > self.start_offset:
            return f"records of epoch {self.held} stand at offset {self.start_offset} now"
        who = "its leader" if following.broker is None else f"broker {following.broker}"
        return f"{who} opened epoch {following.epoch} at offset {following.offset}"


def answered_for(evidence: PartitionEvidence) -> Iterator[Gone | Unsettled]:
    """Every epoch's answers whose records are gone or may be; where epochs have no order see `whatever_order`."""
    starts, reigns = evidence.openings, [course.reign for course in reversed(evidence.replayed.courses)]
    led = {epoch: reign.epochs for reign in reigns for epoch in reign.epochs}
    openings = [starts[epoch] for epoch in sorted(starts) if starts[epoch].offset is not None]
    log = Later(openings, evidence.leader_at_the_end, led, reopenings(evidence.moments, starts))
    for epoch, given in sorted(answers_by_epoch(evidence.moments, starts).items()):
        later = openings[log.place(epoch) :]
        missing = [m for m in given if log.lacks(m, epoch, starts.get(epoch))] if later else []
        if missing:
            lost_by = log.lost_by(missing, epoch)
            yield from _missing(evidence, epoch, lost_by, given, sorted(missing, key=_offset))
        elif later and evidence.leader_at_the_end is None:
            yield from _passed_over(evidence, epoch, given)
        unsure = sorted((m for m in given if log.perhaps_lacks(m, epoch) is not None), key=_offset)
        if unsure:
            yield sent_again_or_not(epoch, unsure, log.perhaps_lacks(unsure[0], epoch))
        unread = sorted((m for m in given if log.unreadable(m, epoch)), key=_offset)
        if unread and evidence.leader_at_the_end is not None:
            yield damaged_there(evidence, epoch, unread, evidence.leader_at_the_end.broker)
    yield from map(of_no_known_place, unplaced(evidence))
    if evidence.topic not in COMPACTED_TOPICS:  # brokers themselves write those
        yield from map(perhaps_answered, unanswered(evidence))
        for broker, offset in sorted(silent_leaders(evidence).items()):
            yield of_a_silent_leader(evidence, broker, offset)


def _missing(
    evidence: PartitionEvidence, epoch: int, lost_by: Moment, given: Sequence[Moment], missing: Sequence[Moment]
) -> Iterator[Gone | Unsettled]:
    """Without the log of who led last: who had them may have held them still, and led again with them."""
    place = 0
    if evidence.leader_at_the_end is None:
        place = bisect_left(missing, 1, key=lambda m: held_on(evidence, m, epoch, lost_by) is None)
    if place < len(missing):
        unseen = place == 0 and begin_unseen(given, missing)
        yield _gone(evidence, epoch, lost_by, missing[place:], begun_unseen=unseen)
    again = held_on(evidence, missing[0], epoch, lost_by) if place else None
    if again is not None:
        why = f"Broker {lost_by.broker} opened epoch {lost_by.epoch} without them, but broker {again.broker} had them"
        yield held_or_not(evidence, epoch, missing[:place], again, why)


def _passed_over(evidence: PartitionEvidence, epoch: int, given: Sequence[Moment]) -> Iterator[Unsettled]:
    """Answers whose records the next leader need not have had, though its log was long enough."""
    begun = evidence.openings[epoch].offset if epoch in evidence.openings else None
    own = sorted((m for m in given if begun is not None and _offset(m) >= begun), key=_offset)
    following = passed_over(evidence, own[0], epoch) if own else None
    if following is not None:
        why = f"Broker {following.broker} had written others there before"
        yield held_or_not(evidence, epoch, own, following, why)


def _gone(
    evidence: PartitionEvidence, epoch: int, following: Moment, answers: Sequence[Moment], *, begun_unseen: bool
) -> Gone:
    first, last = _offset(min(answers, key=_offset)), _offset(max(answers, key=_offset))
    opened = evidence.openings[epoch].offset if epoch in evidence.openings else None
    sure = all(m.latest_term is None or m.latest_term <= epoch for m in answers)
    # Of an epoch that is not sure the boundaries may be another's.
    end = evidence.batch_end(last, epoch) if sure else last + 1
    cut_short = any(m.offset == last and m.end_offset is not None for m in answers)
    leading = evidence.leader_at_the_end
    return Gone(
        epoch=epoch,
        following=following,
        answers=tuple(answers),
        start_offset=first,
        lowest=min(first, max(opened or 0, following.offset or 0)) if begun_unseen else first,
        end_offset=end,
        ended=sure and evidence.ends_told(epoch, end) and not cut_short,
        held=None if leading is None else epoch_held(leading, first),
    )


def _offset(moment: Moment) -> int:
    return moment.offset or 0
