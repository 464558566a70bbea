"""Fetches and produces from blocks of lines at the speed of compiled code, as columns; the rest is left to the parser.

What is read here, and what the plain parser makes of the lines left to it, goes through one fold of sessions in the
order of the lines, and comes out as rows of numbers and the texts that they name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from parsers.request_log import grammar as g
from parsers.request_log.arrays import Arrays
from parsers.request_log.call import FetchCall
from parsers.request_log.columns import Columns, State
from parsers.request_log.columns_of_call import call_tables
from parsers.request_log.grammar import Bytes
from parsers.request_log.lines import Block, Line
from parsers.request_log.sessions import NOTHING, SessionState
from parsers.request_log.shapes import no_shapes
from parsers.request_log.tables import Tables, empty_tables
from parsers.worth_compiling import Worth

if TYPE_CHECKING:
    from parsers.request_log.machine import Scan
    from parsers.request_log.machine_fold import Folding

WORTH: Final = Worth(load=16 << 20, make=256 << 20, least=16 << 20)
"""Read plainly at some five to ten megabytes a second; making the loops takes most of a minute."""
BLOCK: Final = 1 << 20
"""Bytes that are scanned at once; a longer block goes to the plain parser."""
_LINE_FEED: Final = 10


class Loops(NamedTuple):
    """What is compiled."""

    scan: Scan
    folding: Folding


class Scanned(NamedTuple):
    """What a scan made of its lines, but for those that are left."""

    unread: int
    fetches: int
    produces: int


@cache
def compiled_loops() -> Loops | None:
    """The compiled loops; None where numba cannot make them."""
    from parsers.request_log.machine import compile_scan
    from parsers.request_log.machine_fold import compile_fold

    scan, fold = compile_scan(), compile_fold()
    return None if scan is None or fold is None else Loops(scan, fold)


@cache
def are_kept() -> bool:
    """Whether the loops were made before, here, and lie on disk."""
    from parsers.request_log.machine import scan_is_kept
    from parsers.request_log.machine_fold import fold_is_kept

    return scan_is_kept() and fold_is_kept()


class LineFold:
    """Folds the lines of one log in order; rows come out when there are many, and at the end by `rest`."""

    __slots__ = ("_arrays", "_grammar", "_loops", "_runs", "_shapes", "_spelt", "_tables")

    def __init__(
        self,
        loops: Loops,
        wanted: Mapping[int, int],
        apis: Mapping[str, int],
        *,
        runs: bool,
        before: SessionState = NOTHING,
    ) -> None:
        self._loops = loops
        self._grammar, self._spelt = g.grammar_table(), g.grammar_table(apis)
        self._tables = empty_tables(2 * BLOCK, wanted)
        self._shapes = no_shapes()
        self._runs = runs
        self._arrays = Arrays(loops.folding.reindex, before, runs=runs)

    def scan(self, block: Block) -> Iterator[Line | Scanned | Columns]:
        """The lines of a block that are left, in order, and what became of the others.

        Lines behind one that may be a fetch are folded when the next is asked for: until then it can be added.
        """
        yield from self._renew()
        text, first = np.frombuffer(block.data, dtype=np.uint8), 0
        ends = np.flatnonzero(text == _LINE_FEED)
        while first < len(ends):
            rows = self._loops.scan(
                text, ends, first, self._grammar, self._spelt, self._tables.out, *self._shapes
            )
            lines, done = self._tables.lines[:rows], 0
            self._arrays.make_room(self._tables.out, rows, len(text))
            status = lines[:, g.STATUS]
            yield Scanned(*(int((status == kind).sum()) for kind in (g.UNREAD, g.READ, g.READ_SENT)))
            for number in np.flatnonzero((status == g.LEFT) | (status == g.OTHER)).tolist():
                if status[number] == g.LEFT:
                    yield from self._fold(text, block.start, done, number, self._tables)
                    done = number + 1
                at, end = int(lines[number, g.START]), int(lines[number, g.END])
                yield Line(block.start + at, block.start + end, block.data[at:end])
            yield from self._fold(text, block.start, done, rows, self._tables)
            first += rows

    def add(self, call: FetchCall) -> Iterator[Columns]:
        """A fetch that the plain parser read."""
        text, tables = call_tables(call)
        self._arrays.make_room(tables.out, 1, len(text))
        return self._fold(text, 0, 0, 1, tables)

    def _fold(self, text: Bytes, base: int, first: int, last: int, tables: Tables) -> Iterator[Columns]:
        while True:
            state: State = self._arrays.state
            first = self._loops.folding.fold(text, base, first, last, tables.out, self._arrays.letters, state)
            if first >= last:
                return
            rest = self.rest()
            if rest is None:
                self._arrays.widen_rows()
            else:
                yield rest

    def rest(self) -> Columns | None:
        """Ends all runs; the rows that are left, if any."""
        self._loops.folding.take(self._arrays.state)
        fetches, produces, gaps = self._arrays.taken()
        found = len(fetches) or len(produces) or len(gaps)
        return Columns(fetches, produces, gaps, self._arrays.texts()) if found else None

    def sessions(self) -> SessionState:
        """What has become of every session."""
        return self._arrays.sessions()

    def _renew(self) -> Iterator[Columns]:
        """Forgets names and sessions that are of no use any more, so that memory is bounded by what is."""
        if self._arrays.is_worn():
            rest = self.rest()
            if rest is not None:
                yield rest
            self._arrays = Arrays(self._loops.folding.reindex, self._arrays.sessions(), runs=self._runs)
