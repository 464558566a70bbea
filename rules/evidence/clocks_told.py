"""What is told of clocks: by a partition's statements, by registrations of brokers and by elections of controllers.

A process begins before it is registered, and learns of that afterwards. A controller is elected before it orders.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from parsers.provenance import Span
from rules.history.causes import Link, Precedence, precedences
from rules.history.clocks import Clocks, closed, of_whichever
from rules.history.falling_times import LEAST_MS
from rules.history.moments import Moment
from rules.history.set_forward import perhaps_set
from rules.history.statements import PartitionState
from rules.history.steady import NOTHING_STEADY, Times, stamps
from rules.settings import BROKER_EPOCH, CONTROLLER_EPOCH, INCARNATION, QUORUM_LEADER, Setting, Settings

RECORDS: Final = "controller"
"""The clock of the controllers' record: of several machines, where the quorum was led by several nodes."""
_STARTED: Final = Link(did="logged it", then="recorded the start of a broker")
_REGISTERED: Final = Link(did="recorded it", then="logged its registration")
_ORDERED: Final = Link(did="was elected controller in that epoch", then="got an order of controller epoch {}")


def clocks_told(
    moments: Sequence[Moment], settings: Settings, steady: Mapping[str, Sequence[Times]] = NOTHING_STEADY
) -> Clocks:
    """How clocks stand to each other, by all that is told.

    The record of several leaders is of several clocks. What holds of a time in it holds whichever of them it is of.
    """
    quorum, memberships = _Quorum(settings.memberships), settings.memberships
    if quorum.several:
        moments = [structs.replace(m, clock=quorum.clock_of(m.span)) if m.clock == RECORDS else m for m in moments]
        memberships = tuple(replace(s, clock=quorum.clock_of(s.span)) if s.clock == RECORDS else s for s in memberships)
    # How long a clock stood still when it was set back is not told: its times since are of no other clock.
    of_none = {moment.clock for moment in moments if moment.set_back != 0}
    every = (*precedences(moments), *_registered(memberships), *_ordered(moments, memberships))
    found = [each for each in every if of_none.isdisjoint((each.cause, each.effect))]
    written = [*stamps(moments), *((s.clock, s.since) for s in settings.statements if s.since is not None)]
    clocks = closed(found, perhaps_set(found, written, steady))
    if not quorum.several:
        return clocks
    dated = (s.span for s in settings.statements if s.clock == RECORDS and s.since is not None)
    return of_whichever(RECORDS, quorum.clocks | {quorum.clock_of(span) for span in dated}, clocks)


class _Quorum:
    """Whose clock each record bears where several nodes led the quorum; lives only inside `clocks_told`."""

    def __init__(self, memberships: Sequence[Setting]) -> None:
        self._led = sorted((_place(s.span), f"quorum leader {s.value}") for s in memberships if s.name == QUORUM_LEADER)
        self.clocks = frozenset(clock for _, clock in self._led)
        self.several = len(self.clocks) > 1

    def clock_of(self, span: Span) -> str:
        """That of the last leader told before it; of nobody knows whom where none is, or in another copy."""
        folder, *_ = place = _place(span)
        before = self._led[: bisect_right(self._led, place, key=lambda led: led[0])]
        return before[-1][1] if before and before[-1][0][0] == folder else "unknown leader"


def _place(span: Span) -> tuple[str, str, int]:
    """Where a record stands in its copy: segments are named by where they begin."""
    folder, _, segment = span.source.rpartition("/")
    return folder, segment, span.start


def _registered(memberships: Sequence[Setting]) -> Iterator[Precedence]:
    """A process says its incarnation before the controller records it, and the broker epoch after that."""
    records = {(s.name, s.broker, s.value): s for s in reversed(memberships) if s.origin == "registration"}
    for own in memberships:
        record = records.get((own.name, own.broker, own.value))
        if own.origin != "log" or record is None:
            continue
        if own.name == INCARNATION:
            yield from _between(own, record, _STARTED)
        elif own.name == BROKER_EPOCH:
            yield from _between(record, own, _REGISTERED)


def _between(cause: Setting, effect: Setting, link: Link) -> Iterator[Precedence]:
    if cause.since is not None and effect.since is not None:
        yield Precedence(cause=cause.clock, earlier=cause.since, effect=effect.clock, later=effect.since, link=link)


def _ordered(moments: Sequence[Moment], memberships: Sequence[Setting]) -> Iterator[Precedence]:
    """A controller of ZooKeeper's says that it was elected before its orders of that epoch arrive.

    Its controller.log is of its broker's clock if its orders to its own broker bear that out.
    """
    elected = {s.value: s for s in reversed(memberships) if s.name == CONTROLLER_EPOCH and s.since is not None}
    arrived: dict[tuple[str, str], int] = {}
    for m in moments if elected else ():
        if not isinstance(m, PartitionState) or m.controller_epoch is None:
            continue
        key, came = (str(m.controller_epoch), m.clock), m.time if m.arrived is None else m.arrived
        if came is not None and key[0] in elected:
            arrived[key] = min(came, arrived.get(key, came))
    for (epoch, clock), came in arrived.items():
        election = elected[epoch]
        at = election.since or 0
        own = arrived.get((epoch, election.clock))
        if clock != election.clock and own is not None and at - own <= LEAST_MS:
            yield Precedence(
                cause=election.clock, earlier=at, effect=clock, later=came, link=_ORDERED, epoch=int(epoch)
            )
