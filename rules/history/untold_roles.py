"""What a broker's own log of roles leaves untold: epochs in which it may have been, though it has no word of them.

Others may name an epoch of which it tells nothing. Or it was started again and tells the role that it took then, but
not whether it had taken that role before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from rules.history.clocks import Clocks, clocks_of
from rules.history.moments import (
    DISTURBED,
    ROLE_KINDS,
    STARTING,
    Moment,
    epoch_starts,
    first_states,
    gives_role,
    leads,
)
from rules.history.statements import RoleTaken
from rules.history.translation import estimated, translated
from rules.protocol.steps import StepLimit

_OF_AN_EPOCH: Final = (*ROLE_KINDS, "leadership", "unclean-election")
"""What tells of an epoch that there was, even where it does not name who led it."""


class UntoldRoles:
    """Epochs in which others show a broker in a role of which its own log, that tells roles, has no word.

    Whom a controller elects may be gone before it leads, and an answer then be of no such term. Where the broker was
    started again before its next role, who was served by it shows that it led, if requests name epochs.
    """

    def __init__(self, moments: Sequence[Moment]) -> None:
        own_epochs: dict[str, set[int]] = {}
        for moment in moments:
            if gives_role(moment) and moment.epoch is not None:
                own_epochs.setdefault(moment.clock, set()).add(moment.epoch)
        served, fetched, elected = (dict[int, set[int]]() for _ in range(3))
        for moment in moments:
            if is_served(moment):
                _put(served, moment.witness, moment.epoch)
                _put(fetched, moment.broker, moment.epoch)
            # By the word of its controller, of those that follow or of any who was told.
            _put(elected, moment.leader, moment.epoch)
        self.served, self.fetched, self.elected = (_beside(own_epochs, shown) for shown in (served, fetched, elected))
        self._named = {m.clock for m in moments if is_served(m) and m.epoch is not None and m.epoch >= 0}
        """Clocks of brokers that are asked by the name of an epoch, as they are since 2.1."""
        self._own_epochs = own_epochs
        self._led = {m.epoch for m in moments if _tells_who_led(m) and m.epoch is not None}
        self._newest = max(self._led, default=-1)

    def unled(self, clock: str, term: int, until: int | None, *, restarted: bool) -> int | None:
        """The latest epoch after one, and before another if there is one, of which nobody tells who led it."""
        if self.gone(clock, restarted=restarted):
            return None
        epoch, own = (self._newest if until is None else until - 1), self._own_epochs.get(clock, ())
        bound = StepLimit(len(self._led) + len(own), "looking for an epoch that nobody led")
        while epoch in self._led or epoch in own:
            bound.step()
            epoch -= 1
        return epoch if epoch > term else None

    def shown(self, clock: str, *, as_leader: bool, restarted: bool) -> list[Sequence[int]]:
        """The epochs in which a clock's broker is shown, by what they are shown."""
        served, elected = self.served.get(clock, ()), self.elected.get(clock, ())
        if not as_leader:
            return [served, self.fetched.get(clock, ()), elected]
        return [served] if self.gone(clock, restarted=restarted) else [served, elected]

    def gone(self, clock: str, *, restarted: bool) -> bool:
        """Whether a broker may have been gone before it led, where its controller elected it."""
        return restarted and clock in self._named


def _put(shown: dict[int, set[int]], broker: int | None, epoch: int | None) -> None:
    if broker is not None and epoch is not None and epoch >= 0:
        shown.setdefault(broker, set()).add(epoch)


def _beside(own_epochs: Mapping[str, set[int]], shown: Mapping[int, set[int]]) -> dict[str, list[int]]:
    """For every clock that tells roles, the epochs in which others show its broker and that are none of its own."""
    found = {f"broker {broker}": epochs for broker, epochs in shown.items()}
    return {clock: sorted(beside) for clock, own in own_epochs.items() if (beside := found.get(clock, own) - own)}


def _tells_who_led(moment: Moment) -> bool:
    """Whether it names an epoch and who led it, or that nobody did."""
    return moment.kind == "leader-starts" or moment.leader is not None or is_served(moment)


def is_served(moment: Moment) -> bool:
    """Whether it is a fetch that was answered without error."""
    return moment.kind == "fetched" and moment.error in (None, 0)


