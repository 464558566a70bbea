"""Tables of what controllers and coordinators wrote down: partitions, brokers, settings, groups and transactions over time."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from parsers.tables.column import flag, i8, i16, i32, i64, text
from parsers.tables.place import PartitionRow

NO_LEADER: Final = -1

MetadataOffset = Annotated[
    int | None,
    i64("Offset in the metadata log; of a snapshot's rows the last offset it covers; null for ZooKeeper.", minimum=-1),
]
ControllerEpoch = Annotated[
    int | None,
    i32("Epoch of the controller that wrote it: the metadata log's leader epoch, or ZooKeeper's.", minimum=-1),
]
Time = Annotated[int | None, i64("Time the controller gave it, ms; null where none is known.")]


def replica_ids(joined: str | None) -> tuple[int, ...]:
    """The broker ids of a replica set as it stands in a table; none for an empty or unknown set."""
    return tuple(int(broker) for broker in joined.split(",")) if joined else ()


def join_ids(brokers: tuple[int, ...] | None) -> str | None:
    """A replica set as it stands in a table, in Kafka's order; null where it is unknown."""
    return None if brokers is None else ",".join(map(str, brokers))


MetadataChangeKind = Literal["created", "changed", "removed", "snapshot"]
"""`snapshot`: not a change but the state at a moment, from a KRaft snapshot or a znode."""


class MetadataChange(PartitionRow, frozen=True, kw_only=True):
    """One partition after one change, whole; replica sets are broker ids joined by commas (see `replica_ids`)."""

    kind: Annotated[MetadataChangeKind, text("created, changed, removed, or snapshot for a state at a moment.")]
    offset: MetadataOffset
    controller_epoch: ControllerEpoch
    time: Time
    leader: Annotated[int | None, i32("Leader; -1 for none; null where unknown.", minimum=-1)]
    leader_epoch: Annotated[int | None, i32("leaderEpoch after the change; null where unknown.", minimum=-1)]
    partition_epoch: Annotated[int | None, i32("partitionEpoch (the znode's version) after the change.", minimum=-1)]
    isr: Annotated[str | None, text("In-sync replicas; null where unknown.")]
    replicas: Annotated[str | None, text("Assigned replicas, preferred leader first; null where unknown.")]
    adding_replicas: Annotated[str | None, text("Replicas that a reassignment adds.")]
    removing_replicas: Annotated[str | None, text("Replicas that a reassignment removes.")]
    elr: Annotated[str | None, text("Eligible leader replicas: outside the ISR, yet holding every committed record.")]
    last_known_elr: Annotated[str | None, text("Last known eligible leader replicas, which may have lost records.")]
    leader_recovery_state: Annotated[int | None, i8("0 RECOVERED, 1 RECOVERING after an unclean election.")]
    directories: Annotated[str | None, text("Directory ids, one a replica in the order of `replicas`, by comma.")]
    previous_leader: Annotated[int | None, i32("Leader before the change; null where unknown.", minimum=-1)]
    previous_isr: Annotated[str | None, text("In-sync replicas before the change; null where unknown.")]
    unclean: Annotated[
        bool, flag("Whether it elected a leader that stood neither in the ISR nor in the ELR before it.")
    ]


TopicChangeKind = Literal["created", "removed"]


class TopicChange(PartitionRow, frozen=True, kw_only=True):
    """A topic id that began or ceased to bear a name."""

    kind: Annotated[TopicChangeKind, text("created or removed.")]
    offset: MetadataOffset
    controller_epoch: ControllerEpoch
    time: Time


BrokerChangeKind = Literal[
    "registered",
    "unregistered",
    "fenced",
    "unfenced",
    "controlled-shutdown",
    "changed",
    "controller-registered",
    "snapshot",
]


class BrokerChange(PartitionRow, frozen=True, kw_only=True):
    """One broker's registration after one change."""

    kind: Annotated[BrokerChangeKind, text("What happened to the registration.")]
    offset: MetadataOffset
    controller_epoch: ControllerEpoch
    time: Time
    node: Annotated[int, i32("The broker or controller spoken of (`broker` is whose disk says so).")]
    broker_epoch: Annotated[int | None, i64("Epoch of the registration; null for a controller.")]
    fenced: Annotated[bool | None, flag("Whether it stands fenced after the change; null where unknown.")]
    in_controlled_shutdown: Annotated[bool | None, flag("Whether it is shutting down in order; null where unknown.")]
    migrating_from_zookeeper: Annotated[bool | None, flag("Whether it still runs on ZooKeeper; null where unknown.")]
    incarnation_id: Annotated[str | None, text("Incarnation of the process; null where unknown.")]
    rack: Annotated[str | None, text("Rack; null for none or unknown.")]
    endpoints: Annotated[str | None, text("Listeners as NAME://host:port, by comma; null in a change.")]
    directories: Annotated[str | None, text("Ids of its log dirs, by comma; null in a change.")]


