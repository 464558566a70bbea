"""Whether records can have stood on past a leader that had not got them, where the last leader's log is not here."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rules.evidence import Moment, PartitionEvidence, epoch_held
from rules.history.moments import ROLE_KINDS, held_up_to
from rules.history.statements import Produced, RoleTaken
from rules.loss.unsettled import Unsettled, of_answers, them

Holder = tuple[int | None, RoleTaken | None]
"""One who may have led with a record, and the epoch that it led; null where no log tells that it did."""


def held_on(
    evidence: PartitionEvidence, missing: Sequence[Produced], epoch: int, lost_by: RoleTaken
) -> tuple[int, Unsettled | None]:
    """How many answers, in the order of their offsets, have records that somebody may have held still; and who."""
    place = bisect_left(missing, 1, key=lambda answer: _holder(evidence, answer, epoch, lost_by) is None)
    held = (_holder(evidence, missing[n], epoch, lost_by) for n in ((0, place - 1) if place else ()))
    holder = next((one for one in held if one is not None), None)
    if holder is None:
        return 0, None
    what = them(evidence, epoch, missing[:place])
    why = f"Broker {lost_by.broker} opened epoch {lost_by.epoch} without {what}, but broker {holder[0]} had {what}"
    return place, _in_doubt(evidence, epoch, missing[:place], why, holder)


def _in_doubt(
    evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced], why: str, holder: Holder
) -> Unsettled:
    broker, opening = holder
    led = "may have led since: no log here tells who led last"
    led = led if opening is None else f"led epoch {opening.epoch} and tells of no cut"
    shown = () if opening is None else ((opening, "the leader opens its epoch"),)
    return of_answers(
        evidence,
        epoch,
        answers,
        f"{why}, {led}. Whether the leader's log now holds {them(evidence, epoch, answers)} is not known",
        f"the log of who led last, or broker {broker}'s own log (server.log) whole",
        *shown,
    )


def _holder(evidence: PartitionEvidence, answer: Produced, epoch: int, lost_by: RoleTaken) -> Holder | None:
    """One who had a record of the epoch, led after its loss with a longer log or may have, and tells of no cut."""
    offset, lost_in = answer.offset or 0, lost_by.epoch or 0
    for replica in evidence.perhaps_led_since:
        if epoch_held(replica, offset) == epoch:
            return replica.broker, None
    for newer in sorted(e for e in evidence.openings if e > lost_in):
        opening = evidence.openings[newer]
        longer = opening.broker is not None and (opening.offset or 0) > offset
        if longer and _had(evidence, opening.broker, answer, epoch) and not _cut(evidence, opening, answer, epoch):
            return opening.broker, opening
    return None


def passed_over(evidence: PartitionEvidence, given: Sequence[Produced], epoch: int) -> Unsettled | None:
    """Answers whose next leader had a log long enough, and had written other records there before.

    That it took over those of the epoch in between, or cut its own, nothing tells.
    """
    own = evidence.openings.get(epoch)
    begun = None if own is None else own.offset
    answers = sorted((m for m in given if begun is not None and (m.offset or 0) >= begun), key=lambda m: m.offset or 0)
    opening = _wrote_others(evidence, answers[0], epoch) if answers else None
    if opening is None:
        return None
    why = f"Broker {opening.broker} had written others there before"
    return _in_doubt(evidence, epoch, answers, why, (opening.broker, opening))


def _wrote_others(evidence: PartitionEvidence, answer: Produced, epoch: int) -> RoleTaken | None:
    """The next opening, if nothing tells that its leader replaced other records that it had written there."""
    offset = answer.offset or 0
    after = min((e for e in evidence.openings if e > epoch), default=None)
    opening = None if after is None else evidence.openings[after]
    if opening is None or opening.broker in (None, answer.witness):
        return None
    others = (opening.offset or 0) > offset and wrote_older(evidence, opening.broker, epoch, offset)
    return opening if others and not any(end <= offset for end in _ends(evidence, opening, epoch - 1, None)) else None


def wrote_older(evidence: PartitionEvidence, broker: int | None, epoch: int, offset: int) -> bool:
    """Whether a broker wrote older records beyond an offset of an epoch, and is not seen to fetch so far in it."""
    led = (e for e, o in evidence.openings.items() if e < epoch and o.broker == broker)
    older = any(e in evidence.epoch_ends and evidence.epoch_ends[e].offset > offset for e in led)
    return older and not _fetched(evidence, broker, epoch, offset)


def _had(evidence: PartitionEvidence, broker: int | None, answer: Produced, epoch: int) -> bool:
    return broker == answer.witness or _fetched(evidence, broker, epoch, answer.offset or 0)


def _fetched(evidence: PartitionEvidence, broker: int | None, epoch: int, offset: int) -> bool:
    fetches = (m for m in evidence.moments if m.kind == "fetched" and m.broker == broker and m.term == epoch)
    return any((m.offset or 0) > offset for m in fetches)


def _cut(evidence: PartitionEvidence, opening: RoleTaken, answer: Produced, epoch: int) -> bool:
    """Whether a broker tells that its log ended at the record or below, between the answer and its own opening."""
    since = answer.time if opening.broker == answer.witness else None
    return any(end <= (answer.offset or 0) for end in _ends(evidence, opening, epoch, since))


def _ends(evidence: PartitionEvidence, opening: RoleTaken, epoch: int, since: int | None) -> Iterator[int]:
    """Where a broker's log ended before it opened: in later terms, by its fetches too, or since a moment of its own."""
    for m in evidence.moments:
        if m.term is None or m.term >= (opening.epoch or 0):
            continue
        if m.kind == "fetched" and m.broker == opening.broker and m.term > epoch and m.error == 0 and not m.doubtful:
            yield m.offset or 0
        if m.clock == f"broker {opening.broker}" and _later(m, epoch, since):
            end = held_up_to(m)
            yield from () if end is None else (end,)


def _later(moment: Moment, epoch: int, since: int | None) -> bool:
    if (moment.term or 0) > epoch or (moment.kind in ROLE_KINDS and (moment.epoch or 0) > epoch):
        return True
    return since is not None and moment.time is not None and moment.time > since
