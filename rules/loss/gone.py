"""Answers to producers held against what came after them: whose records are gone, and of which that is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby

from msgspec import Struct

from rules.chronicle.extents import Extents
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import Moment, PartitionEvidence, epoch_held
from rules.evidence.asked_once import asked_once
from rules.finding import FactValue, offsets_told
from rules.history.repetitions import begin_unseen, times_told
from rules.history.statements import Produced, RoleTaken
from rules.loss.accounts import answers_by_epoch
from rules.loss.after_succession import Lateness, late_answers
from rules.loss.before_reopening import lost_by_reopening
from rules.loss.gone_words import (
    WHERE_LATE,
    asked_for,
    earlier_ones,
    epochs_of,
    instead_of,
    offsets_seen,
    others_between,
    rest_of_batch,
)
from rules.loss.held_on import held_on, passed_over
from rules.loss.last_answers import sent_again
from rules.loss.later import Later
from rules.loss.unsettled import FIRST, Shown, Unsettled, of_answers, them
from rules.words import it_or_them


class AnsweredStretch(Struct, frozen=True, kw_only=True):
    """Records that were answered for one behind the other, up to where the last batch ends."""

    start_offset: int
    end_offset: int
    latest_epoch: int
    """The newest epoch of which they may be."""


class Gone(Struct, frozen=True, kw_only=True):
    """Answers of one epoch whose records the log that leads does not hold; where epochs have no order, no log here."""

    epoch: int
    answers: tuple[Produced, ...]
    start_offset: int
    end_offset: int
    stretches: tuple[AnsweredStretch, ...] = ()
    """What the answers are of, in order: what lies between may have fared otherwise. Empty where epochs have none."""
    sure: bool
    """Whether nothing else can have become of them."""
    shown: tuple[Shown, ...]
    """Statements that it rests on."""
    facts: Mapping[str, FactValue]
    """What is told of it."""
    late: Lateness = ""
    """Whether a newer epoch may have been opened before them."""
    following: RoleTaken | None = None
    """The opening of the epoch that left them out; null where epochs have no order."""

    @property
    def leader(self) -> int | None:
        """Who answered."""
        return self.answers[0].witness

    @property
    def promised_little(self) -> bool:
        """Whether most likely a newer epoch was opened before them, or nothing tells when."""
        return self.late in ("likely", "untimed")

    @property
    def for_all(self) -> bool:
        """Whether a producer was told that every replica in sync has them."""
        return any(m.acks == -1 for m in self.answers)


@asked_once
def fates(evidence: PartitionEvidence) -> tuple[Gone | Unsettled, ...]:
    """What became of every epoch's answers, oldest first; where epochs have no order see `whatever_order`."""
    starts, leads = evidence.openings, [course.lead for course in reversed(evidence.replayed.courses)]
    led = {epoch: lead.epochs for lead in leads for epoch in lead.epochs}
    openings = [starts[epoch] for epoch in sorted(starts) if starts[epoch].offset is not None]
    logs = {replica.broker: replica for replica in evidence.current}
    log = Later(openings, evidence.leader_at_the_end, led, evidence.reopenings, logs)
    found: list[Gone | Unsettled] = []
    for epoch, given in sorted(answers_by_epoch(evidence).items()):
        kept = [m for m in given if _reaches(evidence, m, epoch, epoch + 1) and not lost_by_reopening(evidence, m)]
        found += _fate(evidence, epoch, kept, log)
    return tuple(found)


def _begins(
    evidence: PartitionEvidence, answer: Produced, epoch: int, lost_in: int, again: RoleTaken | None = None
) -> int:
    """Where the log that has it began at last, or below: what was deleted is no more to be missed."""
    end = evidence.batch_end(_offset(answer), epoch)
    return evidence.deleted.lost_later(answer.witness, answer.newest_term(epoch), end, lost_in, again)


def _reaches(evidence: PartitionEvidence, answer: Produced, epoch: int, lost_in: int) -> bool:
    """Whether any of its batch was not deleted before an epoch that may have lost it."""
    return evidence.batch_end(_offset(answer), epoch) > _begins(evidence, answer, epoch, lost_in)


