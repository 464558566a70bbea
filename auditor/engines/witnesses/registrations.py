"""As what brokers' processes registered, and which nodes led as controllers: from logs and from the metadata log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from parsers.broker_log import wall_clock
from parsers.provenance import row_span
from parsers.tables import BrokerEvent
from parsers.tables.metadata import BrokerChange, QuorumChange
from rules.settings import BROKER_EPOCH, CONTROLLER_EPOCH, INCARNATION, LEADER_OF_EPOCH, QUORUM_LEADER, Setting

OF_MEMBERSHIPS: Final = ("broker-registering", "broker-registered", "controller-elected")
"""Kinds of events that tell as what a broker registers, and that a controller was elected."""
_REGISTRAR: Final = "BrokerLifecycleManager"
"""What registers a broker calls itself; controllers tell of registrations too."""


def memberships_in(events: Iterable[BrokerEvent]) -> Iterator[Setting]:
    """What brokers' own logs tell of it."""
    for event in events:
        if (membership := _membership(event)) is not None:
            yield logged(event, *membership)


def logged(event: BrokerEvent, name: str, value: str | None) -> Setting:
    """What a broker's log tells of that broker, from the time of its line on."""
    return Setting(
        name=name,
        value=value,
        origin="log",
        broker=event.broker,
        since=wall_clock(event.time_text) if event.time_text else None,
        clock=f"broker {event.broker}",
        span=row_span(event),
    )


def _membership(event: BrokerEvent) -> tuple[str, str] | None:
    """The name and the value of what an event tells."""
    own = event.component == _REGISTRAR
    if event.kind == "broker-registering" and own and event.detail:
        return INCARNATION, event.detail
    if event.kind == "broker-registered" and own and event.broker_epoch is not None:
        return BROKER_EPOCH, str(event.broker_epoch)
    if event.kind == "controller-elected" and event.component == "Controller" and event.epoch is not None:
        return CONTROLLER_EPOCH, str(event.epoch)
    return None


def registrations_in(
    changes: Iterable[BrokerChange], written: Callable[[int | None], int | None]
) -> Iterator[Setting]:
    """As what brokers' processes are recorded; a snapshot tells of none when that was.

    A process had begun by when its incarnation was `written`. It learns of its broker epoch after the record's time.
    """
    for change in changes:
        begun = INCARNATION, change.incarnation_id, written(change.offset)
        recorded = BROKER_EPOCH, change.broker_epoch, change.time
        for name, value, since in (begun, recorded) if change.kind == "registered" else ():
            if value is not None:
                yield _recorded(name, str(value), since, change)


def quorum_leaders_in(changes: Iterable[QuorumChange]) -> Iterator[Setting]:
    """Which nodes led the quorum: each has its own clock."""
    for change in changes:
        if change.leader is not None:
            yield _recorded(QUORUM_LEADER, str(change.leader), change.time, change)
            yield _recorded(f"{LEADER_OF_EPOCH}{change.controller_epoch}", str(change.leader), None, change)


def _recorded(name: str, value: str, since: int | None, change: BrokerChange | QuorumChange) -> Setting:
    return Setting(
        name=name,
        value=value,
        origin="registration",
        broker=change.node if isinstance(change, BrokerChange) else None,
        since=since,
        clock="controller",
        span=row_span(change),
    )