class ConfigChange(PartitionRow, frozen=True, kw_only=True):
    """One setting that was set or deleted."""

    offset: MetadataOffset
    controller_epoch: ControllerEpoch
    time: Time
    resource_type: Annotated[
        str, text("topic, broker, broker-logger, client-metrics, group, or the number of another type.")
    ]
    resource: Annotated[str, text("Name of the resource; empty for the default of all brokers.")]
    name: Annotated[str, text("Setting.")]
    value: Annotated[str | None, text("Value, `[hidden]` for a secret; null when the setting was deleted.")]


class FeatureChange(PartitionRow, frozen=True, kw_only=True):
    """One feature that was finalized at a level."""

    offset: MetadataOffset
    controller_epoch: ControllerEpoch
    time: Time
    name: Annotated[str, text("Feature, such as metadata.version.")]
    level: Annotated[int, i16("Finalized level; 0 when the feature was removed.")]


QuorumChangeKind = Literal["leader", "voters", "kraft-version", "snapshot-header", "snapshot-footer"]


class QuorumChange(PartitionRow, frozen=True, kw_only=True):
    """One control record of the metadata log: who leads the quorum, and who votes."""

    kind: Annotated[QuorumChangeKind, text("leader, voters, kraft-version, snapshot-header or snapshot-footer.")]
    offset: MetadataOffset
    controller_epoch: ControllerEpoch
    time: Time
    leader: Annotated[int | None, i32("Elected controller (kind leader).")]
    voters: Annotated[str | None, text("Ids of the voters, by comma (kinds leader and voters).")]
    granting_voters: Annotated[str | None, text("Ids of those who voted for the leader, by comma (kind leader).")]
    voter_directories: Annotated[
        str | None, text("Directory ids of the voters, by comma; null where the record has none.")
    ]
    kraft_version: Annotated[int | None, i16("Level of kraft.version (kind kraft-version).")]
    contained_time: Annotated[
        int | None, i64("Time of the last record a snapshot contains, ms (kind snapshot-header).")
    ]


TransactionOutcome = Literal["none", "committed", "aborted", "open"]


class GroupOffset(PartitionRow, frozen=True, kw_only=True):
    """One offset that a consumer group committed or forgot; topic and partition are those it reads."""

    group: Annotated[str, text("Consumer group.")]
    tombstone: Annotated[bool, flag("Whether the record deletes the committed offset.")]
    committed_offset: Annotated[int | None, i64("Offset the group will read next; null for a tombstone.")]
    committed_epoch: Annotated[
        int | None,
        i32("Leader epoch of the last record read; -1 where the client sent none; null where the format has none."),
    ]
    metadata_size: Annotated[int | None, i32("Bytes of the client's note; its text is not kept.", minimum=0)]
    commit_time: Annotated[int | None, i64("Time of the commit, ms.")]
    expire_time: Annotated[int | None, i64("Time the commit expires, ms; null where the format has none.")]
    transaction: Annotated[
        TransactionOutcome, text("Fate of the transaction it was committed in: none, committed, aborted or open.")
    ]
    record_partition: Annotated[int | None, i32("Partition of __consumer_offsets.", minimum=0)]
    record_offset: Annotated[int, i64("Offset of the record in __consumer_offsets.")]


class GroupState(PartitionRow, frozen=True, kw_only=True):
    """One generation of a consumer group of the classic protocol."""

    group: Annotated[str, text("Consumer group.")]
    tombstone: Annotated[bool, flag("Whether the record deletes the group.")]
    protocol_type: Annotated[str | None, text("Type of protocol, `consumer` for consumers.")]
    generation: Annotated[int | None, i32("Generation.")]
    protocol: Annotated[str | None, text("Assignor chosen; null for none.")]
    leader_hash: Annotated[str | None, text("Hash of the leading member's id, 16 hex characters.")]
    member_count: Annotated[int | None, i32("Members.", minimum=0)]
    state_time: Annotated[int | None, i64("Time the group entered its state, ms; null where the format has none.")]
    record_partition: Annotated[int | None, i32("Partition of __consumer_offsets.", minimum=0)]
    record_offset: Annotated[int, i64("Offset of the record in __consumer_offsets.")]


TransactionState = Literal[
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"
]


class Transaction(PartitionRow, frozen=True, kw_only=True):
    """One state of a transactional id."""

    transactional_id: Annotated[str, text("Transactional id.")]
    tombstone: Annotated[bool, flag("Whether the record deletes the transactional id.")]
    producer_id: Annotated[int | None, i64("Producer id.")]
    producer_epoch: Annotated[int | None, i16("Producer epoch.")]
    previous_producer_id: Annotated[int | None, i64("Producer id before the last change; null for none or unknown.")]
    next_producer_id: Annotated[int | None, i64("Producer id to come; null for none or unknown.")]
    timeout_ms: Annotated[int | None, i32("Transaction timeout, ms.")]
    state: Annotated[TransactionState | None, text("State of the transaction; null for a tombstone.")]
    partitions: Annotated[str | None, text("Partitions written to, as topic-partition by comma; null for none.")]
    last_update_time: Annotated[int | None, i64("Time of the last change, ms.")]
    start_time: Annotated[int | None, i64("Time the transaction began, ms; -1 for none.")]
    record_partition: Annotated[int | None, i32("Partition of __transaction_state.", minimum=0)]
    record_offset: Annotated[int, i64("Offset of the record in __transaction_state.")]
