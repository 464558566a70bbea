"""What a request log tells, thinned where it is busy: the columns of its fetches and produces, then their landmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Final

import numpy as np
import polars as pl

from auditor.engines.told.fetched import ByColumns, Rows
from parsers.broker_log import wall_clock
from parsers.request_log import (
    Columns,
    FetchTold,
    Integers,
    ProduceTold,
    Told,
    fetch_columns,
    fetch_numbers,
    produce_columns,
    produce_numbers,
)
from rules.narrow.landmarks import FETCH_COLUMNS, NONE, PRODUCE_COLUMNS, TEXTS, WHOLE, landmarks

GATHERED: Final = 1 << 17
"""Rows that are thinned at once; that many bound the memory of a stretch, however long it is."""
_OUT: Final = ("left_out", "end_left_out")


def thinned(parts: Iterable[Columns | Told]) -> Iterator[Told | ByColumns]:
    """What was read, without what lies between landmarks."""
    columns: list[Columns] = []
    rows: list[FetchTold | ProduceTold] = []
    for part in parts:
        if isinstance(part, Columns):
            # Once its texts are forgotten, their codes stand for others.
            if columns and (part.texts is not columns[0].texts or _size(columns) > GATHERED):
                yield from _of_columns(columns)
                columns = []
            columns.append(part)
        elif isinstance(part, FetchTold | ProduceTold):
            rows.append(part)
            if len(rows) > GATHERED:
                yield from _of_rows(rows)
                rows = []
        else:
            yield part
    yield from chain(_of_columns(columns), _of_rows(rows))


def _size(columns: Sequence[Columns]) -> int:
    return sum(len(part.fetches) + len(part.produces) for part in columns)


def _of_columns(columns: Sequence[Columns]) -> Iterator[ByColumns]:
    if _size(columns) <= WHOLE:
        for part in columns:
            yield ByColumns(fetch_columns(part), produce_columns(part))
        return
    fetches, produces = [part.fetches for part in columns], [part.produces for part in columns]
    # A part at a time fits the processor's memory, where its rows become columns.
    told = pl.concat(pl.DataFrame(fetch_numbers(rows)) for rows in fetches)
    written = pl.concat(pl.DataFrame(produce_numbers(rows)) for rows in produces)
    kept, sent = landmarks(told, written)
    whole = columns[0]._replace(fetches=_taken(fetches, kept), produces=_taken(produces, sent))
    told_out, sent_out = {"left_out": kept["left_out"].to_list()}, {name: sent[name].to_list() for name in _OUT}
    yield ByColumns(_with(fetch_columns(whole), told_out), _with(produce_columns(whole), sent_out))


def _with(columns: Rows, others: Rows) -> Rows:
    return {**columns, **others} if columns else {}


def _taken(parts: Sequence[Integers], kept: pl.DataFrame) -> Integers:
    """The rows at some places of parts that follow each other, in order."""
    places, starts = kept["place"].to_numpy(), np.cumsum([0, *(len(rows) for rows in parts)])
    cuts = np.searchsorted(places, starts)
    return np.concatenate([
        rows[places[first:last] - start]
        for rows, start, first, last in zip(parts, starts[:-1], cuts[:-1], cuts[1:], strict=True)
    ])


def _of_rows(rows: Sequence[FetchTold | ProduceTold]) -> Iterator[Told]:
    """The same of rows that the plain parser made."""
    if len(rows) <= WHOLE:
        yield from rows
        return
    fetches = [row for row in rows if isinstance(row, FetchTold)]
    produces = [row for row in rows if isinstance(row, ProduceTold)]
    kept, sent = landmarks(_frame(fetches, FETCH_COLUMNS), _frame(produces, PRODUCE_COLUMNS))
    told = chain((fetches[place] for place in kept["place"]), (produces[place] for place in sent["place"]))
    yield from _marked(told, kept, sent)


def _marked(told: Iterable[FetchTold | ProduceTold], kept: pl.DataFrame, sent: pl.DataFrame) -> Iterator[Told]:
    """Each statement that is kept with what is left out behind it."""
    left_out = chain(kept["left_out"], sent["left_out"])
    ends = chain(repeat(False, len(kept)), sent["end_left_out"])  # noqa: FBT003 - what is repeated
    for row, out, end in zip(told, left_out, ends, strict=True):
        if isinstance(row, FetchTold):
            yield row._replace(left_out=out) if out else row
        else:
            yield row._replace(left_out=out, end_left_out=end)


def _frame(rows: Sequence[FetchTold | ProduceTold], columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    values = {name: [_value(getattr(row, name, 1), name) for row in rows] for name in columns}
    return pl.DataFrame(values, schema=columns)


def _value(told: int | str | None, name: str) -> int | str:
    if name in ("time", "last_time") and isinstance(told, str):
        told = wall_clock(told)
    return ("" if name in TEXTS else NONE) if told is None else told
