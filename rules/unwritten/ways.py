"""The ways in which a log can have been written, or why nothing is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

from rules.unwritten.epoch_log import FAR, PossibleLog

MOST_WAYS: Final = 12
"""In how many ways a log may have been written, before nothing is said of it."""
SERVER_LOG: Final = "the server.log of all brokers without a gap"
ROLES: Final = "server.log and request log (or state-change.log) of all brokers from the beginning on"
TRACES: Final = "the request logs of all brokers"


class Open(Struct, frozen=True):
    """Nothing can be said: why, and what would tell."""

    reason: str
    missing: str


Ways = tuple[PossibleLog, ...] | Open
"""One of them is true."""
UNTOLD: Final = Open("no log tells from the beginning on what the logs were written from", ROLES)


def unplaced(broker: int) -> Open:
    """Why a log is open whose end is told at none of its broker's roles."""
    return Open(f"nothing tells where broker {broker}'s log ended when it took a role", SERVER_LOG)


def each(ways: Ways, change: Callable[[PossibleLog], PossibleLog]) -> Ways:
    """The same change to each way."""
    return ways if isinstance(ways, Open) else tuple(dict.fromkeys(map(change, ways)))


def bounded(found: Iterable[PossibleLog]) -> Ways:
    """The same, or nothing where there are too many."""
    ways = tuple(dict.fromkeys(found))
    return ways if len(ways) <= MOST_WAYS else Open("the logs can have been written in too many ways", ROLES)


def copied(ways: tuple[PossibleLog, ...], sources: Sequence[Ways], end: int) -> Ways:
    """Each way with what the sources would have sent, as long as they would all have sent the same."""
    found: dict[tuple[PossibleLog, ...], None] = {}
    for source in sources:
        if isinstance(source, Open):
            return source
        grown = [copy for held in ways for log in source for copy in _from(held, log, end)]
        if grown:
            found.setdefault(tuple(dict.fromkeys(grown)))
    if len(found) > 1:
        return Open(f"what stands up to offset {end} may have been copied in one lead or another", TRACES)
    return bounded(next(iter(found))) if found else Open(f"no leader's log is known to have reached {end}", ROLES)


def _from(held: PossibleLog, log: PossibleLog, end: int) -> tuple[PossibleLog, ...]:
    if held.log_end_offset >= end:
        return (held,)
    return (held.copied(log, end),) if log.log_end_offset >= end else ()


def longer(ways: tuple[PossibleLog, ...], sources: Sequence[Ways], least: int) -> Ways:
    """A log of which only the least end is told: at that one, and at every later one that makes other epochs of it."""
    found = list(ways)
    for source in sources:
        if isinstance(source, Open):
            return source
        for log in source:
            starts = {run.start_offset + more for run in log.runs for more in (0, 1)}
            ends = sorted(end for end in (*starts, log.log_end_offset) if least < end <= log.log_end_offset)
            found += [held.copied(log, end) for held in ways for end in ends]
    return bounded(found)


def written_on(ways: tuple[PossibleLog, ...], epoch: int) -> Ways:
    """A leader's log of which only the least end is told: as it is, and with more of its epoch."""
    return bounded([*ways, *(held.wrote(epoch, FAR) for held in ways)])
