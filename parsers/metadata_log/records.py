"""The records of the metadata log as frozen values, under Kafka's own names."""

from __future__ import annotations

from msgspec import Struct

from parsers.provenance import Span


class MetadataInput(Struct, frozen=True, kw_only=True):
    """One record of the metadata log or of a snapshot, decompressed; `control_type` is None for data."""

    offset: int
    leader_epoch: int
    timestamp: int
    value: bytes | None
    span: Span
    control_type: int | None = None


class Endpoint(Struct, frozen=True, kw_only=True):
    """A listener of a broker or controller."""

    name: str
    host: str
    port: int
    security_protocol: int


class FeatureRange(Struct, frozen=True, kw_only=True):
    """The levels of a feature that a node supports, both inclusive."""

    name: str
    minimum: int
    maximum: int


class RegisterBroker(Struct, frozen=True, kw_only=True):
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


class UnregisterBroker(Struct, frozen=True, kw_only=True):
    """A broker was removed from the cluster."""

    broker_id: int
    broker_epoch: int


class Topic(Struct, frozen=True, kw_only=True):
    """A topic was created."""

    name: str
    topic_id: str


class Partition(Struct, frozen=True, kw_only=True):
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


class PartitionChange(Struct, frozen=True, kw_only=True):
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


class Config(Struct, frozen=True, kw_only=True):
    """A setting was set, or deleted when the value is None."""

    resource_type: int
    resource: str
    name: str
    value: str | None


class FenceBroker(Struct, frozen=True, kw_only=True):
    """A broker was fenced (before 3.3)."""

    broker_id: int
    broker_epoch: int


class UnfenceBroker(Struct, frozen=True, kw_only=True):
    """A broker was unfenced (before 3.3)."""

    broker_id: int
    broker_epoch: int


class RemoveTopic(Struct, frozen=True, kw_only=True):
    """A topic was deleted with all its partitions."""

    topic_id: str


class FeatureLevel(Struct, frozen=True, kw_only=True):
    """A feature was finalized at a level; 0 removes it."""

    name: str
    level: int


class ProducerIds(Struct, frozen=True, kw_only=True):
    """A block of producer ids was handed to a broker."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class BrokerRegistrationChange(Struct, frozen=True, kw_only=True):
    """A registration changed; None leaves a field as it was."""

    broker_id: int
    broker_epoch: int
    fenced: bool | None
    in_controlled_shutdown: bool | None
    log_dirs: tuple[str, ...] | None
    cordoned_log_dirs: tuple[str, ...] | None


class NoOp(Struct, frozen=True, kw_only=True):
    """The heartbeat of an idle controller."""


class ZkMigrationState(Struct, frozen=True, kw_only=True):
    """A step of the migration from ZooKeeper."""

    state: int


class BeginTransaction(Struct, frozen=True, kw_only=True):
    """Records up to the end or abort count together or not at all."""

    name: str | None


class EndTransaction(Struct, frozen=True, kw_only=True):
    """The bracketed records count."""


class AbortTransaction(Struct, frozen=True, kw_only=True):
    """The bracketed records never happened."""

    reason: str | None


class RegisterController(Struct, frozen=True, kw_only=True):
    """A controller came."""

    controller_id: int
    incarnation_id: str
    zk_migration_ready: bool
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...]


class ClearElr(Struct, frozen=True, kw_only=True):
    """ELR and last known ELR of a topic (of all topics, when the name is empty) became void."""

    topic: str


class Skipped(Struct, frozen=True, kw_only=True):
    """A record of a kind that says nothing about replication, or one unknown: named, not decoded."""

    name: str
    api_key: int
    version: int


MetadataRecord = (
    RegisterBroker | UnregisterBroker | Topic | Partition | Config | PartitionChange | FenceBroker | UnfenceBroker
    | RemoveTopic | FeatureLevel | ProducerIds | BrokerRegistrationChange | NoOp | ZkMigrationState
    | BeginTransaction | EndTransaction | AbortTransaction | RegisterController | ClearElr | Skipped
)  # fmt: skip
