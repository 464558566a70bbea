"""The columns of a fold as batches of the tables of fetches, session gaps and produces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from parsers.provenance import Origin
from parsers.request_log import columns as c
from parsers.request_log.column_names import FETCHES, FLAGS, GAPS, PRODUCES
from parsers.request_log.columns import Columns
from parsers.request_log.compiled import Loops
from parsers.request_log.grammar import NULL, Integers
from parsers.request_log.lines import pieces_of
from parsers.request_log.read import FETCH, LineCounts
from parsers.request_log.sessions import NOTHING, SessionState
from parsers.request_log.trace import PRODUCE, Reading, folded_events, line_fold
from parsers.tables import arrow_schema, to_arrow
from parsers.tables.requests import Fetch, Produce, SessionGap

_TABLES: Final[dict[type, tuple[Callable[[Columns], Integers], dict[str, int]]]] = {
    Fetch: (lambda columns: columns.fetches, FETCHES),
    SessionGap: (lambda columns: columns.gaps, GAPS),
    Produce: (lambda columns: columns.produces, PRODUCES),
}
COMPILED: Final = frozenset(_TABLES)
"""Tables whose rows come in columns."""


def table_batches(
    path: Path,
    origin: Origin,
    row_class: type,
    loops: Loops,
    between: tuple[int, int | None] = (0, None),
    before: SessionState = NOTHING,
) -> Iterator[pa.RecordBatch]:
    """The rows of the lines that begin between two bytes of a log, in one of these tables, a bounded number a batch."""
    apis = frozenset((PRODUCE if row_class is Produce else FETCH,))
    fold = line_fold(loops, apis, before, runs=False)
    with path.open("rb") as file:
        for event in folded_events(pieces_of(file, *between), fold, Reading(origin, LineCounts(), apis)):
            if isinstance(event, Columns):
                if len(_TABLES[row_class][0](event)):
                    yield _batch(event, origin, row_class)
            elif isinstance(event, row_class):
                yield to_arrow([event], row_class)


def _batch(columns: Columns, origin: Origin, row_class: type) -> pa.RecordBatch:
    rows_of, numbers = _TABLES[row_class]
    rows, texts = rows_of(columns), pa.array(columns.texts, pa.string())
    schema = arrow_schema(row_class)
    made: dict[str, pa.Array] = {name: _numbers(rows[:, at], schema.field(name).type) for name, at in numbers.items()}
    made["time_text"] = _time_texts(rows, texts)
    made["client_id"] = _texts(rows[:, c.CLIENT], texts, rows[:, c.CLIENT] >= 0)
    if row_class is SessionGap:
        made["reason"] = pa.array(c.REASONS, pa.string()).take(pa.array(rows[:, c.GAP_REASON]))
    else:
        for name, at in (("topic", c.TOPIC), ("topic_id", c.TOPIC_ID)):
            made[name] = _texts(rows[:, at], texts, rows[:, at] > 0)
    if row_class is Fetch:
        for name, flag in FLAGS.items():
            made[name] = pa.array(rows[:, c.FLAGS] & flag != 0)
    if row_class is Produce:
        made["transactional"] = pa.array(rows[:, c.TRANSACTIONAL] == 1, mask=rows[:, c.TRANSACTIONAL] == NULL)
    for name, value in (("cluster_id", origin.cluster_id), ("broker", origin.broker), ("source", origin.source)):
        made[name] = pa.repeat(pa.scalar(value, schema.field(name).type), len(rows))
    return pa.RecordBatch.from_arrays([made[field.name] for field in schema], schema=schema)


def _numbers(column: Integers, kind: pa.DataType) -> pa.Array:
    missing = column == NULL
    return pa.array(np.where(missing, 0, column), mask=missing).cast(kind)


def _texts(codes: Integers, texts: pa.Array, told: Iterable[bool]) -> pa.Array:
    return texts.take(pa.array(np.maximum(codes, 0), mask=~np.asarray(told)))


def _time_texts(rows: Integers, texts: pa.Array) -> pa.Array:
    """Times as Kafka writes them, or as the line does where it writes them otherwise."""
    own = rows[:, c.TIME_TEXT] < 0
    written = np.datetime_as_string(np.where(own, rows[:, c.TIME], 0).astype("datetime64[ms]"), unit="ms")
    kafka = np.char.replace(np.char.replace(written, "T", " "), ".", ",")
    if own.all():
        return pa.array(kafka, pa.string())
    odd = texts.take(pa.array(np.where(own, 0, rows[:, c.TIME_TEXT])))
    told = zip(kafka.tolist(), own.tolist(), odd.to_pylist(), strict=True)
    return pa.array([ours if is_own else other for ours, is_own, other in told], pa.string())
