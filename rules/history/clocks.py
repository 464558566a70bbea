"""How far the witnesses' clocks stand apart, as far as causes on one clock and effects on another bound it.

An effect comes after its cause. So the clock of the effect shows at most so much more than that of the cause as lies
between the two times. Causes in both directions bound the difference from both sides, also over a third clock. What
is not bounded is not known. Bounds that contradict each other show that a clock was set: nothing aligns it then.

Where a clock may have been set and no bounds contradict each other, it is taken for two clocks, before and since. What
is known of a time is what holds wherever one clock may have been set, and if none was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from rules.history.causes import Precedence, precedences
from rules.history.if_set import FAR, IfSet, Pair, set_clock
from rules.history.moments import Moment
from rules.history.set_forward import PerhapsSet, perhaps_set
from rules.history.steady import stamps

WANDER_MS: Final = 500
"""How far two clocks that nobody sets may drift apart and together again while a dump's logs are written."""
QUARTER_HOUR_MS: Final = 900_000
NEAR_MS: Final = 60_000
"""Zones differ by whole quarter hours; what is known of two clocks may lie so far beside that."""


class ClockOffset(Struct, frozen=True, kw_only=True):
    """A witness's clock against the reference: its time minus the reference's, as far as causes bound it."""

    clock: str
    reference: str
    least: int | None
    """None where no cause on the reference's clock has an effect on this one, directly or over others'."""
    most: int | None
    bounds: int
    """Causes and effects that the clock shares with any other."""

    @property
    def milliseconds(self) -> int:
        """By how much its times are shifted: not at all where the clocks may show the same; by their zones at best."""
        if not self.stands_apart:
            return 0
        known = [bound for bound in (self.least, self.most) if bound is not None]
        return of_two_zones(sum(known) // len(known), self.least, self.most)

    @property
    def stands_apart(self) -> bool:
        """Whether the clocks surely differ; what they may not differ by is no reason to shift."""
        return (self.least is not None and self.least > 0) or (self.most is not None and self.most < 0)

    @property
    def words(self) -> str:
        """What is known of it, in words."""
        by = f"by {self.bounds} cause{'' if self.bounds == 1 else 's'} and effect{'' if self.bounds == 1 else 's'}"
        if self.least is None and self.most is None:
            return f"not aligned with {self.reference}"
        if self.least is None or self.most is None:
            one = f"at most {self.most:+d}" if self.least is None else f"at least {self.least:+d}"
            return f"{one} ms against {self.reference}, {by}"
        return f"between {self.least:+d} and {self.most:+d} ms against {self.reference}, {by}"


class Clocks(Struct, frozen=True, kw_only=True, dict=True):
    """What is known of the differences between clocks, for every two of them."""

    reference: str = ""
    most: Mapping[Pair, int] = field(default_factory=lambda: MappingProxyType({}))
    """By how much at most the second clock shows more than the first."""
    bounds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """How many causes and effects each clock shares with another."""
    contradicted: frozenset[str] = frozenset()
    """Clocks whose bounds contradict each other: one of them was set, or its logs are of several clocks."""
    refuted: Precedence | None = None
    """A cause and its effect whose times those of another cause and effect of the two clocks refute."""
    perhaps: tuple[IfSet, ...] = ()
    """What is known if any one clock was set, for every place at which one may have been."""

    @property
    def offsets(self) -> tuple[ClockOffset, ...]:
        """Every clock against the reference, which goes first."""
        others = [clock for clock in sorted(self.bounds) if clock != self.reference]
        return tuple(self.offset(clock) for clock in (self.reference, *others) if clock)

    @cached_property
    def translations(self) -> dict[tuple[int, str, str], tuple[int, int] | None]:
        """What `translated` has answered: the same few times are asked about again and again."""
        return {}

    @cached_property
    def alike(self) -> dict[Pair, tuple[int, int]]:
        """By how much a time on the first clock is at most later than one on the second, and at most earlier.

        It holds if no clock was set, or any but the two. Filled as it is asked for.
        """
        return {}

    def offset(self, clock: str) -> ClockOffset:
        """One clock against the reference."""
        if clock == self.reference:
            return ClockOffset(clock=clock, reference=clock, least=0, most=0, bounds=0)
        less = self.most.get((clock, self.reference))
        return ClockOffset(
            clock=clock,
            reference=self.reference,
            least=None if less is None else -less,
            most=self.most.get((self.reference, clock)),
            bounds=self.bounds.get(clock, 0),
        )


NO_CLOCKS: Final = Clocks()


def clocks_of(moments: Sequence[Moment]) -> Clocks:
    """What the statements of a partition tell of their clocks."""
    found = [*precedences(moments)]
    return closed(found, perhaps_set(found, stamps(moments), {}))


def closed(found: Sequence[Precedence], perhaps: Iterable[PerhapsSet] = ()) -> Clocks:
    """The closest bounds that follow from precedences; clocks whose bounds contradict each other are in none."""
    direct = _direct(_bound(each) for each in found)
    bounds = Counter(clock for each in found for clock in (each.cause, each.effect))
    most = _shortest(direct)
    if contradicted := _contradicted(most):
        most = _shortest({pair: bound for pair, bound in direct.items() if contradicted.isdisjoint(pair)})
        return replace(_clocks(most, bounds, contradicted), refuted=_refuted(found, direct))
    return replace(_clocks(most, bounds, contradicted), perhaps=tuple(_lawful(found, direct, perhaps)))


def _lawful(
    found: Iterable[Precedence], direct: Mapping[Pair, int], perhaps: Iterable[PerhapsSet]
) -> Iterator[IfSet]:
    """What is known with two clocks for one that may have been set, where that contradicts nothing."""
    own: dict[str, list[Precedence]] = {}
    for each in found:
        for clock in {each.cause, each.effect}:
            own.setdefault(clock, []).append(each)
    for change in perhaps:
        others = ((pair, more) for pair, more in direct.items() if change.clock not in pair)
        most = _shortest(_direct((*others, *_split(own.get(change.clock, ()), change))))
        if not _contradicted(most):
            yield IfSet(change=change, most=most)


def _bound(each: Precedence) -> tuple[Pair, int]:
    return (each.cause, each.effect), each.later - each.earlier + WANDER_MS


def _direct(bounds: Iterable[tuple[Pair, int]]) -> dict[Pair, int]:
    direct: dict[Pair, int] = {}
    for pair, more in bounds:
        if more < direct.get(pair, FAR):
            direct[pair] = more
    return direct


def _contradicted(most: Mapping[Pair, int]) -> set[str]:
    return {one for one, other in most if one == other and most[one, other] < 0}


def _refuted(found: Iterable[Precedence], direct: Mapping[Pair, int]) -> Precedence | None:
    sure = (
        each
        for each in found
        if each.later - each.earlier + WANDER_MS + direct.get((each.effect, each.cause), FAR) < 0
    )
    return min(sure, key=lambda each: (each.later - each.earlier, each.earlier, each.cause, each.effect), default=None)


def _split(own: Iterable[Precedence], change: PerhapsSet) -> Iterator[tuple[Pair, int]]:
    """The bounds of two clocks for the one that may have been set; without what may be of either of them."""
    # The two are one clock but for the step, so they do not drift apart.
    yield (change.clock, set_clock(change.clock)), change.by
    yield (set_clock(change.clock), change.clock), 0
    for each in own:
        cause = _side(each.cause, each.earlier, change)
        effect = _side(each.effect, each.later, change)
        if cause is not None and effect is not None:
            yield (cause, effect), each.later - each.earlier + WANDER_MS


def _side(clock: str, time: int, change: PerhapsSet) -> str | None:
    if clock != change.clock or time <= change.until:
        return clock
    return set_clock(clock) if time >= change.since else None


def of_whichever(name: str, clocks: AbstractSet[str], known: Clocks) -> Clocks:
    """What is known, with one name for several clocks: a bound of it is the widest of theirs."""
    most = _widest(name, clocks, known.most)
    perhaps = (
        replace(one, most=_widest(name, clocks, one.most)) for one in known.perhaps if one.change.clock not in clocks
    )
    bounds = {clock: count for clock, count in known.bounds.items() if clock not in clocks}
    shared = sum(known.bounds.get(clock, 0) for clock in clocks)
    contradicted = {name if clock in clocks else clock for clock in known.contradicted}
    found = _clocks(most, {**bounds, name: shared} if shared else bounds, contradicted)
    return replace(found, refuted=known.refuted, perhaps=tuple(perhaps))


def _widest(name: str, clocks: AbstractSet[str], known: Mapping[Pair, int]) -> dict[Pair, int]:
    most = {pair: bound for pair, bound in known.items() if clocks.isdisjoint(pair)}
    for other in {clock for pair in known for clock in pair} - clocks:
        more = [known.get((clock, other), FAR) for clock in clocks]
        less = [known.get((other, clock), FAR) for clock in clocks]
        widest = {(name, other): max(more), (other, name): max(less)}
        most.update((pair, bound) for pair, bound in widest.items() if bound < FAR)
    return most


def _clocks(most: Mapping[Pair, int], bounds: Mapping[str, int], contradicted: AbstractSet[str]) -> Clocks:
    """The controllers' record is the reference, or whichever clock shares most with others."""
    reference = "controller" if "controller" in bounds else max(sorted(bounds), key=lambda c: bounds[c], default="")
    frozen = MappingProxyType(most), MappingProxyType(bounds), frozenset(contradicted)
    return Clocks(reference=reference, most=frozen[0], bounds=frozen[1], contradicted=frozen[2])


def _shortest(direct: Mapping[Pair, int]) -> dict[Pair, int]:
    """The bounds over any third clocks, by Floyd and Warshall; a clock below itself shows a contradiction."""
    clocks = sorted({clock for pair in direct for clock in pair})
    most = dict(direct)
    for over in clocks:
        onward = [(other, more) for other in clocks if (more := most.get((over, other))) is not None]
        before = [(one, more) for one in clocks if (more := most.get((one, over))) is not None]
        for one, first in before:
            for other, more in onward:
                if first + more < most.get((one, other), 0 if one == other else FAR):
                    most[one, other] = first + more
    return most


def of_two_zones(shift: int, least: int | None, most: int | None) -> int:
    """About so large a difference, or the one of two zones if it is near: logs bear local times."""
    zones = round(shift / QUARTER_HOUR_MS) * QUARTER_HOUR_MS
    lawful = (least is None or least <= zones) and (most is None or zones <= most)
    return zones if lawful and abs(zones - shift) <= NEAR_MS else shift


def on_reference(moment: Moment, offsets: Mapping[str, ClockOffset]) -> int | None:
    """A statement's time brought to the reference clock; as it stands where nothing shows that its clock differs."""
    offset = offsets.get(moment.clock)
    return None if moment.time is None else moment.time - (offset.milliseconds if offset else 0)
