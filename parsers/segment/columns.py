"""The physical columns of batch headers: filled by a kernel as numpy arrays, handed to Arrow without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.provenance import Origin
from parsers.segment.entry_header import CODEC_MASK, INT64_MAX, LEGACY_DTYPE, LENGTH_END, V2_DTYPE
from parsers.segment.held_bytes import Bytes, HeldSegment
from parsers.tables import BatchHeader, arrow_schema

PLACE_COLUMNS: Final = ("cluster_id", "broker", "log_dir", "topic", "topic_id", "partition", "source")
BATCH_SCHEMA: Final = arrow_schema(BatchHeader)
HEADER_SCHEMA: Final = pa.schema([field for field in BATCH_SCHEMA if field.name not in PLACE_COLUMNS])
"""The columns of `BatchHeader` that differ from batch to batch of one file."""


class HeaderColumns(NamedTuple):
    """One array a column, filled from the front. A named tuple, because compiled code can take one as an argument."""

    base_offset: npt.NDArray[np.int64]
    last_offset: npt.NDArray[np.int64]
    leader_epoch: npt.NDArray[np.int32]
    magic: npt.NDArray[np.int8]
    size: npt.NDArray[np.int32]
    crc: npt.NDArray[np.int64]
    crc_valid: npt.NDArray[np.uint8]
    attributes: npt.NDArray[np.int16]
    record_count: npt.NDArray[np.int32]
    base_timestamp: npt.NDArray[np.int64]
    max_timestamp: npt.NDArray[np.int64]
    producer_id: npt.NDArray[np.int64]
    producer_epoch: npt.NDArray[np.int16]
    base_sequence: npt.NDArray[np.int32]
    span_start: npt.NDArray[np.int64]


_AS_THEY_STAND: Final = tuple(name for name in V2_DTYPE.names or () if name in HeaderColumns._fields)
"""Columns of magic 2 that hold what stands in the header."""
_KINDS: Final = {field.name: field.type for field in HEADER_SCHEMA}

Rows = slice | npt.NDArray[np.int64]
"""Which rows are filled: all between two, or single ones."""
Walk = Callable[[int, int, int, int, int, HeaderColumns, int, bool], tuple[int, int]]
Skip = Callable[[int, int, int, int, int], tuple[int, int]]
"""The compiled loops: they take where a segment's first byte would be, its size, and how much of it is held."""


def empty_columns(rows: int) -> HeaderColumns:
    """Room for `rows` rows; the operating system gives pages only to rows that are written."""
    return HeaderColumns(
        base_offset=np.empty(rows, dtype=np.int64),
        last_offset=np.empty(rows, dtype=np.int64),
        leader_epoch=np.empty(rows, dtype=np.int32),
        magic=np.empty(rows, dtype=np.int8),
        size=np.empty(rows, dtype=np.int32),
        crc=np.empty(rows, dtype=np.int64),
        crc_valid=np.empty(rows, dtype=np.uint8),
        attributes=np.empty(rows, dtype=np.int16),
        record_count=np.empty(rows, dtype=np.int32),
        base_timestamp=np.empty(rows, dtype=np.int64),
        max_timestamp=np.empty(rows, dtype=np.int64),
        producer_id=np.empty(rows, dtype=np.int64),
        producer_epoch=np.empty(rows, dtype=np.int16),
        base_sequence=np.empty(rows, dtype=np.int32),
        span_start=np.empty(rows, dtype=np.int64),
    )


def gather_v2(segment: HeldSegment, columns: HeaderColumns, rows: Rows) -> None:
    """Fill `rows`, all of magic 2, from the headers at their `span_start`, which are held."""
    headers = _windows(segment.data, columns.span_start[rows] - segment.start, V2_DTYPE)
    columns.last_offset[rows] = _saturating(headers["base_offset"], headers["last_offset_delta"])
    columns.size[rows] = headers["length"] + LENGTH_END
    for name in _AS_THEY_STAND:
        getattr(columns, name)[rows] = headers[name]


def _saturating(base: npt.NDArray[np.generic], delta: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """The last offsets; a sum beyond what an offset can be stays at the highest or the lowest one."""
    first, more = base.astype(np.int64), delta.astype(np.int64)
    low, high = -(INT64_MAX + 1) - np.minimum(more, 0), INT64_MAX - np.maximum(more, 0)
    last: npt.NDArray[np.int64] = np.minimum(np.maximum(first, low), high) + more
    return last


def gather_legacy(segment: HeldSegment, columns: HeaderColumns, rows: Rows) -> None:
    """Fill `rows`, all of magic 0 or 1, from the entries at their `span_start`, which are held."""
    headers = _windows(segment.data, columns.span_start[rows] - segment.start, LEGACY_DTYPE)
    columns.base_offset[rows] = headers["offset"]
    columns.last_offset[rows] = headers["offset"]
    columns.magic[rows] = headers["magic"]
    columns.size[rows] = headers["length"] + LENGTH_END
    columns.crc[rows] = headers["crc"]
    columns.attributes[rows] = headers["attributes"]
    columns.record_count[rows] = 1
    columns.base_timestamp[rows] = -1
    columns.max_timestamp[rows] = np.where(headers["magic"] == 0, -1, headers["timestamp"])
    for name in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence"):
        getattr(columns, name)[rows] = -1


def _windows(data: Bytes, starts: npt.NDArray[np.int64], layout: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """The bytes that follow each start, read as one structure each."""
    # A structure at every byte, each of which overlaps the next.
    return np.ndarray((len(data) - layout.itemsize + 1,), layout, data, strides=(1,))[starts]


def to_headers(columns: HeaderColumns, filled: int, *, verified: bool) -> pa.RecordBatch:
    """The first `filled` rows as Arrow; fixed-width columns keep the arrays' own memory."""
    own = {name: getattr(columns, name)[:filled] for name in HeaderColumns._fields}
    own["span_end"] = own["span_start"] + own["size"]
    legacy = own["magic"] < 2
    nulls: dict[str, npt.NDArray[np.bool_]] = {}
    if np.count_nonzero(legacy):
        compressed = legacy & ((own["attributes"] & CODEC_MASK) != 0)
        nulls = {"base_offset": compressed, "record_count": compressed, "base_timestamp": legacy}
    if not verified:
        nulls["crc_valid"] = np.ones(filled, dtype=np.bool_)
    own["crc_valid"] = np.packbits(own["crc_valid"] != 0, bitorder="little")
    arrays = [_arrow(own[name], filled, kind, nulls.get(name)) for name, kind in _KINDS.items()]
    return pa.RecordBatch.from_arrays(arrays, schema=HEADER_SCHEMA)


def _arrow(
    held: npt.NDArray[np.generic], rows: int, kind: pa.DataType, nulls: npt.NDArray[np.bool_] | None
) -> pa.Array:
    known = None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    return pa.Array.from_buffers(kind, rows, [known, pa.py_buffer(held)])


def with_place(headers: pa.RecordBatch, origin: Origin) -> pa.RecordBatch:
    """Headers of one file with the columns that all its rows share: the whole `BatchHeader` table.

    The shared texts are run through Arrow once, not once a row in Python.
    """
    rows = headers.num_rows
    arrays = [
        pa.repeat(pa.scalar(getattr(origin, field.name), type=field.type), rows)
        if field.name in PLACE_COLUMNS
        else headers.column(field.name)
        for field in BATCH_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=BATCH_SCHEMA)
