"""Whether records can have stood on past a leader that had not got them, where the last leader's log is not here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules.evidence import Moment, PartitionEvidence, epoch_held
from rules.history.moments import ROLE_KINDS, held_up_to
from rules.history.statements import Produced, RoleTaken


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """One who may have led with records that a leader before had not got."""

    broker: int | None
    opening: RoleTaken | None
    """The epoch that it led; null where no log tells that it did."""

    @property
    def words(self) -> str:
        """How it came to lead with them."""
        if self.opening is None:
            return "may have led since: no log here tells who led last"
        return f"led epoch {self.opening.epoch} and tells of no cut"


def held_on(evidence: PartitionEvidence, answer: Produced, epoch: int, lost_by: RoleTaken) -> Holder | None:
    """One who had a record of the epoch, led after its loss with a longer log or may have, and tells of no cut."""
    offset, lost_in = answer.offset or 0, lost_by.epoch or 0
    for replica in evidence.perhaps_led_since:
        if epoch_held(replica, offset) == epoch:
            return Holder(broker=replica.broker, opening=None)
    for newer in sorted(e for e in evidence.openings if e > lost_in):
        opening = evidence.openings[newer]
        longer = opening.broker is not None and (opening.offset or 0) > offset
        if longer and _had(evidence, opening.broker, answer, epoch) and not _cut(evidence, opening, answer, epoch):
            return Holder(broker=opening.broker, opening=opening)
    return None


def passed_over(evidence: PartitionEvidence, answer: Produced, epoch: int) -> Holder | None:
    """The opening of one that led next with a log long enough, and had written other records there before.

    That it took over those of the epoch in between, or cut its own, nothing tells.
    """
    own, offset = evidence.openings.get(epoch), answer.offset or 0
    after = min((e for e in evidence.openings if e > epoch), default=None)
    opening = None if after is None else evidence.openings[after]
    if own is None or own.offset is None or opening is None or opening.broker in (None, answer.witness):
        return None
    wrote = (e for e, o in evidence.openings.items() if e < epoch and o.broker == opening.broker)
    other = any(e in evidence.epoch_ends and evidence.epoch_ends[e].offset > offset for e in wrote)
    if not other or own.offset > offset or (opening.offset or 0) <= offset:
        return None
    taken = _fetched(evidence, opening.broker, epoch, offset)
    gone = taken or any(end <= offset for end in _ends(evidence, opening, epoch - 1, None))
    return None if gone else Holder(broker=opening.broker, opening=opening)


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
            told = held_up_to(m)
            yield from () if told is None else (told,)


def _later(moment: Moment, epoch: int, since: int | None) -> bool:
    if (moment.term or 0) > epoch or (moment.kind in ROLE_KINDS and (moment.epoch or 0) > epoch):
        return True
    return since is not None and moment.time is not None and moment.time > since
