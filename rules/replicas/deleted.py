"""Records that retention or a client had deleted: of what is gone, they are no part."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile
from typing import TypeGuard

from rules.history.log_cuts import Cut
from rules.history.moments import Moment
from rules.history.statements import Answered, LogEvent, RoleTaken


class Deleted:
    """Where every leader had its log begin: what retention or a client deleted before is nothing that went."""

    def __init__(self, moments: Sequence[Moment], openings: Mapping[int, RoleTaken]) -> None:
        """By clock, the terms in order and the highest log start up to each."""
        self._moments, self._openings = moments, openings
        starts: dict[str, dict[int, int]] = {}
        for moment in moments:
            if not _of_its_own(moment) or moment.doubtful:
                continue
            term = moment.term if moment.latest_term is None else moment.latest_term
            start = moment.log_start_offset
            if term is not None and start is not None and start > 0:
                own = starts.setdefault(moment.clock, {})
                own[term] = max(own.get(term, 0), start)
        self._terms = {clock: sorted(own) for clock, own in starts.items()}
        self._starts = {clock: list(accumulate((own[t] for t in sorted(own)), max)) for clock, own in starts.items()}

    @property
    def highest(self) -> int:
        """The highest log start that any broker told of its own log."""
        return max((starts[-1] for starts in self._starts.values()), default=0)

    def below(self, leader: int | None, epoch: int) -> int:
        """The highest log start that a leader told of up to the end of an epoch."""
        clock = f"broker {leader}"
        place = bisect_right(self._terms.get(clock, ()), epoch)
        return self._starts[clock][place - 1] if place else 0

    def lost_later(
        self, leader: int | None, epoch: int, end: int, lost_in: int, again: RoleTaken | None = None
    ) -> int:
        """The highest log start told of records below an end before an epoch lost them, or its leader's role once more.

        Leaders of epochs between began with those records, and deleted them as lawfully as who had written them.
        """
        if again is not None:
            return self._until(again)
        highest = self.below(leader, epoch)
        for between in sorted(each for each in self._openings if epoch < each < lost_in):
            opening = self._openings[between]
            if opening.offset is None or opening.offset < end:
                break
            highest = max(highest, self.below(opening.broker, between))
        return highest

    def _until(self, again: RoleTaken) -> int:
        """The highest log start that a leader told before it took a role again: later ones are of the same epoch."""
        own = takewhile(lambda moment: moment is not again, self._moments)
        starts = (m.log_start_offset for m in own if m.clock == again.clock and _of_its_own(m) and not m.doubtful)
        return max((start for start in starts if start is not None), default=0)

    def before(self, cut: Cut, leader: int | None) -> int:
        """The highest log start that a broker that cut its log, or who led what it had copied, told until then."""
        former = cut.former_epoch
        if former is None:
            return cut.begun
        led = self.lost_later(leader, former, cut.committed_end or 0, cut.epoch or 0)
        return max(cut.begun, self.below(cut.broker, former), led)


def _of_its_own(moment: Moment) -> TypeGuard[Answered | LogEvent]:
    """Whether a broker tells of its own log: in an answer, or in a line about it."""
    if moment.kind == "log-start-moved":
        return moment.clock == f"broker {moment.broker}"
    return isinstance(moment, Answered) and moment.clock == f"broker {moment.witness}"
