"""Blocks of lines read by the compiled loops; the lines that they leave are for the plain reader."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.columns import Described, found_in
from parsers.broker_log.compiled.program import Compilation, compilation
from parsers.broker_log.compiled.tables import Bytes, Integers, Words
from parsers.broker_log.layout import Layout
from parsers.broker_log.lines import Block
from parsers.broker_log.rows import Found
from parsers.broker_log.settings import Printed
from parsers.worth_compiling import Worth

if TYPE_CHECKING:
    from parsers.broker_log.compiled.machine import Loops

_SLOTS: Final = 1 << 14
"""Room for different texts of a block: prefixes, what stands behind messages, settings."""
_LINES: Final = 1 << 14
_MOST_ROWS: Final = 1 << 18

_WORTH: Final = Worth(load=64 << 20, make=2 << 30)
"""Read plainly at some fifty megabytes a second or more; making the loops takes a third of a minute or more."""


def worthwhile(size: int) -> bool:
    """Whether the compiled loops are worth their start for who has read other blocks before this one of `size` bytes."""
    return _WORTH.after(size, _are_kept)


@cache
def _are_kept() -> bool:
    from parsers.broker_log.compiled.machine import loops_are_kept

    return loops_are_kept()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLines:
    """What the lines of a block say, as far as the loops read them."""

    events: Found | None
    settings: Printed
    left: tuple[int, ...]
    """Where in the block the lines begin that are left."""


@cache
def _loops() -> Loops | None:
    from parsers.broker_log.compiled.machine import compile_loops

    return compile_loops()


@cache
def reader_for(layout: Layout) -> BlockReader | None:
    """The reader for a layout; None for one of no fixed length, and where nothing can be compiled."""
    program = compilation(layout)
    loops = None if program is None else _loops()
    return None if loops is None or program is None else BlockReader(loops=loops, compilation=program, layout=layout)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockReader:
    """The loops with the program of a layout."""

    loops: Loops
    compilation: Compilation
    layout: Layout

    def read(self, block: Block, last: int, limit: int, *, settings: bool) -> BlockLines | None:
        """What the entries say that begin before byte `last` of a block; None for a block that is all too odd.

        A block of settings is read to `limit` bytes behind its beginning.
        """
        text = np.frombuffer(block.data, np.uint8)
        prefixes, tails = _room(), _room()
        lines = self._scan(text, min(last, len(text)), prefixes, tails)
        behind = _known(text, tails)
        odd = np.array([not tail.isascii() for tail in behind] + [False])
        lines[(lines[:, t.STATUS] == t.READ) & odd[lines[:, t.TAIL_CODE]], t.STATUS] = t.LEFT
        ends = [self.layout.tail_of(tail) for tail in behind]
        rows = self._rows(text, lines, np.array([whole for _, whole in ends], np.int64))
        begun = lines[lines[:, t.STATUS] == t.SETTINGS] if settings else lines[:0]
        printed = self._settings(text, begun, limit, block.offset)
        if rows is None or printed is None:
            return None
        described = Described(
            lines=lines,
            rows=rows,
            prefixes=_known(text, prefixes),
            loggers=[logger if logger and logger.isascii() else None for logger, _ in ends],
        )
        left = lines[lines[:, t.STATUS] == t.LEFT, t.START]
        events = found_in(text, described, block.offset, self.loops.copy) if len(rows) else None
        return BlockLines(events=events, settings=printed, left=tuple(left.tolist()))

    def _scan(self, text: Bytes, last: int, prefixes: Integers, tails: Integers) -> Integers:
        program = (self.compilation.program, self.compilation.begins)
        opening, words = np.frombuffer(self.compilation.tail, np.uint8), _words(text)
        lines, number, at = np.empty(_LINES * t.LINE_WIDTH, np.int64), 0, 0
        while at < last:
            if (number + 1) * t.LINE_WIDTH > len(lines):
                lines = np.concatenate([lines, np.empty_like(lines)])
            room = lines[number * t.LINE_WIDTH :]
            more, at = self.loops.scan(text, words, at, last, *program, opening, prefixes, tails, room)
            number += more
        return lines[: number * t.LINE_WIDTH].reshape(-1, t.LINE_WIDTH)

    def _rows(self, text: Bytes, lines: Integers, whole: Integers) -> Integers | None:
        room = 2 * len(lines) + 64
        while room < 8 * (_MOST_ROWS + len(lines)):
            rows = np.empty(room * t.ROW_WIDTH, np.int64)
            count = self.loops.match(text, self.compilation.program, whole, lines.reshape(-1), len(lines), rows)
            if count >= 0:
                return rows[t.ROW_WIDTH : (count + 1) * t.ROW_WIDTH].reshape(-1, t.ROW_WIDTH)
            room *= 4
        return None

    def _settings(self, text: Bytes, begun: Integers, limit: int, offset: int) -> Printed | None:
        known, found = _room(), list[Integers]()
        for line in begun:
            lines = self._settings_behind(text, line, limit, known)
            if lines is None:
                return None
            found.append(lines)
        every = np.concatenate([np.empty((0, 3), np.int64), *found])
        return Printed(
            times=[text[line[t.TIME] : line[t.TIME + 1]].tobytes() or None for line in begun],
            texts=_known(text, known),
            blocks=np.repeat(np.arange(len(found)), [len(lines) for lines in found]),
            numbers=every[:, 2],
            starts=every[:, 0] + offset,
            ends=every[:, 1] + offset,
        )

    def _settings_behind(self, text: Bytes, line: Integers, limit: int, known: Integers) -> Integers | None:
        """The lines of the block of settings that a line begins; None for too many different ones."""
        start, last, room = int(line[t.STOP]), min(len(text), int(line[t.START]) + limit), 1 << 9
        program = (self.compilation.program, self.compilation.begins)
        start += 1 if start >= len(text) or text[start] == 10 else 2
        while True:
            out = np.empty(3 * room + t.LINE_WIDTH, np.int64)
            count = self.loops.settings(text, _words(text), start, last, *program, known, out)
            if count != -1:
                return out[: 3 * count].reshape(-1, 3) if count >= 0 else None
            room *= 4


def _words(text: Bytes) -> Words:
    return np.frombuffer(text, np.uint64, len(text) // 8)


def _room() -> Integers:
    """Where texts are numbered, empty."""
    known = np.full(1 + 3 * _SLOTS, -1, np.int64)
    known[0] = 0
    return known


def _known(text: Bytes, known: Integers) -> list[bytes]:
    """The different texts by their numbers."""
    slots = known[1:].reshape(-1, 3)
    used = slots[slots[:, 0] >= 0]
    return [text[start:stop].tobytes() for _, start, stop in used[np.argsort(used[:, 0])].tolist()]
