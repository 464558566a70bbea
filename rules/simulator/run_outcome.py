"""What a run came to: the logs at the end, where they part, what was cut, lost, and read twice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from rules.simulator.run_rows import Run, run
from rules.simulator.script import Script
from rules.simulator.state import Batch, Broker, Cluster, ReconciledCut, SentBatch


class Generations(Struct, frozen=True, kw_only=True):
    """One column of a comparison: a name, and the versions that stand for it."""

    name: str
    version: str
    inter_broker_protocol: str


LINEUP = (
    Generations(name="HW truncation", version="0.10.2.2", inter_broker_protocol="0.10.2"),
    Generations(name="KIP-101", version="1.1.1", inter_broker_protocol="1.1"),
    Generations(name="KIP-279", version="2.0.1", inter_broker_protocol="2.0"),
    Generations(name="KIP-320", version="2.6.3", inter_broker_protocol="2.6"),
    Generations(name="truncate-on-fetch", version="3.9.1", inter_broker_protocol="3.9"),
    Generations(name="KIP-966", version="4.1.0", inter_broker_protocol="4.1"),
)
"""The generations of the protocol, oldest first; the last cuts as the one before it, and elects eligible replicas."""


class Parting(Struct, frozen=True, kw_only=True):
    """The first offset at which two replicas hold different records, or one of them a hole."""

    left: int
    right: int
    offset: int


class Outcome(Struct, frozen=True, kw_only=True):
    """What a run came to."""

    name: str
    run: Run
    leader: int | None
    visible: tuple[int, int] | None
    """What consumers can read from the leader at the end."""
    cuts: tuple[ReconciledCut, ...]
    partings: tuple[Parting, ...]
    lost: tuple[SentBatch, ...]
    """Acknowledged (with acks 1 or all), and not whole in the leader's log at the end."""
    unread: tuple[Batch, ...]
    """Once visible to consumers, and not in the leader's log at the end."""
    replaced: tuple[tuple[Batch, Batch], ...]
    """Offsets that consumers could read twice, with different records."""
    offline_ms: int
    """How long nobody led."""


def outcome(finished: Run, name: str = "") -> Outcome:
    """The account of a run."""
    end = finished.end
    leader = end.leader
    held = _identities(leader.log.batches if leader else ())
    names = {name for name, _ in held}
    start = leader.log.start_offset if leader else 0
    acknowledged = [sent for sent in end.produces if sent.answer == "acknowledged"]
    return Outcome(
        name=name or finished.generations[finished.script.assignment[0]].rule,
        run=finished,
        leader=None if leader is None else leader.id,
        visible=None if leader is None else (leader.log.start_offset, leader.high_watermark),
        cuts=end.cuts,
        partings=tuple(partings(end)),
        lost=tuple(sent for sent in acknowledged if leader and sent.name not in names and sent.required_offset > start),
        unread=tuple(
            batch
            for batch in end.shown
            if leader and (batch.name, batch.base_offset) not in held and batch.end_offset > start
        ),
        replaced=tuple(_replaced(end)),
        offline_ms=sum(
            after.time_ms - before.time_ms for before, after in pairwise(finished.states) if before.leader is None
        ),
    )


def compare(script: Script, lineup: Iterable[Generations] = LINEUP) -> tuple[Outcome, ...]:
    """The same script under each generation."""
    return tuple(outcome(run(script, column.version, column.inter_broker_protocol), column.name) for column in lineup)


def partings(cluster: Cluster) -> Iterable[Parting]:
    """Every pair of replicas that hold different records at an offset that both have."""
    for place, left in enumerate(cluster.brokers):
        for right in cluster.brokers[place + 1 :]:
            offset = first_difference(left, right)
            if offset is not None:
                yield Parting(left=left.id, right=right.id, offset=offset)


def first_difference(left: Broker, right: Broker) -> int | None:
    """The first offset below both log ends that the two do not hold alike."""
    start = max(left.log.start_offset, right.log.start_offset)
    end = min(left.log.end_offset, right.log.end_offset)
    edges = {start} | {edge for side in (left, right) for batch in side.log.batches for edge in _edges(batch)}
    inside = sorted(edge for edge in edges if start <= edge < end)
    return next((offset for offset in inside if _at(left, offset) != _at(right, offset)), None)


def _edges(batch: Batch) -> tuple[int, int]:
    return batch.base_offset, batch.end_offset


def _at(broker: Broker, offset: int) -> tuple[str, int] | None:
    found = next((b for b in broker.log.batches if b.base_offset <= offset < b.end_offset), None)
    return None if found is None else (found.name, offset - found.base_offset)


def _identities(batches: Iterable[Batch]) -> frozenset[tuple[str, int]]:
    return frozenset((batch.name, batch.base_offset) for batch in batches)


def _replaced(cluster: Cluster) -> Iterable[tuple[Batch, Batch]]:
    for place, first in enumerate(cluster.shown):
        for second in cluster.shown[place + 1 :]:
            if first.base_offset < second.end_offset and second.base_offset < first.end_offset:
                yield first, second
