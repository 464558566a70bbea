"""What settings are called, and what is told as settings are: releases, starts and stops, registrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

SettingOrigin = Literal["log", "file", "describe", "metadata", "znode", "applied", "assignment", "registration"]
"""Printed by the broker when it started, written in its properties file, told by a tool, kept by the controller, taken
over by a broker while it ran; of the replication factor, the brokers to which a partition is assigned; of what a
broker runs as, the controllers' record of it."""
CHANGED: Final[tuple[SettingOrigin, ...]] = ("metadata", "znode", "describe", "applied")
"""Origins that tell what was changed while brokers ran."""

KAFKA_VERSION: Final = "kafka.version"
METADATA_VERSION: Final = "metadata.version"
START_INSTANT: Final = "kafka.start.instant"
"""When a process began, in milliseconds of UTC, beside the time of that line on the log's own clock."""
INTER_BROKER_PROTOCOL: Final = "inter.broker.protocol.version"
"""What a broker runs and speaks is told as its settings are; the first two names are no settings of Kafka's."""
MESSAGE_FORMAT: Final = "message.format.version"
CLEANUP_POLICY: Final = "cleanup.policy"
MIN_IN_SYNC: Final = "min.insync.replicas"
UNCLEAN: Final = "unclean.leader.election.enable"
LAG_TIME: Final = "replica.lag.time.max.ms"
REMOTE_STORAGE: Final = "remote.storage.enable"
REMOTE_SYSTEM: Final = "remote.log.storage.system.enable"
FACTOR: Final = "replication factor"
"""No setting of Kafka's either: an assignment tells it."""
BROKER_STATE: Final = "broker.state"
STARTED: Final = "started"
STARTING: Final = "starting"
ON_EVERY_START: Final = "controlled.shutdown.enable"
"""A setting that every release prints where it prints them all."""
STOPPING: Final = "stopping"
STOPPED: Final = "shut down cleanly"
"""Whether a broker runs is told so too: a killed one never says that it stopped; one that is starting does not run."""
INCARNATION: Final = "broker.incarnation"
BROKER_EPOCH: Final = "broker.epoch"
CONTROLLER_EPOCH: Final = "controller.epoch"
QUORUM_LEADER: Final = "quorum.leader"
"""As what a process registered, which epoch a controller leads under ZooKeeper, and which node the quorum."""
MEMBERSHIPS: Final = (INCARNATION, BROKER_EPOCH, CONTROLLER_EPOCH, QUORUM_LEADER)
LEADER_OF_EPOCH: Final = "quorum.leader.of.epoch."
"""Behind it stands the epoch of the metadata log whose elected leader is told."""

BROKER_NAMES: Final[Mapping[str, str]] = {
    CLEANUP_POLICY: "log.cleanup.policy",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "max.message.bytes": "message.max.bytes",
    MESSAGE_FORMAT: "log.message.format.version",
    "message.timestamp.type": "log.message.timestamp.type",
    "preallocate": "log.preallocate",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
}
"""Topic settings that brokers give under another name."""
TOPICS_OWN: Final = frozenset({*BROKER_NAMES, MIN_IN_SYNC, UNCLEAN})
"""Settings that a topic may have of its own."""
DYNAMIC: Final = frozenset({*BROKER_NAMES.values(), MIN_IN_SYNC, UNCLEAN})
"""The same as brokers have them, where they may be set while brokers run."""
