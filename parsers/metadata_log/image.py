"""The state that the records of the metadata log add up to, and the rules by which one record changes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from parsers.metadata_log.records import Partition, PartitionChange, RegisterBroker, RegisterController

UNASSIGNED: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
"""Directory id of a replica whose broker has not placed it yet."""

RECOVERED: Final = 0
"""State of a leader that was elected from among those in sync."""

ConfigKey = tuple[int, str, str]


@dataclass(slots=True, kw_only=True)
class MetadataImage:
    """What stands after the records so far; built inside one fold and never handed out."""

    topics: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    partitions: dict[str, dict[int, Partition]] = field(default_factory=lambda: defaultdict(dict))
    with_elr: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    brokers: dict[int, RegisterBroker] = field(default_factory=dict)
    controllers: dict[int, RegisterController] = field(default_factory=dict)
    configs: dict[ConfigKey, str] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)

    def partition(self, topic_id: str, partition: int) -> Partition | None:
        """A partition's state, or None where none was registered."""
        of_topic = self.partitions.get(topic_id)
        return None if of_topic is None else of_topic.get(partition)

    def put(self, state: Partition) -> None:
        """Set a partition's state."""
        self.partitions[state.topic_id][state.partition] = state
        if state.elr or state.last_known_elr:
            self.with_elr[state.topic_id].add(state.partition)
        elif (holders := self.with_elr.get(state.topic_id)) is not None:
            holders.discard(state.partition)
            if not holders:
                del self.with_elr[state.topic_id]

    def name_topic(self, topic_id: str, name: str) -> None:
        """Give a topic id its name."""
        self.topics[topic_id] = name
        self.ids[name] = topic_id

    def remove_topic(self, topic_id: str) -> tuple[str | None, tuple[Partition, ...]]:
        """Forget a topic; its name and the partitions that it had."""
        name = self.topics.pop(topic_id, None)
        if name is not None and self.ids.get(name) == topic_id:
            del self.ids[name]
        self.with_elr.pop(topic_id, None)
        return name, tuple(self.partitions.pop(topic_id, {}).values())

    def holders_of_elr(self, topic: str) -> Iterator[Partition]:
        """The partitions with an ELR or a last known ELR, of one topic or (empty name) of all."""
        topic_ids = list(self.with_elr) if not topic else [self.ids.get(topic, "")]
        for topic_id in topic_ids:
            for partition in sorted(self.with_elr.get(topic_id, ())):
                yield self.partitions[topic_id][partition]


def merge(state: Partition, change: PartitionChange) -> Partition:
    """A partition after a change.

    partitionEpoch rises by one with every record, leaderEpoch by one iff it names a leader, even the same one.
    """
    elects = change.leader is not None
    return Partition(
        partition=state.partition,
        topic_id=state.topic_id,
        replicas=_either(change.replicas, state.replicas),
        isr=_either(change.isr, state.isr),
        removing_replicas=_either(change.removing_replicas, state.removing_replicas),
        adding_replicas=_either(change.adding_replicas, state.adding_replicas),
        leader=state.leader if change.leader is None else change.leader,
        leader_epoch=state.leader_epoch + 1 if elects else state.leader_epoch,
        partition_epoch=state.partition_epoch + 1,
        directories=_directories(state, change),
        leader_recovery_state=(
            state.leader_recovery_state if change.leader_recovery_state is None else change.leader_recovery_state
        ),
        elr=_either(change.elr, state.elr),
        last_known_elr=_either(change.last_known_elr, state.last_known_elr),
    )


def clear_elr(state: Partition) -> PartitionChange:
    """What a ClearElr record does to one partition: a change like any other, so its partitionEpoch rises too."""
    return PartitionChange(partition=state.partition, topic_id=state.topic_id, elr=(), last_known_elr=())


def elected_uncleanly(before: Partition, after: Partition) -> bool:
    """Whether a leader was elected that stood neither in the ISR nor in the ELR before.

    A member of the ELR holds every committed record: its election is clean, though Kafka's own log line cries unclean.
    Where the join of an added replica completes a reassignment, one record lets it into the ISR, takes the removed ones
    out and elects it.
    """
    if after.leader < 0 or after.leader_epoch == before.leader_epoch:
        return False
    joined = after.leader in before.adding_replicas and not after.adding_replicas
    if joined and after.leader_recovery_state == RECOVERED:
        return False
    return after.leader not in before.isr and after.leader not in before.elr


def with_flags(broker: RegisterBroker, fenced: bool | None, stopping: bool | None) -> RegisterBroker:
    """A registration with the flags that a record names."""
    return replace(
        broker,
        fenced=broker.fenced if fenced is None else fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown if stopping is None else stopping,
    )


def _either(new: tuple[int, ...] | None, old: tuple[int, ...]) -> tuple[int, ...]:
    return old if new is None else new


def _directories(state: Partition, change: PartitionChange) -> tuple[str, ...]:
    """Directories follow their replicas; a replica that is new has none yet."""
    if change.directories:
        return change.directories
    if change.replicas is None or not state.directories:
        return state.directories
    placed = dict(zip(state.replicas, state.directories, strict=False))
    return tuple(placed.get(replica, UNASSIGNED) for replica in change.replicas)
