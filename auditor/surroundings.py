"""What is known of each cluster before anything is read: its brokers, its folders, and what their names hide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auditor.config import AuditConfig
from auditor.engines.plan.folders_left import unread_copies
from auditor.engines.plan.units import ReadUnit
from auditor.held_folders import held_otherwise
from parsers.inventory import Inventory, ReplicaDir
from rules.narrow.facts import Surroundings
from rules.protocol.topics import METADATA_TOPIC
from rules.replicas.partition_counts import PartitionCounts
from rules.replicas.topic_ids import Bearer, contested
from rules.thresholds import Thresholds


def surroundings_of(
    root: Path, inventory: Inventory, units: Sequence[ReadUnit], config: AuditConfig
) -> dict[str | None, Surroundings]:
    """By cluster, what its inventory and the user's words say of it as a whole."""
    clusters = {log_dir.cluster_id for log_dir in inventory.log_dirs} | {unit.cluster_id for unit in units}
    found: dict[str | None, Surroundings] = {}
    for cluster in sorted(clusters, key=repr):
        current = [r for r in inventory.replicas if r.state == "current" and r.origin.cluster_id == cluster]
        own = [log_dir for log_dir in inventory.log_dirs if log_dir.cluster_id == cluster]
        stopped = any(log_dir.clean_shutdown for log_dir in own)
        telling = {u.broker for u in units if u.kind == "dump-text" or not own if u.cluster_id == cluster} - {-1}
        telling |= {witness.broker for witness in inventory.witnesses if not inventory.log_dirs}
        brokers = sorted({log_dir.broker for log_dir in own if log_dir.broker is not None} | telling)
        moved, loose = held_otherwise(root, inventory, current)
        found[cluster] = Surroundings(
            cluster_id=cluster,
            level=config.level,
            versions=config.versions(brokers),
            bearers=_contested_ids(current),
            exchanged=moved,
            loose=loose,
            counts=PartitionCounts(seen=_partitions_seen(current)),
            copied_live=config.copied == "live" or not (config.copied or stopped),
            copied=config.copied,
            thresholds=Thresholds(chosen=config.policy.thresholds),
            brokers_in_dump=len({*brokers} - _of_metadata_alone(inventory, current)) or len(brokers),
            unread_copies=unread_copies(inventory, cluster),
        )
    return found


def _of_metadata_alone(inventory: Inventory, current: Sequence[ReplicaDir]) -> set[int | None]:
    """Nodes that hold the metadata log and, as controllers do, nothing else: no checkpoint of high watermarks too."""
    holding = {replica.origin.broker for replica in current if replica.origin.topic != METADATA_TOPIC}
    marked = {file.origin.broker for file in inventory.files if file.kind == "replication-offset-checkpoint"}
    return {replica.origin.broker for replica in current} - holding - marked


def _partitions_seen(current: Sequence[ReplicaDir]) -> dict[str, int]:
    seen: dict[str, int] = {}
    for origin in (replica.origin for replica in current):
        if origin.topic is not None and origin.partition is not None:
            seen[origin.topic] = max(seen.get(origin.topic, 0), origin.partition + 1)
    return seen


def _contested_ids(current: Sequence[ReplicaDir]) -> tuple[Bearer, ...]:
    origins = [replica.origin for replica in current]
    return contested(
        [
            Bearer(topic_id=o.topic_id, topic=o.topic, partition=o.partition, broker=o.broker)
            for o in origins
            if o.topic_id is not None and o.topic is not None and o.partition is not None
        ]
    )
