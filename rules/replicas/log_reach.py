"""How far brokers' own logs reach over the life of a partition, as disks and other brokers show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import RequestLogs, log_of
from rules.history.trace_ends import TraceGap
from rules.replicas.lacked_roles import LackedRoles, Place, former_of, told_roles
from rules.replicas.led_last import ends_stopped, stop_untold
from rules.replicas.replica import Replica
from rules.settings import Settings


class LogsNotWhole(Struct, frozen=True, kw_only=True):
    """Whose logs are not here as a whole."""

    cut_short: tuple[int, ...] = ()
    """Brokers whose own logs end before a stop or an epoch that disks tell, or a role in which others show them."""
    begun_late: tuple[int, ...] = ()
    """Brokers whose own logs tell roles from a later one on than others show, or than they themselves name."""
    holed: tuple[int, ...] = ()
    """Brokers whose own logs lack a role amid those of which they tell."""
    requests_holed: tuple[int, ...] = ()
    """Brokers whose request logs lack lines amid them, or behind all."""


class LogReach(LogsNotWhole, frozen=True, kw_only=True):
    """How far the logs that brokers wrote about a partition reach over its life, as disks and others show it."""

    before_roles: bool = False
    """Whether disks hold records of an older epoch than every role that a broker's log tells, or a role names one."""
    stopped: tuple[int, ...] = ()
    """Brokers whose own logs end with a clean shutdown."""


def log_reach(
    replicas: Sequence[Replica], chronicle: Chronicle, settings: Settings, requests: RequestLogs, lacked: LackedRoles
) -> LogReach:
    """What the logs about these replicas lack at their ends and amid them."""
    brokers = sorted({replica.broker for replica in replicas})
    return LogReach(
        cut_short=tuple(sorted({*_cut_short(replicas, settings, lacked), *_newer_on_disk(replicas, chronicle)})),
        begun_late=_by_place("before", lacked),
        holed=_by_place("amid", lacked),
        requests_holed=tuple(broker for broker in brokers if _lacks_lines(log_of(requests, broker).gaps)),
        before_roles=_before_roles(replicas, chronicle),
        stopped=tuple(broker for broker in brokers if ends_stopped(settings.states(broker))),
    )


def _lacks_lines(gaps: Sequence[TraceGap]) -> bool:
    """Whether lines are not there; numbers of sessions skip those that are there and cannot be read, too."""
    return bool(gaps) and not any(gap.unread for gap in gaps)


def _by_place(place: Place, lacked: LackedRoles) -> tuple[int, ...]:
    return tuple(broker for broker, places in lacked.items() if place in places.values())


def _cut_short(replicas: Sequence[Replica], settings: Settings, lacked: LackedRoles) -> Iterator[int]:
    stopped = {replica.broker for replica in replicas if stop_untold(replica, settings)}
    yield from stopped | {*_by_place("after", lacked)}


def _newer_on_disk(replicas: Sequence[Replica], chronicle: Chronicle) -> Iterator[int]:
    """Brokers whose disk knows a newer epoch than every role of which they tell, though they tell of all."""
    newest: dict[int, int] = {}
    for role, epoch in told_roles(chronicle):
        if f"broker {role.witness}" in chronicle.telling_every_role:
            newest[role.witness or 0] = max(epoch, newest.get(role.witness or 0, 0))
    for replica in replicas:
        own = newest.get(replica.broker, replica.last_known_epoch)
        if replica.last_known_epoch > own and not replica.earlier.possible:
            yield replica.broker


def _before_roles(replicas: Sequence[Replica], chronicle: Chronicle) -> bool:
    """Whether disks have records of an older epoch than any role, or the oldest role says that it is not the first."""
    held = [replica for replica in replicas if replica.log_end_offset > replica.log_start_offset]
    roles = [*told_roles(chronicle)]
    oldest = min((epoch for _, epoch in roles), default=None)
    if oldest is None:
        return bool(held)
    older = any(former < oldest for role, _ in roles if (former := former_of(role)) is not None)
    return older or any(chain[0].epoch < oldest for replica in held if (chain := replica.loaded_chain))
