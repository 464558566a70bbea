"""The small state files of log dirs and replicas, each read into rows or a frozen value."""

from __future__ import annotations

from parsers.checkpoints.checkpoint_files import (
    OFFSET_CHECKPOINTS,
    read_leader_epoch_checkpoint,
    read_offset_checkpoint,
)
from parsers.checkpoints.identity import (
    CleanShutdown,
    MetaProperties,
    PartitionMetadata,
    read_clean_shutdown,
    read_meta_properties,
    read_partition_metadata,
)
from parsers.checkpoints.properties import read_properties, read_server_properties
from parsers.checkpoints.quorum_state import QuorumState, read_quorum_state
from parsers.checkpoints.snapshots import read_producer_snapshot
