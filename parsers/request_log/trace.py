"""What a range of a request log tells, in order, with its fetch sessions rebuilt: one reader, in compiled code or not.

A partition that rests in its session is told once with a count, not once a fetch: that is what makes a trace small.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from parsers.provenance import Origin
from parsers.request_log import grammar as g
from parsers.request_log.alike import Again, Alike, Worded, words_of
from parsers.request_log.call import FetchCall
from parsers.request_log.columns import Columns
from parsers.request_log.compiled import BLOCK, WORTH, LineFold, Loops, Scanned, are_kept, compiled_loops
from parsers.request_log.fetches import Resting, fetch_runs
from parsers.request_log.layout import DEFAULT_PATTERN, Layout, layout_of
from parsers.request_log.lines import LINE_LIMIT, Block, Line, Unpackable, lines_in, pieces_of
from parsers.request_log.presence import layout_in
from parsers.request_log.read import (
    API_KEYS,
    EVERY_API,
    FETCH,
    Event,
    LineCounts,
    kept_refusals,
    line_events,
    request_events,
    unpackable,
    unreadable,
)
from parsers.request_log.sessions import NOTHING, SessionState, SessionTable
from parsers.request_log.told import FetchTold, ProduceTold, produce_told, run_told
from parsers.tables import Refusal
from parsers.tables.requests import EpochRequest, IsrRequest, OffsetRequest, Produce, RequestEvent, SessionGap

PRODUCE: Final = "PRODUCE"


Told: TypeAlias = (
    FetchTold | ProduceTold | EpochRequest | OffsetRequest | IsrRequest | RequestEvent | SessionGap | Refusal | Again
)


class Trace:
    """One range of a log; `read` reads it once, and afterwards `sessions` says what became of the sessions."""

    __slots__ = ("_apis", "_before", "_end", "_loops", "_origin", "_path", "_patterns", "_sessions", "_start", "counts")

    def __init__(
        self,
        path: Path,
        origin: Origin,
        start: int = 0,
        end: int | None = None,
        *,
        before: SessionState = NOTHING,
        apis: Collection[str] = EVERY_API,
        loops: Loops | None = None,
        patterns: Sequence[str] = (),
    ) -> None:
        self._path, self._origin, self._start, self._end = path, origin, start, end
        self._before, self._apis, self._loops = before, apis, loops
        self._patterns, self._sessions = patterns, before
        self.counts = LineCounts()

    def sessions(self) -> SessionState:
        """The sessions after the range."""
        return self._sessions

    def read(self) -> Iterator[Columns | Told]:
        """Everything that is told, each partition's part of it in the order of the lines.

        Fetches and produces come in columns where they are read by compiled code.
        """
        try:
            with self._path.open("rb") as file:
                pieces = pieces_of(file, self._start, self._end)
                layout = layout_in(self._path, self._patterns)
                reading = Reading(self._origin, self.counts, self._apis, layout)
                loops = self._loops or loops_for(self._path, self._start, self._end, layout)
                if loops is None:
                    table = SessionTable(self._before)
                    yield from told_plainly(pieces, reading, table)
                    self._sessions = table.state()
                else:
                    fold = line_fold(loops, self._apis, self._before, runs=True)
                    yield from read_fast(pieces, reading, fold)
                    self._sessions = fold.sessions()
        except OSError as error:
            yield unreadable(error, self._origin)


class Reading(NamedTuple):
    """How some lines are read: whose they are, which requests are of use, what became of them, and their layout."""

    origin: Origin
    counts: LineCounts
    apis: Collection[str] = EVERY_API
    layout: Layout = layout_of()


def told_plainly(pieces: Iterable[Block | Line], reading: Reading, table: SessionTable) -> Iterator[Told]:
    """What some lines tell, by the plain parser; `table` has the sessions before them, and then those after."""
    others = deque[Told]()
    events = request_events(pieces, reading.origin, reading.layout, reading.counts, apis=reading.apis)
    for run in fetch_runs(_set_aside(kept_refusals(events, reading.origin), others), reading.origin, table):
        yield from _emptied(others)
        yield run_told(run) if isinstance(run, Resting) else run
    yield from _emptied(others)


def read_fast(pieces: Iterable[Block | Line], reading: Reading, fold: LineFold) -> Iterator[Columns | Told]:
    """The same by compiled code, with fetches and produces in columns."""
    events: Iterator[Event | Again | Columns] = kept_refusals(folded_events(pieces, fold, reading), reading.origin)
    for event in events:
        yield event if isinstance(event, Columns) else _as_told(event)


def sessions_after(
    path: Path, origin: Origin, start: int = 0, end: int | None = None, patterns: Sequence[str] = ()
) -> SessionState:
    """What a range does to sessions, whatever they were before it."""
    trace = Trace(path, origin, start, end, apis=frozenset((FETCH,)), patterns=patterns)
    for _ in trace.read():
        pass
    return trace.sessions()


def loops_for(path: Path, start: int, end: int | None, layout: Layout) -> Loops | None:
    """The compiled loops where a range is worth them; they know the default layout only."""
    if layout != layout_of():
        return None
    size = path.stat().st_size if end is None else end
    return compiled_loops() if WORTH.after(size - start, are_kept) else None


def line_fold(loops: Loops, apis: Collection[str], before: SessionState, *, runs: bool) -> LineFold:
    """A fold that reads fetches and produces itself, and leaves other kinds of `apis` to the plain parser."""
    names = {api: _status(api) for api in apis}
    numbers = {int(key): _status(api) for key, api in API_KEYS.items() if api in apis}
    return LineFold(loops, numbers, names, runs=runs, before=before)


def _status(api: str) -> int:
    return g.READ if api == FETCH else g.READ_SENT if api == PRODUCE else g.OTHER


def folded_events(
    pieces: Iterable[Block | Line], fold: LineFold, reading: Reading
) -> Iterator[Event | Again | Columns]:
    """The events of some lines, and in columns the fetches, and the produces that the fold has read."""
    layout, place = layout_of(DEFAULT_PATTERN), 0
    alike = Alike(layout)
    try:
        for piece in pieces:
            for line in _left(piece, fold):
                if isinstance(line, Scanned):
                    _count(line, reading.counts)
                elif isinstance(line, Columns):
                    yield line
                else:
                    place = line.end
                    reading.counts.lines += 1
                    yield from _other_events(line, fold, layout, reading, alike)
    except Unpackable as error:
        yield unpackable(error, reading.origin, place)
    rest = fold.rest()
    if rest is not None:
        yield rest


def _left(piece: Block | Line, fold: LineFold) -> Iterator[Line | Scanned | Columns]:
    if isinstance(piece, Block) and len(piece.data) <= 2 * BLOCK:
        return fold.scan(piece)
    return lines_in(piece, LINE_LIMIT)


def _other_events(
    line: Line, fold: LineFold, layout: Layout, reading: Reading, alike: Alike
) -> Iterator[Event | Again | Columns]:
    words = words_of(line)
    again = None if words is None else alike.find(line, words)
    if again is not None:
        reading.counts.requests += 1
        yield again
        return
    rows: list[Worded] = []
    read, others = reading.counts.requests, 0
    for event in line_events(line, reading.origin, layout, reading.counts, reading.apis):
        if isinstance(event, FetchCall):
            yield from fold.add(event)
        else:
            yield event
        if isinstance(event, EpochRequest | OffsetRequest | IsrRequest):
            rows.append(event)
        else:
            others += 1
    if words is not None and reading.counts.requests == read + 1 and not others:
        alike.keep(words, rows)


def _count(scanned: Scanned, counts: LineCounts) -> None:
    counts.lines += scanned.unread + scanned.fetches + scanned.produces
    counts.unread += scanned.unread
    counts.fetches += scanned.fetches
    counts.requests += scanned.produces


def _set_aside(events: Iterable[Event], others: deque[Told]) -> Iterator[FetchCall]:
    for event in events:
        if isinstance(event, FetchCall):
            yield event
        else:
            others.append(_as_told(event))


def _emptied(others: deque[Told]) -> Iterator[Told]:
    while others:
        yield others.popleft()


def _as_told(event: Event | Again) -> Told:
    if isinstance(event, FetchCall):
        message = "a fetch is told by the rows of its session"
        raise TypeError(message)
    return produce_told(event) if isinstance(event, Produce) else event
