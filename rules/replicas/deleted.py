"""Records that retention or a client had deleted: of what is gone, they are no part."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeGuard

from rules.history.log_cuts import Cut
from rules.history.moments import Moment
from rules.history.statements import Answered, LogCut, LogEvent, RoleTaken
from rules.replicas.replica import Replica


class Deleted:
    """Where every leader had its log begin: what retention or a client deleted before is nothing that went."""

    def __init__(
        self, moments: Sequence[Moment], openings: Mapping[int, RoleTaken], replicas: Sequence[Replica] = ()
    ) -> None:
        """By clock, the terms in order and the highest log start in each; by epoch what others' logs and disks show."""
        self._moments, self._openings, self._replicas = moments, openings, replicas
        self.highest = 0
        """The highest log start that any broker told of its own log, in whatever epoch."""
        self._handed_on: dict[int, int] = {}
        """By epoch the highest log start that a follower took over from its leader."""
        starts: dict[str, dict[int, int]] = {}
        begun: dict[str, int] = {}
        for moment in moments:
            begun[moment.clock] = start = _begun_after(moment, begun.get(moment.clock, 0))
            self.highest = max(self.highest, start)
            # In the oldest term that it may be of: a cut before a newer one would be told.
            term = moment.latest_term if moment.term is None else moment.term
            if term is not None and isinstance(moment, LogEvent) and moment.by_leader:
                self._handed_on[term] = max(self._handed_on.get(term, 0), moment.log_start_offset or 0)
            if term is not None and (start or moment.clock in starts):
                own = starts.setdefault(moment.clock, {})
                # Who makes its log anew, or cuts it, may do so at the end of an epoch in which it had deleted.
                own[term] = max(own.get(term, 0), start)
        self._terms = {clock: sorted(own) for clock, own in starts.items()}
        self._starts = {clock: [own[term] for term in sorted(own)] for clock, own in starts.items()}

    def below(self, leader: int | None, epoch: int, first: int | None = None) -> int:
        """Where a leader's log began in an epoch at last, as far as it or a follower told, or as disks show.

        It opened the epoch with a log that began no higher than it ended, at the first record if nothing tells more.
        """
        clock, opening = f"broker {leader}", self._openings.get(epoch)
        place = bisect_right(self._terms.get(clock, ()), epoch)
        own = self._starts[clock][place - 1] if place else 0
        opened = first if opening is None or opening.offset is None else opening.offset
        if place and opened is not None and self._terms[clock][place - 1] < epoch:
            own = min(own, opened)
        return max(own, self._handed_on.get(epoch, 0), *self._on_disk(leader, epoch))

    def _on_disk(self, leader: int | None, epoch: int) -> Iterator[int]:
        """Where logs begin that know no newer epoch: its own, or a follower's that begins amid a segment as it did."""
        for replica in self._replicas:
            amid = replica.log_start_offset > min((each.base_offset for each in replica.segments), default=0)
            if replica.last_known_epoch == epoch and (replica.broker == leader or amid):
                start = replica.log_start_offset
                # First files that nobody tells to be deleted are only not here.
                gone = (u.expected_offset for u in replica.unopened if (u.next_offset or start + 1) <= start)
                yield min((begun for begun in gone if begun is not None), default=start)

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
        before = takewhile(lambda moment: moment is not again, self._moments)
        start = led = 0
        for moment in (m for m in before if m.clock == again.clock):
            start = _begun_after(moment, start)
            led = start if moment.kind == "leader-starts" else max(led, start)
        return led

    def before(self, cut: Cut, leader: int | None) -> int:
        """The highest log start that a broker that cut its log, or who led what it had copied, told until then."""
        former = cut.former_epoch
        if former is None:
            return cut.begun
        led = self.lost_later(leader, former, cut.committed_end or 0, cut.epoch or 0)
        return max(cut.begun, self.below(cut.broker, former), led)


def _begun_after(moment: Moment, start: int) -> int:
    """Where a broker's log begins after a moment: a log that was cut, or began anew, below its start begins there."""
    if moment.doubtful:
        return start
    if _of_its_own(moment):
        return max(start, moment.log_start_offset or 0)
    end = _end_told(moment)
    return start if end is None else min(start, end)


def _end_told(moment: Moment) -> int | None:
    """Where a broker's log ends by its own word; null where a moment tells of none."""
    if moment.clock != f"broker {moment.broker}":
        return None
    if isinstance(moment, RoleTaken):
        return moment.offset if moment.kind == "leader-starts" else None
    if isinstance(moment, LogCut):
        return moment.offset if moment.kind in ("truncated", "log-reset") else None
    if isinstance(moment, LogEvent):
        return 0 if moment.kind == "log-created" else moment.end_offset if moment.kind == "log-loaded" else None
    return None


def _of_its_own(moment: Moment) -> TypeGuard[Answered | LogEvent]:
    """Whether a broker tells of its own log: in an answer, or in a line about it."""
    if moment.kind == "log-start-moved":
        return moment.clock == f"broker {moment.broker}"
    return isinstance(moment, Answered) and moment.clock == f"broker {moment.witness}"
