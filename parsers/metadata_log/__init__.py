"""KRaft `__cluster_metadata` and ZooKeeper's znodes → leader, ISR and epochs over time; brokers, settings, topics."""

from __future__ import annotations

from parsers.metadata_log.checking import SnapshotCheck, SnapshotToCheck
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
from parsers.metadata_log.znode_settings import znode_settings
from parsers.metadata_log.znode_text import parse_znode_text
from parsers.metadata_log.znodes import Znode, znode_place, znode_states
