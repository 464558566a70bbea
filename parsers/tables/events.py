"""Tables of what brokers and controllers wrote into their logs, and of what their tools printed."""

from __future__ import annotations

from typing import Annotated, Literal

from parsers.tables.column import i32, i64, text
from parsers.tables.place import PartitionRow

EventKind = Literal[
    # truncation
    "truncating", "truncation-no-effect", "truncating-to-high-watermark", "truncating-by-epoch-answer",
    "truncating-below-high-watermark", "non-monotonic-high-watermark", "full-truncation", "full-truncation-no-effect",
    "reset-fetch-offset-to-latest", "reset-fetch-offset-to-start", "fetch-offset-out-of-range", "segments-truncated",
    "truncation-not-allowed", "all-segments-deleted", "metadata-log-truncated",
    # epochs
    "epoch-answer-kept", "epoch-answer-unknown", "epoch-answer-without-epoch", "epoch-round", "epoch-answer-below-cache",
    "epoch-request-retried", "older-epoch", "newer-epoch", "marked-as-failed", "epoch-cache-updated",
    "epoch-cache-cleared", "epoch-cache-refused", "epoch-cache-conflict", "epoch-cache-dropped",
    # fetching
    "fetcher-added", "fetcher-removed", "fetch-failed", "fetch-session-ended", "fetch-refused", "fetch-error-from-leader",
    "not-leader", "partition-fetch-error", "invalid-messages-fetched", "fetch-processing-error",
    "log-start-inside-batch",
    # leadership
    "leader-starts", "follower-starts", "role-unchanged", "leader-and-isr-ignored", "follower-without-leader",
    "partition-recovering", "partition-added", "partitions-deleted", "controller-changed-partition",
    "controller-shrunk-isr", "controller-change-failed", "unclean-election", "controller-elected", "controller-resigned",
    # in-sync replicas and watermarks
    "isr-updated", "isr-shrinking", "isr-expanding", "isr-update-rejected", "isr-update-failed",
    "high-watermark-updated", "high-watermark-held", "replica-position-recorded",
    # membership
    "broker-fenced", "broker-unfenced", "broker-registering", "broker-registered", "broker-registration-changed", "broker-shutdown-requested",
    "broker-shutdown-granted", "broker-failed", "brokers-changed", "partitions-moved", "broker-shutting-down",
    "broker-shut-down", "broker-starting", "broker-started", "unclean-shutdown", "controlled-shutdown-succeeded", "signal-received",
    "kafka-version", "start-instant", "metadata-version", "cluster-joined", "topic-configured", "broker-configured", "topic-created", "topic-removed", "partition-registered",
    "metadata-copy-lost-tail", "metadata-high-watermark",
    # loading and recovery
    "log-loaded", "initial-high-watermark", "replica-loaded", "no-checkpointed-high-watermark", "clean-start",
    "unclean-start", "first-start", "log-loading-failed", "segment-recovered", "corruption-found",
    "invalid-offset-in-recovery", "index-rebuilt", "swap-found", "stray-found",
    # storage
    "replica-created", "replica-deleted", "replica-swapped", "log-start-incremented", "segment-rolled",
    "segments-deletable", "segment-deleted", "producer-snapshot-written",
]  # fmt: skip
"""Every kind of line that says something about replication."""

TrustLevel = Literal["high", "medium", "low"]


