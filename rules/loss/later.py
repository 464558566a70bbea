"""What came after an answer to a producer: whether its record is gone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from rules.evidence import PartitionEvidence
from rules.history.statements import Produced, RoleTaken
from rules.protocol.offsets import UNDEFINED_EPOCH
from rules.replicas.lineage import epoch_held
from rules.replicas.replica import Replica


class Later:
    """What came after an answer: later openings, and the log of who led last."""

    def __init__(
        self,
        openings: Sequence[RoleTaken],
        last: Replica | None,
        led: Mapping[int, tuple[int, ...]],
        again: Mapping[int, Sequence[RoleTaken]],
        logs: Mapping[int, Replica],
    ) -> None:
        self._openings, self._again = openings, again
        self._epochs = [-1 if opening.epoch is None else opening.epoch for opening in openings]
        self._lowest = list(accumulate((opening.offset or 0 for opening in reversed(openings)), min))[::-1]
        self._opener = {opening.epoch: opening.broker for opening in openings}
        self._last = last
        self._led, self._logs = led, logs

    def after(self, epoch: int) -> Sequence[RoleTaken]:
        """The openings of newer epochs."""
        return self._openings[self._place(epoch) :]

    def _place(self, epoch: int) -> int:
        """Of the first opening of a newer epoch."""
        return bisect_right(self._epochs, epoch)

    def lost_by(self, missing: Sequence[Produced], epoch: int) -> RoleTaken:
        """The first opening at or below the first of some records that are missing, once more or not; else the next.

        An epoch that their answers may be of has not lost them.
        """
        first = min(missing, key=lambda m: m.offset or 0)
        later = self.after(max(m.newest_term(epoch) for m in missing)) or self.after(epoch)
        own = (m for m in self._again.get(epoch, ()) if m.clock == first.clock and (m.time or 0) > (first.time or 0))
        openings = (m for opening in later for m in (opening, *self._again.get(opening.epoch or 0, ())))
        return next((m for m in (*own, *openings) if (m.offset or 0) <= (first.offset or 0)), later[0])

    def lacks(self, answer: Produced, epoch: int, opening: RoleTaken | None) -> bool:
        """Whether its record is gone: by the last leader's log, which may have come back with it, else by an opening.

        An answer beside a hole in its broker's log may be of any epoch up to the last one that the hole may hide,
        unless another broker opened it.
        """
        offset = answer.offset or 0
        held = self.stands_at(offset)
        if held is None:
            return self._opened_below(offset, answer.newest_term(epoch)) and not self._damaged_at(offset)
        return self._is_anothers(held, offset, epoch, opening) and not self._may_be_of(held, answer, epoch)

    def perhaps_lacks(self, answer: Produced, epoch: int, opening: RoleTaken | None) -> int | None:
        """The epoch of another's record in its place: its own is gone, unless it is that one, which was sent again."""
        held = self.stands_at(answer.offset or 0)
        if held is None or (held > epoch and self._opener.get(held) in (None, answer.witness)):
            return None
        other = self._is_anothers(held, answer.offset or 0, epoch, opening)
        return held if other and self._may_be_of(held, answer, epoch) else None

    def stands_at(self, offset: int) -> int | None:
        """The epoch of the record at an offset; up to message format 1 records carry none."""
        held = None if self._last is None else epoch_held(self._last, offset)
        return None if held is None or held < 0 else held

    def _is_anothers(self, held: int, offset: int, epoch: int, opening: RoleTaken | None) -> bool:
        """Whether the record that stands there is none for which a leader of the epoch answers."""
        if opening is None or offset < (opening.offset or 0):
            return held > epoch  # what is sent again is answered as it was the first time: an older epoch's record
        # Its answer waits through all that its leader leads without a break.
        without_a_break = (one for one in self._led.get(epoch, (epoch,)) if one <= epoch)
        return held not in without_a_break

    def _may_be_of(self, held: int, answer: Produced, epoch: int) -> bool:
        """Whether it may have been given in a later epoch, for the record that stands there: that is sent again."""
        latest, own = answer.newest_term(epoch), (None, answer.witness)
        if held > epoch:
            return held <= latest and (self._opener.get(held) in own or self._opener.get(latest) in own)
        if self._has_its_own(answer, epoch, latest):
            return False
        above = (m for m in self.after(epoch) if (m.epoch or 0) <= latest and (m.offset or 0) > (answer.offset or 0))
        return (latest > epoch and latest not in self._opener) or any(m.broker in own for m in above)

    def _has_its_own(self, answer: Produced, epoch: int, latest: int) -> bool:
        """Whether the log of who answered holds a record of those epochs there: it did not answer for an older one."""
        log = None if answer.witness is None else self._logs.get(answer.witness)
        held = None if log is None else epoch_held(log, answer.offset or 0)
        return held is not None and epoch <= held <= latest

    def unreadable(self, answer: Produced, epoch: int) -> bool:
        """Whether a newer epoch opened at its offset or below, and the last leader's log is damaged there."""
        offset = answer.offset or 0
        return self._damaged_at(offset) and self._opened_below(offset, answer.newest_term(epoch))

    def _opened_below(self, offset: int, latest: int) -> bool:
        newer = self._place(latest)
        return newer < len(self._lowest) and self._lowest[newer] <= offset

    def _damaged_at(self, offset: int) -> bool:
        last = self._last
        if last is None or last.cleaned or not last.log_start_offset <= offset < last.log_end_offset:
            return False
        return not last.holds(offset, offset + 1)


def stands_no_more(answer: Produced, last: Replica | None, leaders: Mapping[int, int]) -> bool:
    """Whether the log that leads shows no record where a broker of unknown epoch answered for one, if it can have led.

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


def perhaps_replaced(evidence: PartitionEvidence, answer: Produced, leaders: Mapping[int, int]) -> bool:
    """Whether who answered cut its log there since, and the log that leads may have another record in that place.

    An older one, or one without an epoch that its broker is not seen to have fetched by then.
    """
    last, offset, since = evidence.leader_at_the_end, answer.offset or 0, answer.time or 0
    cuts = (c for c in evidence.chronicle.cuts if c.broker == answer.witness and c.offset <= offset)
    if last is None or not any((cut.moment.time or 0) >= since for cut in cuts):
        return False
    there = last.log_start_offset <= offset < last.log_end_offset and last.broker != answer.witness
    unnamed = there and epoch_held(last, offset) in (None, UNDEFINED_EPOCH)
    unseen = unnamed and evidence.chronicle.fetched_up_to(last.broker, answer.term or 0) <= offset
    return unseen or _stands_older(answer, last, leaders)


def _stands_older(answer: Produced, last: Replica | None, leaders: Mapping[int, int]) -> bool:
    """Whether the log that leads shows an older record there than any that the broker can have answered for first.

    It is the one that was sent again, or it has taken the place of what was answered for.
    """
    held = None if last is None or last.cleaned else epoch_held(last, answer.offset or 0)
    led = [epoch for epoch, leader in leaders.items() if leader == answer.witness and epoch >= (answer.term or 0)]
    return held is not None and held in leaders and bool(led) and held < min(led)
