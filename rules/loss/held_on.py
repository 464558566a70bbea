"""Whether records can have stood on past a leader that had not got them, where the last leader's log is not here."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct

from rules.evidence import Moment, PartitionEvidence, epoch_held
from rules.evidence.led_unseen import led_unseen
from rules.history.moments import ROLE_KINDS, held_up_to
from rules.history.statements import Produced, RoleTaken
from rules.loss.unsettled import Unsettled, of_answers, them


class Holder(Struct, frozen=True, kw_only=True):
    """One who may have led with records after another had led without them."""

    broker: int
    had: bool
    """Whether it is told to have had them."""
    epoch: int | None = None
    """The epoch that it led, or was elected for; null where nothing tells that it was."""
    opening: RoleTaken | None = None
    """Where that epoch opened; null where no log tells it."""


def held_on(
    evidence: PartitionEvidence, missing: Sequence[Produced], epoch: int, lost_by: RoleTaken
) -> tuple[int, Unsettled | None]:
    """How many answers, in the order of their offsets, have records that somebody may have held still; and who."""
    lost = lost_by.epoch or 0, lost_by.broker
    place = bisect_left(missing, 1, key=lambda one: holder(evidence, _record(one, epoch), lost, one.time) is None)
    asked = (missing[n] for n in ((0, place - 1) if place else ()))
    held = (holder(evidence, _record(one, epoch), lost, one.time) for one in asked)
    first = next((one for one in held if one is not None), None)
    if first is None:
        return 0, None
    what = them(evidence, epoch, missing[:place])
    had = "had" if first.had else "may have had"
    why = f"Broker {lost_by.broker} opened epoch {lost_by.epoch} without {what}, but broker {first.broker} {had} {what}"
    return place, _in_doubt(evidence, epoch, missing[:place], why, first)


def _in_doubt(
    evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced], why: str, held: Holder
) -> Unsettled:
    opening = held.opening
    shown = () if opening is None else ((opening, "the leader opens its epoch"),)
    led = f", {'led' if shown else 'was elected for'} epoch {held.epoch} and tells of no cut"
    led = led if held.epoch is not None else " and may have led since: no log here tells who led last"
    return of_answers(
        evidence,
        epoch,
        answers,
        f"{why}{led}. Whether the leader's log now holds {them(evidence, epoch, answers)} is not known",
        f"the log of who led last, or broker {held.broker}'s own log (server.log) whole",
        *shown,
    )


class WrittenRecord(Struct, frozen=True, kw_only=True):
    """A record that a leader wrote: its epoch, its offset and its leader."""

    epoch: int
    offset: int
    leader: int | None


def _record(answer: Produced, epoch: int) -> WrittenRecord:
    return WrittenRecord(epoch=epoch, offset=answer.offset or 0, leader=answer.witness)


def holder(
    evidence: PartitionEvidence, record: WrittenRecord, lost: tuple[int, int | None], since: int | None
) -> Holder | None:
    """One who led after another epoch without the record, with a longer log, and tells of no cut.

    That epoch and its leader are given. A log that was longer may have held the record, unless something tells that it
    had ended below in between. Of who led without it, and of a log that is here without it, that must be told.
    """
    unseen = held_unseen(evidence, record, lost, since)
    if unseen is not None or evidence.leader_at_the_end is not None:
        return unseen
    for replica in evidence.perhaps_led_since:
        if epoch_held(replica, record.offset) == record.epoch:
            return Holder(broker=replica.broker, had=True)
    leaders, openings = evidence.chronicle.perhaps_leaders, evidence.openings
    for newer in sorted(e for e in leaders if e > lost[0]):
        broker, opening = leaders[newer], openings.get(newer)
        had, shown = _had(evidence, broker, record), broker == lost[1] or _lacks(evidence, broker, record)
        longer = opening is None or opening.offset is None or opening.offset > record.offset
        if longer and (had or not shown) and not _cut(evidence, (newer, broker), record, (lost[0], since)):
            return Holder(broker=broker, had=had, epoch=newer, opening=opening)
    return None


def held_unseen(
    evidence: PartitionEvidence, record: WrittenRecord, lost: tuple[int, int | None], since: int | None
) -> Holder | None:
    """One who had the record and tells of no cut since, whose log is not here, and who may have led last with it."""
    for broker in led_unseen(evidence):
        after = evidence.chronicle.last_leader[0] + 1, broker
        if _had(evidence, broker, record) and not _cut(evidence, after, record, (lost[0], since)):
            return Holder(broker=broker, had=True)
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
    held = Holder(broker=opening.broker or 0, had=True, epoch=opening.epoch, opening=opening)
    return _in_doubt(evidence, epoch, answers, why, held)


def _wrote_others(evidence: PartitionEvidence, answer: Produced, epoch: int) -> RoleTaken | None:
    """The next opening, if nothing tells that its leader replaced other records that it had written there."""
    offset = answer.offset or 0
    after = min((e for e in evidence.openings if e > epoch), default=None)
    opening = None if after is None else evidence.openings[after]
    if opening is None or opening.broker in (None, answer.witness):
        return None
    others = (opening.offset or 0) > offset and wrote_older(evidence, opening.broker, epoch, offset)
    led = opening.epoch or 0, opening.broker
    return opening if others and not any(end <= offset for _, end in _ends(evidence, led, epoch - 1, None)) else None


def wrote_older(evidence: PartitionEvidence, broker: int | None, epoch: int, offset: int) -> bool:
    """Whether a broker wrote older records beyond an offset of an epoch, and is not seen to fetch so far in it."""
    led = (e for e, o in evidence.openings.items() if e < epoch and o.broker == broker)
    older = any(e in evidence.epoch_ends and evidence.epoch_ends[e].offset > offset for e in led)
    return older and not _fetched(evidence, broker, epoch, offset)


def _had(evidence: PartitionEvidence, broker: int, record: WrittenRecord) -> bool:
    return broker == record.leader or _fetched(evidence, broker, record.epoch, record.offset)


def _lacks(evidence: PartitionEvidence, broker: int, record: WrittenRecord) -> bool:
    """Whether a broker's log is here and has not the record."""
    here = (replica for replica in evidence.current if not (replica.unopened or replica.cleaned))
    own = [replica for replica in here if replica.broker == broker]
    ended = any(replica.log_end_offset <= record.offset for replica in own)
    return ended or any(epoch_held(replica, record.offset) not in (None, record.epoch) for replica in own)


