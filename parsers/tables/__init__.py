"""The one schema module: each table a frozen row class; Arrow schema, column docs and admission checks follow from it."""

from __future__ import annotations

from parsers.tables.column import Column, arrow_schema, columns, describe, from_arrow, to_arrow
from parsers.tables.disk import (
    BatchHeader,
    CheckpointKind,
    EpochEntry,
    IndexEntry,
    IndexKind,
    OffsetCheckpoint,
    ProducerState,
    RecordRow,
    Refusal,
    RefusalKind,
    SourceRow,
)

__all__ = [
    "TABLES", "BatchHeader", "CheckpointKind", "Column", "EpochEntry", "IndexEntry", "IndexKind", "OffsetCheckpoint",
    "ProducerState", "RecordRow", "Refusal", "RefusalKind", "SourceRow", "arrow_schema", "columns", "describe",
    "from_arrow", "to_arrow",
]  # fmt: skip

TABLES: dict[str, type] = {
    "batches": BatchHeader,
    "records": RecordRow,
    "epochs": EpochEntry,
    "checkpoints": OffsetCheckpoint,
    "producers": ProducerState,
    "indexes": IndexEntry,
    "refusals": Refusal,
    "sources": SourceRow,
}