class BrokerEvent(PartitionRow, frozen=True, kw_only=True):
    """One statement of one line of a server, controller or state-change log; a line that names partitions gives a row each."""

    broker: Annotated[int | None, i32("Node that wrote the line: the line's own prefix, else the file's broker.", minimum=0)]
    kind: Annotated[EventKind, text("What the line says.")]
    time_text: Annotated[str | None, text("Time as written: the writer's local time, usually without a zone.")]
    level: Annotated[str | None, text("Log level as written.")]
    logger: Annotated[str | None, text("Logger as written; null where the layout or the line has none.")]
    component: Annotated[str | None, text("Word in the line's prefix: UnifiedLog, ReplicaFetcher, Partition, Controller …")]
    epoch: Annotated[int | None, i32("Leader epoch the line is about (controller epoch where it speaks of controllers).")]
    previous_epoch: Annotated[int | None, i32("Leader epoch before, where the line tells it.")]
    offset: Annotated[int | None, i64("Offset the line is about: truncation point, epoch start, answer, position.")]
    previous_offset: Annotated[int | None, i64("Value before the change, where the line tells it.")]
    answer_offset: Annotated[int | None, i64("End offset of an epoch, as a leader answered it.")]
    high_watermark: Annotated[int | None, i64("High watermark the line tells.")]
    log_end_offset: Annotated[int | None, i64("Log end offset the line tells, exclusive.")]
    log_start_offset: Annotated[int | None, i64("Log start offset the line tells.")]
    leader: Annotated[int | None, i32("Leader the line names; -1 for none.")]
    previous_leader: Annotated[int | None, i32("Leader before, where the line tells it.")]
    other_broker: Annotated[int | None, i32("Another node the line names: fenced, registered, fetched by, removed from the ISR.")]
    partition_epoch: Annotated[int | None, i32("Partition epoch (zkVersion under ZooKeeper).")]
    broker_epoch: Annotated[int | None, i64("Broker epoch.")]
    isr: Annotated[str | None, text("In-sync replicas, ids joined by commas in the order written; an unordered set.")]
    previous_isr: Annotated[str | None, text("In-sync replicas before, written as isr is.")]
    count: Annotated[int | None, i64("A number of things: partitions, logs, cache entries.")]
    directory: Annotated[str | None, text("Directory as the broker names it; a path on the broker's host.")]
    detail: Annotated[str | None, text("What else the line says, shortened.")]
    trust: Annotated[TrustLevel, text("How far the statement may be believed under the writer's version: high, medium or low.")]
    trust_reason: Annotated[str | None, text("Why the trust is what it is, where there is more to say.")]
    doubtful: Annotated[str | None, text("Columns of this row that the writer's version prints wrongly, joined by commas.")]


class BrokerSetting(PartitionRow, frozen=True, kw_only=True):
    """A setting with which a broker started or that was changed since (`KafkaConfig values:`), or of its properties file."""

    time_text: Annotated[str | None, text("Time of the block, as written; null for a properties file.")]
    name: Annotated[str, text("Name of the setting.")]
    value: Annotated[str | None, text("Value as printed; null where Kafka prints null.")]


DescriptionKind = Literal["topic", "partition", "config", "group-offset", "group-state", "quorum-status", "quorum-replica"]


class Description(PartitionRow, frozen=True, kw_only=True):
    """One statement of a `--describe` output: a moment's view of one broker, not a history."""

    broker: Annotated[int | None, i32("Broker, node or replica that the line is about.")]
    kind: Annotated[DescriptionKind, text("What the line describes.")]
    leader: Annotated[int | None, i32("Leader; -1 or null for none.")]
    epoch: Annotated[int | None, i32("Leader epoch of the quorum.")]
    replicas: Annotated[str | None, text("Replica ids (voters for a quorum), joined by commas, in order.")]
    isr: Annotated[str | None, text("In-sync replica ids, joined by commas, in the order written.")]
    elr: Annotated[str | None, text("Eligible leader replica ids; null where the version does not print them.")]
    last_known_elr: Annotated[str | None, text("Last known eligible leader replica ids; null where not printed.")]
    high_watermark: Annotated[int | None, i64("High watermark of the quorum.")]
    log_end_offset: Annotated[int | None, i64("Log end offset.")]
    offset: Annotated[int | None, i64("Committed offset of a group.")]
    lag: Annotated[int | None, i64("Lag as printed.")]
    group: Annotated[str | None, text("Consumer group.")]
    role: Annotated[str | None, text("Leader, Follower or Observer; state of a group.")]
    entity: Annotated[str | None, text("Entity of a config: topic orders, broker 1, default broker …")]
    name: Annotated[str | None, text("Name of the setting or of the status line.")]
    value: Annotated[str | None, text("Value as printed.")]
    origin_of_value: Annotated[str | None, text("Where a setting's value comes from: DYNAMIC_TOPIC_CONFIG, STATIC_BROKER_CONFIG …")]