def _fetched(evidence: PartitionEvidence, broker: int | None, epoch: int, offset: int) -> bool:
    fetches = (m for m in evidence.moments if m.kind == "fetched" and m.broker == broker and m.term == epoch)
    return any((m.offset or 0) > offset for m in fetches)


def _cut(
    evidence: PartitionEvidence, led: tuple[int, int], record: WrittenRecord, times: tuple[int, int | None]
) -> bool:
    """Whether a broker tells that its log ended at the record or below, after it was written and before it led.

    What its log had got again before the epoch that lost the record, it got of leaders that may have had it, unless it
    led and wrote others there.
    """
    lost, since = times
    ends = [*_ends(evidence, led, record.epoch, since if led[1] == record.leader else None)]
    before = [end for m, end in ends if _before(m, lost)]
    if before and before[-1] > record.offset:
        ends = [(m, end) for m, end in ends if m.kind == "leader-starts" or not _before(m, lost)]
    return any(end <= record.offset for _, end in ends)


def _before(moment: Moment, lost: int) -> bool:
    """Whether a broker tells of its log before an epoch; what it has when it takes its role there, it had before."""
    taken = (moment.epoch or 0) - 1 if moment.kind in ROLE_KINDS else 0
    return max(moment.term or 0, taken) < lost


def _ends(
    evidence: PartitionEvidence, led: tuple[int, int | None], epoch: int, since: int | None
) -> Iterator[tuple[Moment, int]]:
    """Where a broker's log ended before it led, by whose word: in later terms, or since a moment of its own."""
    newer, broker = led
    for m in evidence.moments:
        if m.term is None or m.term >= newer:
            continue
        if m.kind == "fetched" and m.broker == broker and m.term > epoch and m.error == 0 and not m.doubtful:
            yield m, m.offset or 0
        if m.clock == f"broker {broker}" and _later(m, epoch, since):
            end = held_up_to(m)
            yield from () if end is None else ((m, end),)


def _later(moment: Moment, epoch: int, since: int | None) -> bool:
    if (moment.term or 0) > epoch or (moment.kind in ROLE_KINDS and (moment.epoch or 0) > epoch):
        return True
    return since is not None and moment.time is not None and moment.time > since
