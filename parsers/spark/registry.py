"""Every table that Spark may ask for: which files it is read from, how they may be cut, and by which function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from msgspec import Struct

from parsers.checkpoints import OFFSET_CHECKPOINTS
from parsers.indexes import INDEX_KINDS
from parsers.provenance import FileKind
from parsers.spark.asked_table import TableRequest
from parsers.spark.brought import OF_MANY_BROKERS, brought_refusals, description_rows, traced_rows
from parsers.spark.disk_rows import SMALL, batch_rows, disk_refusals, record_rows, small_rows
from parsers.spark.row_batches import batches_of
from parsers.spark.slices import SPLITTABLE, FilePart
from parsers.spark.statement_rows import (
    COORDINATORS,
    METADATA,
    REQUESTS,
    coordinator_rows,
    event_rows,
    fetch_rows,
    metadata_rows,
    request_rows,
    setting_rows,
    told_refusals,
)
from parsers.tables import Refusal

OF_A_REPLICA: Final = ("cluster_id", "broker", "topic", "partition")
OF_A_BROKER: Final = ("cluster_id", "broker")


class TableReader(Struct, frozen=True, kw_only=True):
    """How a table is read. `rows_of` gives whole batches; what was not asked for is dropped behind it."""

    rows_of: Callable[[Sequence[FilePart], TableRequest], Iterator[pa.RecordBatch]]
    kinds: tuple[FileKind, ...]
    place: tuple[str, ...] = OF_A_REPLICA
    """Columns that every row of a file has in common with the file: a filter on one of them skips files."""
    splittable: frozenset[FileKind] = SPLITTABLE
    """Kinds of files that are cut."""
    topic: str | None = None
    """The one topic whose replicas are read; their files are never cut, since the rows build on each other."""


def _refusals(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    for part in parts:
        read = told_refusals if part.kind in _LOGS else disk_refusals
        read = brought_refusals if part.kind in OF_MANY_BROKERS else read
        yield from batches_of(read(part, request), Refusal)


def _planned(_parts: Sequence[FilePart], _request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Nothing is read: the plan itself holds the rows."""
    return iter(())


_LOGS: Final[tuple[FileKind, ...]] = ("request-log", "broker-log")
_REQUESTS: Final[tuple[FileKind, ...]] = ("request-log",)
_TRACES: Final[tuple[FileKind, ...]] = ("request-log", "trace-table")
_ALL_BUT_SESSIONS: Final[frozenset[FileKind]] = SPLITTABLE | {"request-log"}
"""Where no fetch session is rebuilt, the lines of a request log stand for themselves."""
_COORDINATOR: Final = {"transactions": "__transaction_state"}

READERS: Final[dict[str, TableReader]] = {
    "batches": TableReader(rows_of=batch_rows, kinds=("segment",)),
    "records": TableReader(rows_of=record_rows, kinds=("segment",)),
    "epochs": TableReader(rows_of=small_rows, kinds=("leader-epoch-checkpoint",)),
    "checkpoints": TableReader(rows_of=small_rows, kinds=tuple(OFFSET_CHECKPOINTS), place=OF_A_BROKER),
    "producers": TableReader(rows_of=small_rows, kinds=("producer-snapshot",)),
    "indexes": TableReader(rows_of=small_rows, kinds=tuple(INDEX_KINDS)),
    "refusals": TableReader(
        rows_of=_refusals, kinds=("segment", *SMALL, *_LOGS, *OF_MANY_BROKERS), splittable=_ALL_BUT_SESSIONS
    ),
    "sources": TableReader(rows_of=_planned, kinds=()),
    "events": TableReader(rows_of=event_rows, kinds=("broker-log",), place=OF_A_BROKER),
    "settings": TableReader(rows_of=setting_rows, kinds=("broker-log", "server-properties"), place=("cluster_id",)),
    "fetches": TableReader(rows_of=traced_rows, kinds=_TRACES, place=OF_A_BROKER),
    "descriptions": TableReader(rows_of=description_rows, kinds=("describe-text",), place=OF_A_BROKER),
    "session_gaps": TableReader(rows_of=fetch_rows, kinds=_REQUESTS, place=OF_A_BROKER),
    **{
        name: TableReader(rows_of=request_rows, kinds=_REQUESTS, place=OF_A_BROKER, splittable=_ALL_BUT_SESSIONS)
        for name in REQUESTS
    },
    **{
        name: TableReader(rows_of=metadata_rows, kinds=("segment",), place=OF_A_BROKER, topic="__cluster_metadata")
        for name in METADATA
    },
    **{
        name: TableReader(
            rows_of=coordinator_rows,
            kinds=("segment",),
            place=OF_A_BROKER,
            topic=_COORDINATOR.get(name, "__consumer_offsets"),
        )
        for name in COORDINATORS
    },
}
