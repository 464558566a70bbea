"""The one schema module: each table a frozen row class; Arrow schema, column docs and admission checks follow from it."""

from __future__ import annotations

from parsers.tables.column import Column, arrow_schema, columns, from_arrow, no_rows, to_arrow
from parsers.tables.disk import (
    BatchHeader,
    CheckpointKind,
    EpochEntry,
    IndexEntry,
    IndexFlaw,
    IndexKind,
    OffsetCheckpoint,
    ProducerState,
    RecordRow,
    Refusal,
    RefusalKind,
    SourceRow,
)
from parsers.tables.events import BrokerEvent, BrokerSetting, Description, EventKind, TrustLevel
from parsers.tables.metadata import (
    BrokerChange,
    ConfigChange,
    FeatureChange,
    GroupOffset,
    GroupState,
    MetadataChange,
    QuorumChange,
    TopicChange,
    Transaction,
)
from parsers.tables.requests import (
    EpochRequest,
    Fetch,
    IsrRequest,
    OffsetRequest,
    Produce,
    RequestEvent,
    SessionGap,
)

TABLES: dict[str, type] = {
    "batches": BatchHeader,
    "records": RecordRow,
    "epochs": EpochEntry,
    "checkpoints": OffsetCheckpoint,
    "producers": ProducerState,
    "indexes": IndexEntry,
    "refusals": Refusal,
    "sources": SourceRow,
    "metadata_changes": MetadataChange,
    "topic_changes": TopicChange,
    "broker_changes": BrokerChange,
    "config_changes": ConfigChange,
    "feature_changes": FeatureChange,
    "quorum_changes": QuorumChange,
    "group_offsets": GroupOffset,
    "groups": GroupState,
    "transactions": Transaction,
    "fetches": Fetch,
    "session_gaps": SessionGap,
    "produces": Produce,
    "epoch_requests": EpochRequest,
    "offset_requests": OffsetRequest,
    "isr_requests": IsrRequest,
    "request_events": RequestEvent,
    "events": BrokerEvent,
    "settings": BrokerSetting,
    "descriptions": Description,
}
