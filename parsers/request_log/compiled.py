"""Fetch calls from blocks of lines at the speed of compiled code; what it leaves goes to the plain parser."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from parsers.request_log import grammar as g
from parsers.request_log.call import CONSUMER, Answered, Asked, FetchCall, PartitionKey
from parsers.request_log.lines import Block, Line
from parsers.request_log.request import Times

if TYPE_CHECKING:
    from parsers.request_log.machine import Scan

WORTHWHILE: Final = 16 << 20
"""Bytes from which loading the compiled loop takes less time than it saves."""
BLOCK: Final = 1 << 20
"""Bytes that are scanned at once; a longer block goes to the plain parser."""
TEXTS: Final = 1 << 14
"""Names that are kept decoded; a log with more of them is odd, and only slower."""
NULL: Final = g.NULL
_READ: Final = 0

Row = list[int]


@cache
def compiled_scan() -> Scan | None:
    """The compiled loop; None where numba cannot make it."""
    from parsers.request_log.machine import compile_scan

    return compile_scan()


class Unread:
    """A number of requests of kinds that are not read."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count


class BlockScanner:
    """Scans blocks into tables that are used again for each block."""

    __slots__ = ("_grammar", "_scan", "_tables", "_texts")

    def __init__(self, scan: Scan, wanted: frozenset[int]) -> None:
        self._scan = scan
        self._grammar = g.grammar_table()
        self._texts: dict[bytes, str] = {}
        self._tables = g.empty_tables(2 * BLOCK, wanted)

    def scan(self, block: Block) -> Iterator[FetchCall | Line | Unread]:
        """The fetches of a block, and the lines that are left, in their order."""
        text, start = np.frombuffer(block.data, dtype=np.uint8), 0
        while start < len(text):
            rows = self._scan(text, start, self._grammar, self._tables.out)
            lines = self._tables.lines[:rows]
            unread = int((lines[:, g.STATUS] == 1).sum())
            if unread:
                yield Unread(unread)
            builder = _CallBuilder(block, self._tables, self._texts)
            for row in lines[lines[:, g.STATUS] != 1].tolist():
                if row[g.STATUS] == _READ:
                    yield builder.call(row)
                else:
                    builder.pass_over(row)
                    at, end = row[g.START], row[g.END]
                    yield Line(block.start + at, block.start + end, block.data[at:end])
            start = int(lines[-1, g.END]) + 1


class _CallBuilder:
    """Fetch calls from the rows of one scan; rows of partitions are taken in the order of their lines."""

    __slots__ = ("_answered", "_asked", "_base", "_data", "_done", "_forgotten", "_texts")

    def __init__(self, block: Block, tables: g.Tables, texts: dict[bytes, str]) -> None:
        self._data, self._base, self._texts = block.data, block.start, texts
        self._done = (0, 0, 0)
        counts = tables.out[: g.BEFORE_AT].tolist()
        topics = tables.topics[: counts[g.TOPICS]].tolist()
        names = [(self._text(row[0], row[1]), self._text(row[2], row[3])) for row in topics]
        self._asked = [
            Asked._make([PartitionKey._make([*names[row[0]], row[1]]), *_told(row[2:7])])
            for row in tables.asked[: counts[g.ASKED_ROWS]].tolist()
        ]
        self._answered = [
            Answered._make([PartitionKey._make([*names[row[0]], row[1]]), *_told(row[2:11])])
            for row in tables.answered[: counts[g.ANSWERED_ROWS]].tolist()
        ]
        self._forgotten = [
            PartitionKey._make([*names[topic], part])
            for topic, part in tables.forgotten[: counts[g.FORGOTTEN_ROWS]].tolist()
        ]

    def pass_over(self, row: Row) -> None:
        """Rows of a line that is left elsewhere were taken back by the scan."""
        self._done = (row[g.ASKED_TO], row[g.FORGOTTEN_TO], row[g.ANSWERED_TO])

    def call(self, row: Row) -> FetchCall:
        """The fetch of one line."""
        asked, forgotten, answered = self._done
        self.pass_over(row)
        told = _told(row)
        seen, start = row[g.SEEN], row[g.START]
        stated = seen >> g.STATE & 1
        replica = told[g.STATE_REPLICA if stated else g.REPLICA]
        return FetchCall(
            self._data[start + 1 : start + 24].decode("ascii"),
            None if told[g.CLIENT] is None else self._text(row[g.CLIENT], row[g.CLIENT + 1]),
            told[g.CORRELATION],
            row[g.VERSION],
            self._endpoint(row[g.CONNECTION], row[g.CONNECTION + 1]),
            CONSUMER if replica is None else replica,
            told[g.STATE_EPOCH] if stated else None,
            told[g.SESSION],
            told[g.EPOCH],
            bool(seen >> g.RESPONSE & 1),
            told[g.ANSWER_SESSION],
            told[g.ERROR],
            tuple(self._asked[asked : row[g.ASKED_TO]]),
            tuple(self._forgotten[forgotten : row[g.FORGOTTEN_TO]]),
            tuple(self._answered[answered : row[g.ANSWERED_TO]]),
            Times._make(told[g.TOTAL : g.REMOTE + 1]),
            self._base + start,
            self._base + row[g.END],
        )

    def _endpoint(self, start: int, end: int) -> str:
        """The part before the first hyphen."""
        if start < 0:
            return ""
        hyphen = self._data.find(b"-", start, end)
        return self._text(start, end if hyphen < 0 else hyphen)

    def _text(self, start: int, end: int) -> str:
        """The same few names stand in all lines; each is decoded once."""
        if start < 0:
            return ""
        written = self._data[start:end]
        known = self._texts.get(written)
        if known is None:
            known = written.decode("ascii")
            if len(self._texts) < TEXTS:
                self._texts[written] = known
        return known


def _told(row: Row) -> list[int | None]:
    return [None if number == NULL else number for number in row]
