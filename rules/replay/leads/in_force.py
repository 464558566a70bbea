"""The ISRs that may be in force while a lead goes on: indexed once, and asked for times that only grow."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from math import inf

from msgspec import Struct

from rules.protocol.steps import StepLimit
from rules.replay.leads.in_sync import IsrHistory, middle_of
from rules.replay.leads.isr_in_force import InForce

Isr = frozenset[int]
NOBODY: Isr = frozenset()


class PossibleIsrs(Struct, frozen=True, kw_only=True):
    """What may be in force at some time."""

    isrs: tuple[Isr, ...] = ()
    """Every ISR that it may be, each once; none where nothing is known of them."""
    surely: Isr = NOBODY
    """Members of all of these."""
    first: InForce | None = None
    """The oldest statement that may hold: those before it surely do so no more."""
    untold_since: float = -inf
    """Since when, at the earliest, an ISR may be in force that nobody tells of; infinite where none can be."""
    joined: Isr = frozenset()
    """Members of that one who were left out by one before it: they have joined by reaching their leader.

    A proposal that nothing shows to have come into force leaves nobody out, and takes nobody in.
    """


NOTHING_KNOWN = PossibleIsrs()


class _Window:
    """The statements from one on that have begun by a time, where both only grow."""

    def __init__(self, statements: Sequence[InForce]) -> None:
        self.statements = statements
        self.order = sorted(range(len(statements)), key=lambda i: _or(statements[i].earliest, -inf))
        self.begins = [_or(statements[place].earliest, -inf) for place in self.order]
        self.entered = 0
        self.places: dict[Isr, list[int]] = {}
        self.asked = (-1, 0)
        self.found: tuple[Isr, ...] = ()

    def isrs(self, first: int, time: int) -> tuple[Isr, ...]:
        """Their ISRs, each once, in the order of statements; that of the first in any case."""
        entered = bisect_right(self.begins, time, lo=self.entered)
        if self.asked != (first, entered):
            self.asked, self.found = (first, entered), self._changed(first, entered)
        return self.found

    def _changed(self, first: int, entered: int) -> tuple[Isr, ...]:
        for index in self.order[self.entered : entered]:
            heappush(self.places.setdefault(self.statements[index].isr, []), index)
        self.entered = entered
        found = {self.statements[first].isr: first}
        for isr, places in list(self.places.items()):
            past = StepLimit(len(places), "laying ISRs aside")
            while places and places[0] < first:
                past.step()
                heappop(places)
            if not places:
                del self.places[isr]
            elif isr not in found:
                found[isr] = places[0]
        return tuple(sorted(found, key=found.__getitem__))


class InForceOverTime:
    """A lead's ISRs by time; lives only inside the walk over the lead, which asks for times in their order."""

    def __init__(self, history: IsrHistory) -> None:
        self.statements, self.unassigned = history.statements, history.unassigned
        self.joined_up = history.joined_up
        self.over = _suffix_least(_or(s.latest, inf) for s in self.statements)
        self.middles = _suffix_least(_or(middle_of(s), inf) for s in self.statements)
        written = (s.latest is not None for s in self.statements)
        self.joined = [members if sure else NOBODY for members, sure in zip(history.joined(), written, strict=True)]
        dated = [(s.latest, s.earliest) for s in self.statements if s.latest is not None and s.earliest is not None]
        self.settled = sorted(dated)
        self.begun_by = _prefix_most(earliest for _, earliest in self.settled)
        self.now, self.meanwhile = _Window(self.statements), self.window()
        self.known: dict[tuple[int, tuple[Isr, ...]], PossibleIsrs] = {}
        self.without: dict[int, tuple[list[int], list[float]]] = {}
        """Of each broker the statements that leave it out, and when the first of those from there on may begin."""

    def first(self, time: int | None) -> int:
        """The place of the oldest statement that may hold at a time."""
        return 0 if time is None else max(0, bisect_left(self.over, time) - 1)

    def possible(self, time: int | None) -> PossibleIsrs:
        """Every ISR that may be in force at a time of the leader's clock."""
        if not self.statements:
            return NOTHING_KNOWN
        first = self.first(time)
        isrs = self._all() if time is None else self.now.isrs(first, time)
        return self._from(first, isrs)

    def possible_since(self, since: int | None, time: int | None) -> tuple[Isr, ...]:
        """Every ISR that may have been in force at some time between two."""
        return self.meanwhile(since, time)

    def window(self) -> Callable[[int | None, int | None], tuple[Isr, ...]]:
        """The same for somebody else whose pairs of times only grow."""
        window = _Window(self.statements)

        def since(since: int | None, time: int | None) -> tuple[Isr, ...]:
            if not self.statements:
                return ()
            return self._all() if time is None else window.isrs(self.first(since), time)

        return since

    def holds(self, broker: int, since: int | None, time: int | None) -> bool:
        """Whether a broker surely was a member all the time between two, which need not grow."""
        if not self.statements:
            return False
        if broker not in self.without:
            places = [place for place, statement in enumerate(self.statements) if broker not in statement.isr]
            begun = _suffix_least(_or(self.statements[place].earliest, -inf) for place in places)
            self.without[broker] = places, begun
        places, begun = self.without[broker]
        place = bisect_left(places, self.first(since))
        return place == len(places) or (time is not None and begun[place] > time)

    def _all(self) -> tuple[Isr, ...]:
        return tuple(dict.fromkeys(statement.isr for statement in self.statements))

    def remaining(self, time: int | None) -> Iterable[PossibleIsrs]:
        """What may come into force after a time, each by itself."""
        for place in range(self.first(time), len(self.statements)):
            yield self._from(place, (self.statements[place].isr,))

    def _from(self, place: int, isrs: tuple[Isr, ...]) -> PossibleIsrs:
        """These ISRs, where the statement at a place is the oldest that may hold; a lead has few and many answers."""
        if (place, isrs) not in self.known:
            self.known[place, isrs] = self._possible_from(place, isrs)
        return self.known[place, isrs]

    def _possible_from(self, place: int, isrs: tuple[Isr, ...]) -> PossibleIsrs:
        statement, told_until = self.statements[place], self.joined_up.stop if place in self.joined_up else place
        over = told_until == len(self.statements)
        since = inf if over else _or(self.statements[told_until].earliest, -inf)
        surely, joined = frozenset.intersection(*isrs), self.joined[place]
        return PossibleIsrs(isrs=isrs, surely=surely, first=statement, untold_since=since, joined=joined)

    def settled_since(self, since: int, time: int) -> bool:
        """Whether an ISR surely came into force between two times: what was in flight before it is so no more."""
        place = bisect_right(self.settled, (time, inf))
        return place > 0 and self.begun_by[place - 1] > since

    def likely(self, time: int | None) -> Isr | None:
        """The ISR in force by the best estimate of times, which proves nothing."""
        place = 0 if time is None else bisect_right(self.middles, time)
        return self.statements[place - 1].isr if place else None

    def opened_with(self) -> Isr:
        """The ISR that the lead began with."""
        return self.statements[0].isr if self.statements else frozenset()


def _suffix_least(times: Iterable[float]) -> list[float]:
    """For every place the least from it on: a list that never falls."""
    found = list(times)
    for place in range(len(found) - 2, -1, -1):
        found[place] = min(found[place], found[place + 1])
    return found


def _prefix_most(times: Iterable[float]) -> list[float]:
    most: list[float] = []
    for time in times:
        most.append(time if not most else max(most[-1], time))
    return most


def _or(time: int | None, without: float) -> float:
    return without if time is None else time
