"""KRaft `__cluster_metadata` and ZooKeeper's znodes → leader, ISR, ELR and epochs over time; brokers, settings, topics by id."""

from __future__ import annotations

from parsers.metadata_log.decode import decode_metadata_record
from parsers.metadata_log.history import (
    MetadataHistory,
    MetadataSnapshot,
    SnapshotId,
    metadata_history,
    metadata_input,
    snapshot_id,
)
from parsers.metadata_log.records import MetadataInput, MetadataRecord

__all__ = [
    "MetadataHistory", "MetadataInput", "MetadataRecord", "MetadataSnapshot", "SnapshotId",
    "decode_metadata_record", "metadata_history", "metadata_input", "snapshot_id",
]  # fmt: skip
