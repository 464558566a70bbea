"""A run as rows: one an event, with what each replica held and what the leader knew of its followers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from rules.protocol.isr import is_under_min_isr, is_under_replicated
from rules.protocol.offsets import BrokerId
from rules.simulator.generation import Generation, generation
from rules.simulator.script import Script, cluster_of
from rules.simulator.state import CREATED_AT_MS, Broker, Cluster
from rules.simulator.step import step

Role = Literal["leader", "zombie", "follower", "waiting", "down", "idle"]


class RemoteEnd(Struct, frozen=True, kw_only=True):
    """The log end of a follower as its leader knows it, and when that follower was last caught up."""

    broker: int
    log_end_offset: int
    last_caught_up_ms: int | None
    """Counted from the creation; null where it never was."""


class ReplicaRow(Struct, frozen=True, kw_only=True):
    """One replica after an event."""

    broker: int
    role: Role
    log_end_offset: int
    high_watermark: int
    epochs: tuple[tuple[int, int], ...]
    """The epoch cache: (epoch, start offset)."""
    isr: tuple[int, ...] | None
    remote: tuple[RemoteEnd, ...]
    """Of a leader: what it knows of its followers. There is no remote high watermark."""

    @property
    def last_epoch(self) -> int | None:
        """The epoch of its last entry."""
        return self.epochs[-1][0] if self.epochs else None


class Row(Struct, frozen=True, kw_only=True):
    """One event and what came of it."""

    number: int
    event: str
    time_ms: int
    epoch: int
    leader: int | None
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    """Eligible leader replicas, where the controller keeps them."""
    under_replicated: bool
    under_min_isr: bool
    replicas: tuple[ReplicaRow, ...]
    said: tuple[str, ...]


class Run(Struct, frozen=True, kw_only=True):
    """A script run under some versions: its rows, and every state on the way."""

    script: Script
    generations: Mapping[BrokerId, Generation]
    rows: tuple[Row, ...]
    states: tuple[Cluster, ...]

    @property
    def end(self) -> Cluster:
        """The last state."""
        return self.states[-1]


CREATED: Final = "created"


def run(script: Script, version: str | None = None, inter_broker_protocol: str | None = None) -> Run:
    """Runs a script under its own versions, or all brokers under another."""
    generations = versions_of(script, version, inter_broker_protocol)
    states = [cluster_of(script, generations)]
    for event in script.events:
        states.append(step(states[-1], event))
    texts = (CREATED, *script.lines)
    rows = tuple(row(number, text, state) for number, (text, state) in enumerate(zip(texts, states, strict=True)))
    return Run(script=script, generations=generations, rows=rows, states=tuple(states))


def versions_of(
    script: Script, version: str | None = None, inter_broker_protocol: str | None = None
) -> dict[BrokerId, Generation]:
    """The generation of each broker: a version given here outranks all that the script says."""
    if version is not None:
        return dict.fromkeys((*script.assignment, *script.others), generation(version, inter_broker_protocol))
    spoken = inter_broker_protocol or script.inter_broker_protocol
    chosen = dict.fromkeys((*script.assignment, *script.others), generation(script.version, spoken))
    for broker, own, own_protocol in script.own_versions:
        chosen[broker] = generation(own, own_protocol or spoken)
    return chosen


def row(number: int, event: str, state: Cluster) -> Row:
    """The row of a state."""
    decided = state.in_force
    return Row(
        number=number,
        event=event,
        time_ms=state.time_ms - CREATED_AT_MS,
        epoch=decided.epoch,
        leader=decided.leader,
        isr=tuple(sorted(decided.isr)),
        elr=tuple(sorted(decided.elr)),
        under_replicated=is_under_replicated(frozenset(state.assignment), decided.isr),
        under_min_isr=is_under_min_isr(decided.isr, state.settings.min_insync_replicas),
        replicas=tuple(_replica(state, broker) for broker in state.brokers),
        said=state.said,
    )


def _replica(state: Cluster, broker: Broker) -> ReplicaRow:
    held = broker.leading
    remote = tuple(
        RemoteEnd(
            broker=known.broker,
            log_end_offset=known.log_end_offset,
            last_caught_up_ms=known.last_caught_up_time_ms - CREATED_AT_MS if known.last_caught_up_time_ms else None,
        )
        for known in (held.followers if held else ())
    )
    return ReplicaRow(
        broker=broker.id,
        role=_role(state, broker),
        log_end_offset=broker.log.end_offset,
        high_watermark=broker.high_watermark,
        epochs=tuple((entry.epoch, entry.start_offset) for entry in broker.epochs),
        isr=tuple(sorted(held.committed_isr)) if held else None,
        remote=remote,
    )


def _role(state: Cluster, broker: Broker) -> Role:
    if not broker.alive:
        return "down"
    if broker.leads:
        return "leader" if state.in_force.leader == broker.id else "zombie"
    if broker.stage == "idle":
        return "idle"
    return "waiting" if broker.in_flight is not None else "follower"