def _fate(
    evidence: PartitionEvidence, epoch: int, given: Sequence[Produced], log: Later
) -> Iterator[Gone | Unsettled]:
    later, opening, last = log.after(epoch), evidence.openings.get(epoch), evidence.leader_at_the_end
    lacking = sorted((m for m in given if log.lacks(m, epoch, opening)), key=_offset) if later else []
    again = sent_again(evidence, epoch)
    missing = [m for m in lacking if _offset(m) not in again]
    if missing:
        lost_by = log.lost_by(missing, epoch)
        missing = [m for m in missing if _reaches(evidence, m, epoch, lost_by.epoch or 0)]
    if missing:
        yield from _missing(evidence, epoch, lost_by, given, missing)
    elif later and last is None and (passed := passed_over(evidence, given, epoch)) is not None:
        yield passed
    resent = [m for m in lacking if _offset(m) in again]
    perhaps = [m for m in given if log.perhaps_lacks(m, epoch, opening) is not None]
    if unsure := sorted([*resent, *perhaps], key=_offset):
        yield _sent_again_or_not(epoch, unsure, log.stands_at(_offset(unsure[0])))
    unread = sorted((m for m in given if log.unreadable(m, epoch)), key=_offset)
    if unread and last is not None:
        who = f"broker {last.broker}"
        below = f"A later leader began below {them(evidence, epoch, unread)}"
        why = f"{below}, and {who}, which led last, holds damaged batches there"
        yield of_answers(evidence, epoch, unread, why, f"a sound copy of {who}'s log")


def _missing(
    evidence: PartitionEvidence, epoch: int, lost_by: RoleTaken, given: Sequence[Produced], missing: Sequence[Produced]
) -> Iterator[Gone | Unsettled]:
    """Where the log of who led last is not here for sure: who had them may have held them still, and led with them."""
    place, question = held_on(evidence, missing, epoch, lost_by)
    yield from gone_with(evidence, epoch, lost_by, () if place else given, missing[place:])
    if question is not None:
        yield question


def gone_with(
    evidence: PartitionEvidence, epoch: int, lost_by: RoleTaken, given: Sequence[Produced], missing: Sequence[Produced]
) -> Iterator[Gone]:
    """Answers, some of all that were given, whose records an opening left out: together as far as they fared alike."""
    late, unseen = late_answers(evidence, epoch), begin_unseen(given, missing)
    alike: dict[tuple[int | None, Lateness], list[list[Produced]]] = {}
    for held, own in _apart(evidence, epoch, lost_by, missing):
        for later, run in groupby(own, late):
            alike.setdefault((held, later), []).append([*run])
    for number, ((_, later), runs) in enumerate(alike.items()):
        yield _gone(evidence, epoch, lost_by, runs, begun_unseen=unseen and not number, late=later)


def _sent_again_or_not(epoch: int, answers: Sequence[Produced], held: int | None) -> Unsettled:
    """Answers that may be of the records of another epoch that stand there, answered for once more."""
    first, last = answers[0], answers[-1]
    one, latest = first.offset == last.offset, max(m.newest_term(epoch) for m in answers)
    when = f"in epoch {epoch}" if latest == epoch else f"in an epoch from {epoch} to {latest}"
    roles = would_tell(Silence(broker=first.witness, log="roles"))
    what = f"a record at offset {first.offset}" if one else f"records at offsets {first.offset}–{last.offset}"
    return Unsettled(
        broker=first.witness,
        words=f"broker {first.witness} acknowledged {what} {when}. Now offset {first.offset} holds a record of epoch"
        f" {held}. Either what was acknowledged is lost, or the producer sent it again and that is what is there now",
        missing="the logs of its producers" if latest == epoch else roles,
        start_offset=first.offset,
        end_offset=(last.offset or 0) + 1,
        shown=((first, FIRST),),
        perhaps_for_others=tuple(answers),
    )


@asked_once
def perhaps_for_others(evidence: PartitionEvidence) -> frozenset[Produced]:
    """Answers that may be for other records than those of their epoch: nobody may have been told of these."""
    open_ones = (fate for fate in fates(evidence) if isinstance(fate, Unsettled))
    return frozenset(answer for fate in open_ones for answer in fate.perhaps_for_others)


def _apart(
    evidence: PartitionEvidence, epoch: int, lost_by: RoleTaken, missing: Sequence[Produced]
) -> Iterator[tuple[int | None, list[Produced]]]:
    """Answers of one epoch together; of those that may be of several the ones that follow each other.

    What lies between two of those may have been of either, and may stand still. With them comes the epoch that stands
    in their place, where only that shows that they are gone.
    """
    if all(m.newest_term(epoch) == epoch for m in missing):
        yield from ((None, [*missing]),) if missing else ()
        return
    ends = accumulate((_offset(m) for m in missing), max, initial=-1)
    gaps = accumulate(_offset(m) > end + 1 for m, end in zip(missing, ends, strict=False))
    held = (_in_its_place(evidence, lost_by, m) for m in missing)
    for (_, there), own in groupby(zip(gaps, held, missing, strict=True), key=lambda each: each[:2]):
        yield there, [m for _, _, m in own]