class EarlierRoles:
    """The epochs that a broker's word of itself may be of beside the one whose role it told before.

    A word at a role or at a restart was learnt before it: in the role told last, in one that somebody names and the
    broker does not, or, where it was started again, in the very role that it takes next. Whoever then cuts its log to
    where such an epoch began, or below, held nothing of it. Nor did who was answered where an older epoch ended: the
    leader of that role knows its own epoch.
    """

    def __init__(self, placed: Sequence[Moment]) -> None:
        self._placed = placed
        self._openings = epoch_starts(placed)
        named = {m.epoch for m in placed if m.kind in _OF_AN_EPOCH or _tells_who_led(m)}
        self._named = sorted(epoch for epoch in named if epoch is not None and epoch >= 0)
        self._again = _first_after_a_restart(placed)
        self._first: dict[int, dict[str, int]] = {}
        """When each clock names an epoch's leader first, but for who may name it long after it began."""
        for moment in placed:
            if moment.kind not in ("leader-starts", "leadership") or id(moment) in self._again:
                continue
            if moment.epoch is not None and moment.time is not None:
                first = self._first.setdefault(moment.epoch, {})
                first[moment.clock] = min(moment.time, first.get(moment.clock, moment.time))
        self._cuts: dict[str, int | None] = {}
        """By clock how far its broker cut its log in the role that follows the place that is looked at."""
        self._answered: dict[str, int] = {}
        """By clock of which epoch an answer told there that its broker then cut to."""
        self._next: dict[str, Moment] = {}

    @cached_property
    def _clocks(self) -> Clocks:
        return clocks_of(self._placed)

    def pass_over(self, moment: Moment) -> None:
        """Go back beyond a statement."""
        if gives_role(moment):
            self._next[moment.clock] = moment
        if moment.kind in ("truncated", "log-reset") and moment.clock == f"broker {moment.broker}":
            to = (0 if moment.kind == "log-reset" else moment.offset) or 0
            known = self._cuts.get(moment.clock)
            self._cuts[moment.clock] = to if known is None else min(known, to)
        elif moment.kind == "cut-by-epoch-answer" and moment.clock == f"broker {moment.broker}":
            if moment.answered_epoch is not None and moment.answered_epoch >= 0:
                self._answered[moment.clock] = moment.answered_epoch
        elif moment.kind in DISTURBED or (gives_role(moment) and id(moment) not in self._again):
            self._cuts.pop(moment.clock, None)
            self._answered.pop(moment.clock, None)

    def last(self, moment: Moment) -> int | None:
        """The latest of these epochs; none where the role told last is the only one."""
        term = -1 if moment.term is None else moment.term
        following = moment if gives_role(moment) else self._next.get(moment.clock)
        until = None if following is None else following.epoch
        end = len(self._named) if until is None else bisect_left(self._named, until)
        between = self._named[bisect_right(self._named, term) : end]
        again = moment.kind in STARTING or id(moment) in self._again
        if following is not None and again and until is not None and until > term and not leads(following):
            between = [*between, until]
        answered = self._answered.get(moment.clock)
        if between[-1:] == [until] and answered is not None and until is not None and answered < until:
            between = between[:-1]
        return max((epoch for epoch in between if self._may_be_of(moment, epoch)), default=None)

    def _may_be_of(self, moment: Moment, epoch: int) -> bool:
        cut, opening = self._cuts.get(moment.clock), self._openings.get(epoch)
        if cut is not None and opening is not None and opening.offset is not None and cut <= opening.offset:
            return False
        return not self._comes_after(epoch, moment)

    def had_begun(self, epoch: int, moment: Moment) -> bool:
        """Whether an epoch was most likely there when a broker wrote something, as others date it."""
        times = self._first.get(epoch, {})
        dated = (estimated(time, clock, moment.clock, self._clocks) for clock, time in times.items())
        begun = min((time for time in dated if time is not None), default=None)
        return begun is not None and begun <= (moment.time or 0)

    def _comes_after(self, epoch: int, moment: Moment) -> bool:
        """Whether an epoch was surely not there yet when a broker wrote something."""
        times = self._first.get(epoch, {})
        windows = (translated(time, clock, moment.clock, self._clocks) for clock, time in times.items())
        placed = [window[0] for window in windows if window is not None]
        return bool(placed) and moment.time is not None and min(placed) > moment.time


def _first_after_a_restart(placed: Sequence[Moment]) -> frozenset[int]:
    """The statements of roles taken first after a restart, or in a later state of their epoch, by identity."""
    started: set[str] = set()
    found: set[int] = set()
    first = first_states(placed)
    for moment in placed:
        if moment.kind in STARTING:
            started.add(moment.clock)
        elif gives_role(moment):
            late = moment.partition_epoch is not None and moment.partition_epoch > first.get(moment.epoch or 0, 0)
            fresh = isinstance(moment, RoleTaken) and moment.fresh
            if moment.clock in started or fresh or late:
                found.add(id(moment))
            started.discard(moment.clock)
    return frozenset(found)
