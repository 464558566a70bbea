"""Fetches of request logs that are too long for one task.

A fetch session goes on from one part of a log to the next. So the parts are read twice: first each for what it does to
sessions, whatever they were before it; that is joined in the order of the parts, and then each part's rows are read.
Nothing of this runs before Spark runs a query, and no more than the sessions travels.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from parsers.broker_log import given_for
from parsers.files import place_of
from parsers.inventory import take_inventory
from parsers.provenance import FileKind
from parsers.request_log import NOTHING, SessionState, join, sessions_after
from parsers.spark.asked_table import TableRequest
from parsers.spark.planning import chosen_files
from parsers.spark.registry import READERS
from parsers.spark.row_batches import asked_for
from parsers.spark.schema import spark_schema
from parsers.spark.slices import SPLITTABLE, FilePart, cut
from parsers.spark.statement_rows import fetch_rows

OF_SESSIONS: Final = ("fetches", "session_gaps")
"""Tables whose rows need the sessions before them."""
_CUT: Final[frozenset[FileKind]] = SPLITTABLE | {"request-log"}
_STATES: Final = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),
        pa.field("sessions", pa.binary(), nullable=False),
    ]
)
"""The sessions at a place of a file; of an effect, what the part that ends there does to them."""

Batches = Iterator[pa.RecordBatch]
Reader = Callable[[Batches], Batches]


def cut_traces(request: TableRequest) -> list[FilePart]:
    """The parts of all files that the request reads, if a request log among them is longer than a task is given."""
    inventory = take_inventory(Path(request.path), log_dirs=request.log_dirs, parts=request.parts)
    files = chosen_files(inventory, READERS[request.table], request, {})
    if not any(file.kind == "request-log" and file.size > request.split_bytes for file in files):
        return []
    return [part for file in files for part in cut(file, request.split_bytes, _CUT)]


def traced(spark: SparkSession, request: TableRequest, parts: Sequence[FilePart]) -> DataFrame:
    """The table of the request, read from parts of request logs."""
    schema = spark_schema(request.schema)
    followed = [part for part in parts if part.kind == "request-log" and part.end < part.size]
    begun = [part for part in parts if part.kind != "request-log" or part.start == 0]
    effects = _numbered(spark, len(followed)).mapInArrow(_folding(request, followed), spark_schema(_STATES))
    states = effects.groupBy("source").applyInArrow(_joined, spark_schema(_STATES)).repartition(len(followed))
    first = _numbered(spark, len(begun)).mapInArrow(_beginning(request, begun), schema)
    return first.unionByName(states.mapInArrow(_following(request, parts), schema))


def _numbered(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(0, count, 1, count)


def _state_batch(rows: Iterable[tuple[str, int, SessionState]]) -> pa.RecordBatch:
    states = [
        {"source": source, "place": place, "sessions": pickle.dumps(sessions, protocol=pickle.HIGHEST_PROTOCOL)}
        for source, place, sessions in rows
    ]
    return pa.RecordBatch.from_pylist(states, schema=_STATES)


def _sessions(content: bytes) -> SessionState:
    # Written by this program's own workers a moment ago.
    state: SessionState = pickle.loads(content)  # noqa: S301
    return state


def _folding(request: TableRequest, parts: Sequence[FilePart]) -> Reader:
    """What each part does to sessions, under the place at which it ends."""

    def effect(part: FilePart) -> tuple[str, int, SessionState]:
        path, patterns = place_of(request.path, part.origin.source), given_for(part.origin.broker, request.log_patterns)
        sessions = sessions_after(path, part.origin, part.start, part.end, patterns)
        return part.origin.source, part.end, sessions

    def fold(batches: Batches) -> Batches:
        for batch in batches:
            yield _state_batch(effect(parts[number]) for number in batch.column(0).to_pylist())

    return fold


def _joined(effects: pa.Table) -> pa.Table:
    """The sessions at the end of each part of one file, from what each part does to them."""
    state = NOTHING
    rows: list[tuple[str, int, SessionState]] = []
    for row in effects.sort_by("place").to_pylist():
        state = join(state, _sessions(row["sessions"]))
        rows.append((row["source"], row["place"], state))
    return pa.Table.from_batches([_state_batch(rows)])


def _beginning(request: TableRequest, parts: Sequence[FilePart]) -> Reader:
    """The rows of parts with nothing before them."""

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                found = READERS[request.table].rows_of([parts[number]], request)
                yield from (asked_for(rows, request) for rows in found)

    return read


def _following(request: TableRequest, parts: Sequence[FilePart]) -> Reader:
    """The rows of parts that go on with the sessions before them."""
    by_place = {(part.origin.source, part.start): part for part in parts}

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for row in batch.to_pylist():
                part, before = by_place[row["source"], row["place"]], _sessions(row["sessions"])
                yield from (asked_for(rows, request) for rows in fetch_rows([part], request, before))

    return read
