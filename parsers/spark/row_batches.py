"""Rows as Arrow batches of the columns that were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from parsers.spark.asked_table import TableRequest
from parsers.tables import arrow_schema

CHUNK_ROWS: Final = 1 << 14


def batches_of(rows: Iterable[object], row_class: type) -> Iterator[pa.RecordBatch]:
    """Rows of a table's class as batches, a bounded number in each."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, CHUNK_ROWS)):
        yield _batch(chunk, row_class)


def _batch(rows: Sequence[object], row_class: type) -> pa.RecordBatch:
    # Rows are flat: a column at a time spares the dict a row that `to_arrow` makes for nested ones.
    schema = arrow_schema(row_class)
    arrays = [pa.array(list(map(attrgetter(field.name), rows)), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def asked_for(batch: pa.RecordBatch, request: TableRequest) -> pa.RecordBatch:
    """The rows and columns of a whole batch that the request wants."""
    if request.topics and "topic" in batch.schema.names:
        topics: list[Any] = batch.column("topic").unique().to_pylist()
        admitted = pa.array([topic for topic in topics if request.admits_topic(topic)], pa.string())
        batch = batch.filter(pc.is_in(batch.column("topic"), value_set=admitted))
    return batch.select(request.schema.names) if request.columns else batch


def packed(batch: pa.RecordBatch) -> bytes:
    """A batch as bytes that travel."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def unpacked(content: bytes) -> Iterator[pa.RecordBatch]:
    """The inverse of `packed`; nothing from no bytes."""
    if not content:
        return
    with pa.ipc.open_stream(content) as stream:
        yield from stream