def _in_its_place(evidence: PartitionEvidence, lost_by: RoleTaken, answer: Produced) -> int | None:
    """The epoch of the record that is there now; null where the opening shows already that its own is gone."""
    leading, at = evidence.leader_at_the_end, _offset(answer)
    return None if leading is None or (lost_by.offset or 0) <= at else epoch_held(leading, at)


def _stretch(evidence: PartitionEvidence, epoch: int, following: RoleTaken, run: Sequence[Produced]) -> AnsweredStretch:
    begun, last, latest = min(run, key=_offset), max(map(_offset, run)), max(m.newest_term(epoch) for m in run)
    again = following if following.epoch == epoch else None
    return AnsweredStretch(
        start_offset=max(_offset(begun), _begins(evidence, begun, epoch, following.epoch or 0, again)),
        # Of an epoch that is not sure the boundaries may be another's, of one opened once more those written since.
        end_offset=evidence.batch_end(last, epoch) if latest == epoch and again is None else last + 1,
        latest_epoch=latest,
    )


def _gone(
    evidence: PartitionEvidence,
    epoch: int,
    following: RoleTaken,
    runs: Sequence[Sequence[Produced]],
    *,
    begun_unseen: bool,
    late: Lateness,
) -> Gone:
    answers = tuple(m for run in runs for m in run)
    stretches = tuple(_stretch(evidence, epoch, following, run) for run in runs)
    first, end, last = stretches[0].start_offset, stretches[-1].end_offset, max(map(_offset, answers))
    opened = evidence.openings[epoch].offset if epoch in evidence.openings else None
    cut_short = any(m.offset == last and m.end_offset is not None for m in answers)
    one = following.epoch != epoch == stretches[-1].latest_epoch
    ended = one and evidence.batch_ends.boundaries.told_beyond(epoch, end) and not cut_short
    with_gaps = _with_gaps(evidence, answers, stretches, begun_unseen=begun_unseen)
    # The first answer that is told need not be the first that was given.
    lowest = min(first, max(opened or 0, following.offset or 0)) if begun_unseen else first
    epochs, rest = epochs_of(answers, epoch), "" if ended else rest_of_batch(answers)
    others = others_between(answers, first, end, apart=bool(rest) or "," in epochs)
    return Gone(
        epoch=epoch,
        answers=answers,
        start_offset=first,
        end_offset=end,
        stretches=stretches,
        sure=not (following.doubtful or late),
        late=late,
        shown=((answers[0], FIRST), (following, "the next leader opens its epoch")),
        facts={
            "leader": answers[0].witness,
            "answered": "answered a producer for" if late else "acknowledged",
            "answered_for": offsets_seen(answers) if with_gaps else offsets_told(first, end),
            "epoch": epoch,
            "latest_epoch": max(stretch.latest_epoch for stretch in stretches),
            "epochs": epochs,
            "rest": rest,
            "more": f"{others if with_gaps else ''}{earlier_ones(lowest, first)}",
            "perhaps_from": lowest,
            "acks": asked_for(answers),
            "successor": following.broker,
            "next_epoch": following.epoch,
            "instead": instead_of(evidence, epoch, following, first, end, it_or_them(end - first if ended else 2))
            + WHERE_LATE[late].format(leader=answers[0].witness),
            "answers": times_told(answers),
            "clock": following.clock,
            "time": following.time,
        },
        following=following,
    )


def _with_gaps(
    evidence: PartitionEvidence,
    answers: Sequence[Produced],
    stretches: Sequence[AnsweredStretch],
    *,
    begun_unseen: bool,
) -> bool:
    """Whether records between those that were answered for may not have been, or fared otherwise.

    Records behind their first ones may not have been answered, as of producers that wait for all replicas.
    """
    parts = Extents.of((stretch.start_offset, stretch.end_offset) for stretch in stretches)
    if len(parts.ranges) != 1:
        return True
    others = begun_unseen or evidence.chronicle.wait_for_all or any(m.left_out for m in answers)
    (start, end), by_one = next(parts.parts), all(m.acks != -1 for m in answers)
    return by_one and others and len({_offset(m) for m in answers}) < end - start


def _offset(moment: Moment) -> int:
    return moment.offset or 0
