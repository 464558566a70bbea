"""Rows of what people brought along: tables of fetches, and what Kafka's tools printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from parsers.describe_text import parse_describe_text
from parsers.files import read_source
from parsers.provenance import FileKind
from parsers.refusal import Parsed
from parsers.spark.disk import place_of
from parsers.spark.request import TableRequest
from parsers.spark.rows import batches_of
from parsers.spark.slices import Part
from parsers.spark.told import fetch_rows
from parsers.tables import Description, Fetch, Refusal
from parsers.trace_table import read_trace_table

OF_MANY_BROKERS: Final[tuple[FileKind, ...]] = ("trace-table", "describe-text")
"""Files whose rows name their broker themselves."""


def _trace_table(part: Part, request: TableRequest) -> Parsed[Fetch]:
    return read_trace_table(place_of(request, part), part.origin, part.start, part.end)


def _description(part: Part, request: TableRequest) -> Parsed[Description]:
    content = read_source(Path(request.path), part.origin)
    return Parsed(refusals=(content,)) if isinstance(content, Refusal) else parse_describe_text(content, part.origin)


def traced_rows(parts: Sequence[Part], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Fetches, from request logs and from tables."""
    for part in parts:
        if part.kind == "trace-table":
            yield from batches_of(_trace_table(part, request).rows, Fetch)
        else:
            yield from fetch_rows((part,), request)


def description_rows(parts: Sequence[Part], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """What tools printed, line by line."""
    for part in parts:
        yield from batches_of(_description(part, request).rows, Description)


_Brought = Parsed[Fetch] | Parsed[Description]
_READ: Final[Mapping[FileKind, Callable[[Part, TableRequest], _Brought]]] = {
    "trace-table": _trace_table,
    "describe-text": _description,
}


def brought_refusals(part: Part, request: TableRequest) -> Iterator[Refusal]:
    """What could not be read of them."""
    yield from _READ[part.kind](part, request).refusals
