"""The columns of a fold as batches of the tables of fetches, session gaps and produces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from parsers.provenance import Origin
from parsers.request_log.fetch_columns import (
    ANSWER_IMPLIED,
    BEGUN_UNSEEN,
    IMPLIED,
    REASONS,
    STALE,
    Integers,
    RequestColumns,
    Rows,
)
from parsers.request_log.typed import NULL
from parsers.tables import arrow_schema
from parsers.tables.requests import Fetch, Produce, SessionGap

_FLAGS: Final = {
    "implied": IMPLIED, "answer_implied": ANSWER_IMPLIED, "possibly_stale": STALE,
    "session_start_missing": BEGUN_UNSEEN,
}  # fmt: skip
_ROWS: Final[dict[type, Callable[[RequestColumns], Rows | None]]] = {
    SessionGap: lambda columns: columns.gaps,
    Fetch: lambda columns: columns.fetches,
    Produce: lambda columns: columns.produces,
}


def batches_of(columns: RequestColumns, origin: Origin, row_class: type) -> Iterator[pa.RecordBatch]:
    """What is told of one of these tables; `fold` was asked for a row for each fetch."""
    rows = _ROWS[row_class](columns)
    if rows is not None and len(rows):
        yield _batch(rows, columns, origin, row_class)


def _batch(rows: Rows, columns: RequestColumns, origin: Origin, row_class: type) -> pa.RecordBatch:
    schema = arrow_schema(row_class)
    names, times = list(columns.names), [text.decode() for text in rows.time_texts]
    of_all = {"cluster_id": origin.cluster_id, "broker": origin.broker, "source": origin.source}
    made: dict[str, pa.Array] = {
        **{name: pa.repeat(pa.scalar(value, schema.field(name).type), len(rows)) for name, value in of_all.items()},
        "time_text": pa.array(times, pa.string()).take(pa.array(rows.rows["line"])),
        "client_id": pa.array(list(columns.texts), pa.string()).take(pa.array(rows.of("client_id"))),
    }
    if row_class is SessionGap:
        made["reason"] = pa.array(REASONS, pa.string()).take(pa.array(rows.rows["reason"]))
        made["session_id"] = _numbers(_zero_for_null(rows.of("session_id")), schema.field("session_id").type)
        made["session_epoch"] = _numbers(_zero_for_null(rows.of("session_epoch")), schema.field("session_epoch").type)
        made["error_code"] = _numbers(rows.of("session_error"), schema.field("error_code").type)
    else:
        for column, place in (("topic", 0), ("topic_id", 1)):
            spelt = pa.array([name[place] or None for name in names], pa.string())
            made[column] = spelt.take(pa.array(rows.rows["name"]))
    if row_class is Fetch:
        made |= {name: pa.array(rows.rows["flags"] & flag != 0) for name, flag in _FLAGS.items()}
    if row_class is Produce:
        transactional = rows.of("transactional")
        made["transactional"] = pa.array(transactional == 1, mask=transactional == NULL)
    rest = (field for field in schema if field.name not in made)
    made |= {field.name: _numbers(rows.of(field.name), field.type) for field in rest}
    return pa.RecordBatch.from_arrays([made[field.name] for field in schema], schema=schema)


def _zero_for_null(column: Integers) -> Integers:
    return np.where(column == NULL, 0, column)


def _numbers(column: Integers, kind: pa.DataType) -> pa.Array:
    missing = column == NULL
    return pa.array(np.where(missing, 0, column), mask=missing).cast(kind)
