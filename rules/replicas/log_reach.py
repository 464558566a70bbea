"""How far brokers' own logs reach over the life of a partition, as disks and other brokers show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.stories import NO_STORY
from rules.history.statements import Role
from rules.replicas.led_last import stop_told, stop_untold
from rules.replicas.replica import Replica
from rules.settings import Settings


class LogReach(Struct, frozen=True, kw_only=True):
    """How far the logs that brokers wrote about a partition reach over its life, as disks and others show it."""

    cut_short: tuple[int, ...] = ()
    """Brokers whose own logs end before a stop that their disks tell, or a role in which others show them."""
    begun_late: tuple[int, ...] = ()
    """Brokers that others' logs show to lead before the first role of which their own tell."""
    records_before: bool = False
    """Whether disks hold records of an epoch that is older than every role of which a broker's log tells."""
    stopped: tuple[int, ...] = ()
    """Brokers whose own logs end with an orderly stop."""


def log_reach(replicas: Sequence[Replica], chronicle: Chronicle, settings: Settings, *, ordered: bool) -> LogReach:
    """Where the logs about these replicas begin too late or end too early; epochs tell it where they have an order."""
    return LogReach(
        cut_short=tuple(_cut_short(replicas, chronicle, settings, ordered=ordered)),
        begun_late=tuple(_begun_late(replicas, chronicle)) if ordered else (),
        records_before=_records_before(replicas, chronicle),
        stopped=tuple(broker for broker in _brokers(replicas) if stop_told(settings.states(broker)) is not None),
    )


def _cut_short(
    replicas: Sequence[Replica], chronicle: Chronicle, settings: Settings, *, ordered: bool
) -> Iterator[int]:
    for broker in _brokers(replicas):
        stopped = any(stop_untold(replica, settings) for replica in replicas if replica.broker == broker)
        if stopped or (ordered and _ends_early(broker, chronicle)):
            yield broker


def _begun_late(replicas: Sequence[Replica], chronicle: Chronicle) -> Iterator[int]:
    """Every release logs that a broker begins to lead.

    What the controllers' record tells does not count: it reaches back to the beginning, and logs are deleted by age.
    """
    first: dict[int, int] = {}
    shown: dict[int, int] = {}
    for role, epoch in _roles(chronicle):
        if role.witness is None:
            continue
        first[role.witness] = min(epoch, first.get(role.witness, epoch))
        if role.leader is not None and role.leader != role.witness:
            shown[role.leader] = min(epoch, shown.get(role.leader, epoch))
    for broker in _brokers(replicas):
        if broker in shown and shown[broker] < first.get(broker, shown[broker] + 1):
            yield broker


def _records_before(replicas: Sequence[Replica], chronicle: Chronicle) -> bool:
    held = [replica for replica in replicas if replica.log_end_offset > replica.log_start_offset]
    oldest = min((epoch for _, epoch in _roles(chronicle)), default=None)
    if oldest is None:
        return bool(held)
    return any(chain[0].epoch < oldest for replica in held if (chain := replica.loaded_chain))


def _roles(chronicle: Chronicle) -> Iterator[tuple[Role, int]]:
    """Every role that a broker's own log tells, with its epoch."""
    roles = (role for story in chronicle.stories.values() for _, role in story.roles)
    return ((role, role.epoch) for role in roles if role.epoch is not None)


def _brokers(replicas: Sequence[Replica]) -> list[int]:
    return sorted({replica.broker for replica in replicas})


def _ends_early(broker: int, chronicle: Chronicle) -> bool:
    """Whether it followed in a newer epoch, by whoever served it, than the last of which its own log tells."""
    clock = f"broker {broker}"
    story = chronicle.stories.get(clock, NO_STORY)
    if not story.roles or clock not in chronicle.telling_every_role:
        return False
    last = max(role.epoch or 0 for _, role in story.roles)
    followed = (fetch for (asker, _), fetch in chronicle.furthest_fetches.items() if asker == broker)
    return any((-1 if fetch.epoch is None else fetch.epoch) > last for fetch in followed)
