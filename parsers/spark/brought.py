"""Rows of what people brought along: tables of fetches, and what Kafka's tools printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from parsers.describe_text import parse_describe_text
from parsers.files import place_of, read_source
from parsers.provenance import FileKind
from parsers.refusal import Parsed
from parsers.spark.asked_table import TableRequest
from parsers.spark.row_batches import batches_of
from parsers.spark.slices import FilePart
from parsers.spark.statement_rows import fetch_rows
from parsers.tables import Description, Fetch, Refusal
from parsers.trace_table import trace_rows

OF_MANY_BROKERS: Final[tuple[FileKind, ...]] = ("trace-table", "describe-text")
"""Files whose rows name their broker themselves."""


def _trace_rows(part: FilePart, request: TableRequest) -> Iterator[Fetch | Refusal]:
    return trace_rows(place_of(request.path, part.origin.source), part.origin, part.start, part.end)


def _description(part: FilePart, request: TableRequest) -> Parsed[Description]:
    content = read_source(Path(request.path), part.origin)
    return Parsed(refusals=(content,)) if isinstance(content, Refusal) else parse_describe_text(content, part.origin)


def traced_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Fetches, from request logs and from tables."""
    for part in parts:
        if part.kind == "trace-table":
            rows = _trace_rows(part, request)
            yield from batches_of((row for row in rows if isinstance(row, Fetch)), Fetch)
        else:
            yield from fetch_rows((part,), request)


def description_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """What tools printed, line by line."""
    for part in parts:
        yield from batches_of(_description(part, request).rows, Description)


def brought_refusals(part: FilePart, request: TableRequest) -> Iterator[Refusal]:
    """What could not be read of them."""
    if part.kind == "trace-table":
        yield from (row for row in _trace_rows(part, request) if isinstance(row, Refusal))
    else:
        yield from _description(part, request).refusals
