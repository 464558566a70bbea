"""Rows of numbers and places of texts, made into Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from parsers.broker_log.catalogue import WORDINGS
from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.tables import Bytes, Integers
from parsers.broker_log.rows import Found
from parsers.tables import BrokerEvent, arrow_schema

Copy: TypeAlias = Callable[..., int]
_SCHEMA: Final = arrow_schema(BrokerEvent)
_IDS: Final = ("isr", "previous_isr")
"""Texts that are told without blanks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Lines and rows as the loops write them, with the different texts that lines have by number."""

    lines: Integers
    rows: Integers
    prefixes: Sequence[bytes]
    loggers: Sequence[bytes | None]


def found_in(text: Bytes, told: Described, offset: int, copy: Copy) -> Found:
    """The columns of all rows; `offset` is where the text begins in the file."""
    rows, lines = told.rows, told.lines[told.rows[:, t.LINE]]
    time, level = lines[:, t.TIME : t.TIME + 2], lines[:, t.LEVEL : t.LEVEL + 2]
    columns = {
        "span_start": pa.array(lines[:, t.START] + offset),
        "span_end": pa.array(lines[:, t.STOP] + offset),
        "time_text": _texts(text, time, copy, empty=False),
        "level": _texts(text, level, copy, empty=False),
        "logger": pa.array([*told.loggers, None], pa.string()).take(_numbers(lines[:, t.TAIL_CODE], len(told.loggers))),
    }
    for name, column in t.NUMBERS.items():
        values = rows[:, column]
        absent = values == t.NULL
        if not absent.all():
            columns[name] = pa.array(values, _SCHEMA.field(name).type, mask=absent)
    for name, column in t.TEXTS.items():
        if name != "items" and (rows[:, column] >= 0).any():
            columns[name] = _texts(text, rows[:, column : column + 2], copy, tight=name in _IDS)
    wordings, event_numbers = np.unique(rows[:, t.WORDING], return_inverse=True)
    return Found(
        count=len(rows),
        columns=columns,
        prefixes=[*told.prefixes, None],
        prefix_numbers=_numbers(lines[:, t.PREFIX_CODE], len(told.prefixes)),
        events=[WORDINGS[wording][0] for wording in wordings.tolist()],
        event_numbers=pa.array(event_numbers),
    )


def _numbers(codes: Integers, absent: int) -> pa.Array:
    """Numbers of texts; what has none has the one behind them."""
    return pa.array(np.where(codes < 0, absent, codes))


def _texts(text: Bytes, places: Integers, copy: Copy, *, tight: bool = False, empty: bool = True) -> pa.Array:
    """The texts at some places, those without a place as null; so are empty ones, unless they tell something."""
    starts, stops = places[:, 0], places[:, 1]
    there = starts >= 0 if empty else stops > starts
    starts, stops = np.where(there, starts, 0), np.where(there, stops, 0)
    letters = np.empty(int((stops - starts).sum()), np.uint8)
    offsets = np.empty(len(starts) + 1, np.int32)
    size = copy(text, starts, stops, tight, letters, offsets)
    bits = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(letters[:size])]
    return pa.Array.from_buffers(pa.string(), len(starts), buffers)
