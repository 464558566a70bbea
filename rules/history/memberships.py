"""What is told of clocks: by a partition's statements, by registrations of brokers and by elections of controllers.

A process begins before it is registered, and learns of that afterwards. A controller is elected before it orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rules.history.causes import Precedence, precedences
from rules.history.clocks import Clocks, closed
from rules.history.moments import Moment
from rules.history.statements import PartitionState
from rules.settings import BROKER_EPOCH, CONTROLLER_EPOCH, INCARNATION, QUORUM_LEADER, Setting, Settings

RECORDS: Final = "controller"
"""The clock of the controllers' record: of several machines, where the quorum was led by several nodes."""


def clocks_told(moments: Sequence[Moment], settings: Settings) -> Clocks:
    """How clocks stand to each other, by all that is told; the record of several leaders is of no one clock."""
    told = settings.memberships
    # How long a clock stood still when it was set back is not told: its times since are of no other clock.
    of_none = {moment.clock for moment in moments if moment.set_back != 0}
    if len({each.value for each in told if each.name == QUORUM_LEADER}) > 1:
        of_none.add(RECORDS)
    every = (*precedences(moments), *_registered(told), *_ordered(moments, told))
    return closed(each for each in every if of_none.isdisjoint((each.cause, each.effect)))


def _registered(told: Sequence[Setting]) -> Iterator[Precedence]:
    """A process says its incarnation before the controller records it, and the broker epoch after that."""
    records = {(s.name, s.broker, s.value): s for s in reversed(told) if s.origin == "registration"}
    for own in told:
        record = records.get((own.name, own.broker, own.value))
        if own.origin != "log" or record is None:
            continue
        if own.name == INCARNATION:
            yield from _between(own, record)
        elif own.name == BROKER_EPOCH:
            yield from _between(record, own)


def _between(cause: Setting, effect: Setting) -> Iterator[Precedence]:
    if cause.since is not None and effect.since is not None:
        yield Precedence(cause=cause.clock, earlier=cause.since, effect=effect.clock, later=effect.since)


def _ordered(moments: Sequence[Moment], told: Sequence[Setting]) -> Iterator[Precedence]:
    """A controller of ZooKeeper's says that it was elected before its orders of that epoch arrive."""
    elected = {s.value: s for s in reversed(told) if s.name == CONTROLLER_EPOCH and s.since is not None}
    for m in moments if elected else ():
        if not isinstance(m, PartitionState) or m.controller_epoch is None:
            continue
        election, arrived = elected.get(str(m.controller_epoch)), m.time if m.arrived is None else m.arrived
        if election is not None and election.clock != m.clock and arrived is not None:
            earlier = election.since or 0
            yield Precedence(cause=election.clock, earlier=earlier, effect=m.clock, later=arrived)
