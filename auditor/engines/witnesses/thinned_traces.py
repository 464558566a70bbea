"""What a request log tells, thinned where it is busy: the columns of its fetches and produces, then their landmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from auditor.engines.witnesses.fetched import ByColumns, Statements
from parsers.broker_log import wall_clock
from parsers.request_log import (
    Other,
    PartitionFetch,
    RequestColumns,
    Rows,
    fetch_columns,
    fetch_numbers,
    named_by_lines,
    produce_columns,
    produce_numbers,
    without_repetitions,
)
from rules.history.trace_ends import WHOLE
from rules.narrow.landmarks import FETCH_COLUMNS, NONE, PRODUCE_COLUMNS, TEXTS, landmarks

GATHERED: Final = 1 << 17
"""Rows that are thinned at once; that many bound the memory of a stretch, however long it is."""
Integers = npt.NDArray[np.int64]


class Thinning:
    """The thinning of one stretch; `names` counts how often its lines name a partition, and only grows."""

    def __init__(self) -> None:
        self.names = 0

    def passing(self, parts: Iterable[RequestColumns | Other]) -> Iterator[Other | ByColumns]:
        """What is read, without what lies between landmarks."""
        held, size = list[RequestColumns](), 0
        for part in parts:
            if not isinstance(part, RequestColumns):
                yield part
                continue
            self.names += named_by_lines(part)
            # Once texts and names are forgotten, their codes stand for others.
            same = not held or (part.texts is held[0].texts and part.names is held[0].names)
            if not same or size > GATHERED:
                yield self._of_columns(held)
                held, size = [], 0
            size += sum(len(rows) for rows in (part.fetches, part.produces) if rows is not None)
            held.append(part if part.fetches is None else replace(part, fetches=without_repetitions(part.fetches)))
        yield self._of_columns(held)

    def _of_columns(self, parts: Sequence[RequestColumns]) -> ByColumns:
        fetches = [(part, part.fetches) for part in parts if part.fetches is not None]
        produces = [(part, part.produces) for part in parts if part.produces is not None]
        if self.names <= WHOLE:
            return ByColumns(
                _joined([fetch_columns(rows, part) for part, rows in fetches]),
                _joined([produce_columns(rows, part) for part, rows in produces]),
            )
        asked = _numbers((fetch_numbers(rows) for _, rows in fetches), FETCH_COLUMNS)
        written = _numbers((produce_numbers(rows) for _, rows in produces), PRODUCE_COLUMNS)
        kept, sent = landmarks(asked, written)
        return ByColumns(
            _joined([fetch_columns(rows, part) for part, rows in _taken(fetches, kept)], kept),
            _joined([produce_columns(rows, part) for part, rows in _taken(produces, sent)], sent),
        )


def thinned_rows(rows: Sequence[PartitionFetch]) -> Iterator[PartitionFetch]:
    """The same of rows of a table of fetches."""
    kept, _ = landmarks(_frame(rows, FETCH_COLUMNS), pl.DataFrame(schema=PRODUCE_COLUMNS))
    for place, out in zip(kept["place"], kept["left_out"], strict=True):
        yield rows[place]._replace(left_out=out) if out else rows[place]


def _numbers(parts: Iterable[Mapping[str, Integers]], columns: Iterable[str]) -> pl.DataFrame:
    """Numbers of parts that follow each other; texts are codes."""
    # A part at a time fits the processor's memory, where its rows become columns.
    frames = [pl.DataFrame(dict(part)) for part in parts]
    return pl.concat(frames) if frames else pl.DataFrame(schema=dict.fromkeys(columns, pl.Int64))


def _joined(parts: Sequence[Statements], kept: pl.DataFrame | None = None) -> Statements:
    """Parts as one; of what is kept of them, with what is left out behind each."""
    if not parts:
        return {}
    columns = {name: [*chain.from_iterable(part[name] for part in parts)] for name in parts[0]}
    return columns if kept is None else {**columns, "left_out": kept["left_out"].to_list()}


def _taken(parts: Sequence[tuple[RequestColumns, Rows]], kept: pl.DataFrame) -> Iterator[tuple[RequestColumns, Rows]]:
    """The rows at some places of parts that follow each other, in order."""
    places, starts = kept["place"].to_numpy(), np.cumsum([0, *(len(rows) for _, rows in parts)])
    cuts = np.searchsorted(places, starts)
    for (part, rows), start, first, last in zip(parts, starts[:-1], cuts[:-1], cuts[1:], strict=True):
        yield part, rows.taken(places[first:last].astype(np.int64) - start)


def _frame(rows: Sequence[PartitionFetch], columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    values = {name: [_value(getattr(row, name), name) for row in rows] for name in columns}
    return pl.DataFrame(values, schema=columns)


def _value(value: int | str | None, name: str) -> int | str:
    if name in ("time", "last_time") and isinstance(value, str):
        value = wall_clock(value)
    return ("" if name in TEXTS else NONE) if value is None else value
