"""The records of the metadata log as frozen values, under Kafka's own names."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.provenance import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataInput:
    """One record of the metadata log or of a snapshot, decompressed; `control_type` is None for data."""

    offset: int
    leader_epoch: int
    timestamp: int
    value: bytes | None
    span: Span
    control_type: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A listener of a broker or controller."""

    name: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRange:
    """The levels of a feature that a node supports, both inclusive."""

    name: str
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBroker:
    """A broker came (or came again)."""

    broker_id: int
    migrating_from_zookeeper: bool
    incarnation_id: str
    broker_epoch: int
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[str, ...]
    cordoned_log_dirs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterBroker:
    """A broker was removed from the cluster."""

    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic was created."""

    name: str
    topic_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition as a whole."""

    partition: int
    topic_id: str
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[str, ...]
    leader_recovery_state: int
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """What changed of a partition; None leaves a field as it was. It carries no epochs: they are counted."""

    partition: int
    topic_id: str
    isr: tuple[int, ...] | None = None
    leader: int | None = None
    replicas: tuple[int, ...] | None = None
    removing_replicas: tuple[int, ...] | None = None
    adding_replicas: tuple[int, ...] | None = None
    leader_recovery_state: int | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    directories: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A setting was set, or deleted when the value is None."""

    resource_type: int
    resource: str
    name: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FenceBroker:
    """A broker was fenced (before 3.3)."""

    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfenceBroker:
    """A broker was unfenced (before 3.3)."""

    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveTopic:
    """A topic was deleted with all its partitions."""

    topic_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevel:
    """A feature was finalized at a level; 0 removes it."""

    name: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIds:
    """A block of producer ids was handed to a broker."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistrationChange:
    """A registration changed; None leaves a field as it was."""

    broker_id: int
    broker_epoch: int
    fenced: bool | None
    in_controlled_shutdown: bool | None
    log_dirs: tuple[str, ...] | None
    cordoned_log_dirs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOp:
    """The heartbeat of an idle controller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZkMigrationState:
    """A step of the migration from ZooKeeper."""

    state: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginTransaction:
    """Records up to the end or abort count together or not at all."""

    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransaction:
    """The bracketed records count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortTransaction:
    """The bracketed records never happened."""

    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterController:
    """A controller came."""

    controller_id: int
    incarnation_id: str
    zk_migration_ready: bool
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearElr:
    """ELR and last known ELR of a topic (of all topics, when the name is empty) became void."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A record of a kind that says nothing about replication, or one unknown: named, not decoded."""

    name: str
    api_key: int
    version: int


MetadataRecord = (
    RegisterBroker | UnregisterBroker | Topic | Partition | Config | PartitionChange | FenceBroker | UnfenceBroker
    | RemoveTopic | FeatureLevel | ProducerIds | BrokerRegistrationChange | NoOp | ZkMigrationState
    | BeginTransaction | EndTransaction | AbortTransaction | RegisterController | ClearElr | Skipped
)  # fmt: skip
