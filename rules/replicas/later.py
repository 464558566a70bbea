"""What came after an answer to a producer: whether its record is gone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from rules.history.moments import Moment
from rules.replicas.lineage import epoch_held
from rules.replicas.replica import Replica


class Later:
    """What came after an answer: later openings, and the log of who led last."""

    def __init__(
        self,
        openings: Sequence[Moment],
        last: Replica | None,
        led: Mapping[int, tuple[int, ...]],
        again: Mapping[int, Sequence[Moment]],
    ) -> None:
        self._openings, self._again = openings, again
        self._epochs = [-1 if opening.epoch is None else opening.epoch for opening in openings]
        self._lowest = list(accumulate((opening.offset or 0 for opening in reversed(openings)), min))[::-1]
        self._opener = {opening.epoch: opening.broker for opening in openings}
        self._last = last
        self._led = led

    def place(self, epoch: int) -> int:
        """Of the first opening of a newer epoch."""
        return bisect_right(self._epochs, epoch)

    def lost_by(self, missing: Sequence[Moment], epoch: int) -> Moment:
        """The first opening at or below the first of some records that are missing, once more or not; else the next."""
        first = min(missing, key=lambda m: m.offset or 0)
        later = self._openings[self.place(epoch) :]
        own = (m for m in self._again.get(epoch, ()) if m.clock == first.clock and (m.time or 0) > (first.time or 0))
        told = (m for opening in later for m in (opening, *self._again.get(opening.epoch or 0, ())))
        return next((m for m in (*own, *told) if (m.offset or 0) <= (first.offset or 0)), later[0])

    def lacks(self, answer: Moment, epoch: int, opening: Moment | None) -> bool:
        """Whether its record is gone: by the last leader's log, which may have come back with it, else by an opening.

        An answer beside a hole in its broker's log may be of any epoch up to the last one that the hole may hide,
        unless another broker opened it.
        """
        offset = answer.offset or 0
        latest = epoch if answer.latest_term is None else max(epoch, answer.latest_term)
        held = None if self._last is None else epoch_held(self._last, offset)
        if held is None or held < 0:  # up to message format 1 records carry no epoch
            return self._opened_below(offset, latest) and not self._damaged_at(offset)
        if epoch < held <= latest and {self._opener.get(held), self._opener.get(latest)} & {None, answer.witness}:
            return False  # in its last epoch it may have been sent again
        if opening is None or offset < (opening.offset or 0):
            return held > epoch  # what is sent again is answered as it was the first time: an older epoch's record
        # Its answer waits through all that its leader leads without a break.
        without_a_break = (one for one in self._led.get(epoch, (epoch,)) if one <= epoch)
        return held not in without_a_break

    def unreadable(self, answer: Moment, epoch: int) -> bool:
        """Whether a newer epoch opened at its offset or below, and the last leader's log is damaged there."""
        latest = epoch if answer.latest_term is None else max(epoch, answer.latest_term)
        return self._damaged_at(answer.offset or 0) and self._opened_below(answer.offset or 0, latest)

    def _opened_below(self, offset: int, latest: int) -> bool:
        newer = self.place(latest)
        return newer < len(self._lowest) and self._lowest[newer] <= offset

    def _damaged_at(self, offset: int) -> bool:
        last = self._last
        if last is None or last.cleaned or not last.log_start_offset <= offset < last.log_end_offset:
            return False
        return not last.holds(offset, offset + 1)

    def perhaps_lacks(self, answer: Moment, epoch: int) -> int | None:
        """The epoch of the record in its place, by another leader: it is gone unless it was sent again later."""
        held = None if self._last is None else epoch_held(self._last, answer.offset or 0)
        if held is None or answer.latest_term is None or not epoch < held <= answer.latest_term:
            return None
        others, own = (None, answer.witness), self._opener.get(answer.latest_term)
        return held if self._opener.get(held) not in others and own in others else None


def stands_no_more(answer: Moment, last: Replica | None, leaders: Mapping[int, int]) -> bool:
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
