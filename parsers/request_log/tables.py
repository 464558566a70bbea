"""What the compiled loops write: rows of lines, topics and partitions in one flat array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from parsers.request_log.grammar import FORGOTTEN_WIDTH, LINE_WIDTH, PARTITION_WIDTH, TOPIC_WIDTH, UNREAD, Integers

# Its head: rows of each table so far and before the line, where each table begins, the contexts that are open, and
# what to do with a request in JSON by its number.
TOPICS, ASKED_ROWS, FORGOTTEN_ROWS, ANSWERED_ROWS = 0, 1, 2, 3
BEFORE_AT, TABLES_AT, LINES, STACK_AT, WANTED_AT = 4, 8, 12, 16, 32
WANTED: Final = 128
HEAD: Final = WANTED_AT + WANTED


class Tables(NamedTuple):
    """What the loop made of a block, as tables over the one array that it wrote."""

    out: Integers
    lines: Integers
    topics: Integers
    asked: Integers
    forgotten: Integers
    answered: Integers


def empty_tables(size: int, wanted: Mapping[int, int]) -> Tables:
    """Room for a block of `size` bytes: the shortest row of each kind bounds how many there can be."""
    rows = (size // 3 + 1, size // 9 + 1, size // 2 + 1, size // 9 + 1, size // 32 + 1)
    return tables_of(rows, wanted)


def tables_of(rows: tuple[int, int, int, int, int], wanted: Mapping[int, int]) -> Tables:
    """Room for so many topics, partitions asked, forgotten and answered, and lines."""
    widths = (TOPIC_WIDTH, PARTITION_WIDTH, FORGOTTEN_WIDTH, PARTITION_WIDTH, LINE_WIDTH)
    starts = [HEAD]
    for count, width in zip(rows, widths, strict=True):
        starts.append(starts[-1] + count * width)
    out = np.empty(starts[-1], dtype=np.int64)
    out[:HEAD] = 0
    out[TABLES_AT : TABLES_AT + 5] = starts[:5]
    out[WANTED_AT:HEAD] = UNREAD
    for number, status in wanted.items():
        out[WANTED_AT + number] = status
    topics, asked, forgotten, answered, lines = (
        out[start:end].reshape(-1, width) for start, end, width in zip(starts, starts[1:], widths, strict=False)
    )
    return Tables(out, lines, topics, asked, forgotten, answered)
