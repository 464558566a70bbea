"""The order in which statements of many clocks are told: by leader epoch, and by wall clock only within one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final

from rules.history.moments import (
    ONE_CONTROLLER,
    ROLE_KINDS,
    STARTING,
    ZOOKEEPER_CLOCK,
    Moment,
    gives_role,
    is_metadata,
    ordered,
)
from rules.history.rotated import FileOrder, Place

LAST: Final = 1 << 31
PLACED_BY_EPOCH: Final = (*ROLE_KINDS, "leadership", "isr", "unclean-election")
RESTARTS: Final = (*STARTING, "log-deleted")
"""What a broker does with a replica before it has a role: of no term."""
SAVED: Final = "producer-state-saved"
"""Written at a stop, and by a start after a crash before the log is said to be loaded: only time tells which."""

DECIDES, LATER = 0, 4
ANY: Final = (-1, LAST - 1)
"""Between any two roles."""
CALLED: Final = ("unclean-election",)
"""A controller's own word of a decision."""

Clock = Callable[[Moment], int | None]
"""A statement's time on the clock on which all are told."""
Terms = dict[int, tuple[int, int]]
"""By the identity of statements between two roles of their broker: the epochs of the one and of the other."""


def in_order(moments: Sequence[Moment], time: Clock) -> list[Moment]:
    """Statements in the order of what they tell; those without any time at all go last."""
    loose = _between_roles(ordered(moments))
    epochs, openings = _openings(moments, time)

    decided = _decisions(moments, time)
    files = FileOrder((moment.span.source, moment.time) for moment in moments)

    def place(moment: Moment) -> tuple[int, int, int, str, Place, int]:
        where = _rank(moment), moment.clock, files.place(moment.span.source), moment.span.start
        if moment.kind == "described":
            return LAST, 0, *where
        at, own = time(moment), loose.get(id(moment), ANY if _unplaced(moment) else None)
        if own is None or at is None:
            return _epoch(moment), decided.get(id(moment), at or 0), *where
        begun = bisect_right(openings, at)
        return min(max(epochs[begun - 1] if begun else -1, own[0]), own[1]), at, *where

    return sorted(moments, key=place)


def _decisions(moments: Iterable[Moment], time: Clock) -> dict[int, int]:
    """What decided each epoch by its identity, and when it is told: before any role, however the clocks stand."""
    roles: dict[int, int] = {}
    deciding: dict[int, list[tuple[int, Moment]]] = {}
    for moment in moments:
        at = time(moment)
        if at is None or moment.epoch is None:
            continue
        if moment.kind in ROLE_KINDS:
            roles[moment.epoch] = min(at, roles.get(moment.epoch, at))
        elif _rank(moment) == DECIDES:
            deciding.setdefault(moment.epoch, []).append((at, moment))
    instants: dict[int, int] = {}
    for epoch, decisions in deciding.items():
        first = min(at for at, _ in decisions)
        instants |= {id(m): min(at, roles.get(epoch, at)) for at, m in decisions if at == first or m.kind in CALLED}
    return instants


def _rank(moment: Moment) -> int:
    """Of one millisecond: the decision, the order that tells of it, the leader, whoever follows it, all else."""
    if moment.kind in CALLED or is_metadata(moment):
        return DECIDES
    return next((rank for rank, kind in enumerate(("leadership", *ROLE_KINDS), 1) if moment.kind == kind), LATER)


def _unplaced(moment: Moment) -> bool:
    """Whether a controller calls a decision that has no epoch yet: only the time places it."""
    return moment.kind in CALLED and moment.epoch is None and moment.term is None


def _epoch(moment: Moment) -> int:
    epoch = moment.epoch if moment.kind in PLACED_BY_EPOCH and moment.epoch is not None else moment.term
    return -1 if epoch is None else epoch


def _between_roles(moments: Iterable[Moment]) -> Terms:
    """What a broker did from a restart to its next role: only the roles on either side and the time place it."""
    found: Terms = {}
    waiting: dict[str, list[Moment]] = {}
    saved: dict[str, list[Moment]] = {}
    for moment in moments:
        own = waiting.setdefault(moment.clock, [])
        before = saved.pop(moment.clock, [])
        if gives_role(moment):
            if own:
                found |= _bounded(own, LAST - 1 if moment.epoch is None else moment.epoch)
            own.clear()
        elif moment.kind in RESTARTS or (own and _epoch(moment) == _epoch(own[-1])):
            # The term of a former role is nothing that a process started since then has learnt.
            own.extend((*before, moment))
        elif moment.kind == SAVED:
            saved[moment.clock] = [*before, moment]
    for own in (*waiting.values(), *saved.values()):
        found |= _bounded(own, LAST - 1)
    return found


def _bounded(loose: Iterable[Moment], following: int) -> Terms:
    return {id(moment): (min(_epoch(moment), following), following) for moment in loose}


def _openings(moments: Iterable[Moment], time: Clock) -> tuple[list[int], list[int]]:
    """Every epoch that anybody tells the beginning of, and when it had begun by the earliest word."""
    begun: dict[int, int] = {}
    for moment in moments:
        # Nothing aligns the clocks of ZooKeeper's controllers, nor its own.
        aligned = moment.clock != ZOOKEEPER_CLOCK and not moment.clock.startswith(ONE_CONTROLLER)
        opens = aligned and moment.kind in PLACED_BY_EPOCH and moment.kind != "isr"
        at = time(moment)
        if opens and at is not None and moment.epoch is not None:
            begun[moment.epoch] = min(at, begun.get(moment.epoch, at))
    epochs = sorted(begun)
    return epochs, list(accumulate((begun[epoch] for epoch in epochs), max))
