"""Whole logs and tables as tests hold them: all rows of a file at once, where an audit takes them as they come."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from parsers.broker_log import Reading, read_log
from parsers.provenance import Origin
from parsers.refusal import Parsed
from parsers.request_log import NOTHING, LineCounts, ReadLine, RequestColumns, SessionState
from parsers.request_log.batches import batches_of
from parsers.request_log.folded import Folded
from parsers.request_log.gathered import Taken
from parsers.request_log.layout import Layout, layout_of
from parsers.request_log.lines_of_range import LINE_LIMIT, Line, Unpackable, WholeLines, blocks_of, pieces_of
from parsers.request_log.presence import layout_in
from parsers.request_log.read import EVERY_API, Event, kept_refusals, line_events, unpackable, unreadable
from parsers.request_log.typed import FetchLine
from parsers.tables import BrokerEvent, BrokerSetting, Refusal, from_arrow
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, OffsetRequest, Produce, RequestEvent, SessionGap
from parsers.trace_table import trace_rows


class RequestLog(Struct, frozen=True, kw_only=True):
    """What a range of a request log holds, each kind in the order of its lines."""

    fetch_calls: tuple[ReadLine, ...] = ()
    produces: tuple[Produce, ...] = ()
    epoch_requests: tuple[EpochRequest, ...] = ()
    offset_requests: tuple[OffsetRequest, ...] = ()
    isr_requests: tuple[IsrRequest, ...] = ()
    request_events: tuple[RequestEvent, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    counts: LineCounts

    def fetches(self, origin: Origin, before: SessionState = NOTHING) -> Iterator[Fetch | SessionGap]:
        """Fetch rows, given what the sessions were before this range."""
        return fetch_rows(self.fetch_calls, origin, before)


def read_request_log(
    path: Path,
    origin: Origin,
    start: int = 0,
    end: int | None = None,
    *,
    patterns: Sequence[str] = (),
    line_limit: int = LINE_LIMIT,
) -> RequestLog:
    """A request log file, or the lines that begin in bytes `[start, end)` of it; a `.gz` file is one range."""
    try:
        with path.open("rb") as file:
            return collect(pieces_of(file, start, end, line_limit), origin, layout_in(path, patterns), line_limit)
    except OSError as error:
        return RequestLog(refusals=(unreadable(error, origin),), counts=LineCounts())


def read_request_lines(file: BinaryIO, origin: Origin) -> RequestLog:
    """The same of an open file that can seek."""
    return collect(blocks_of(file, 0, None), origin, layout_of())


def collect(
    pieces: Iterable[WholeLines | Line], origin: Origin, layout: Layout, line_limit: int = LINE_LIMIT
) -> RequestLog:
    """All events of some lines, sorted by kind."""
    counts = LineCounts()
    kinds: dict[type, list[Event]] = {
        kind: [] for kind in (ReadLine, EpochRequest, OffsetRequest, IsrRequest, RequestEvent, Refusal)
    }
    events: Iterable[Event] = every_event(pieces, origin, layout, counts, line_limit)
    for event in kept_refusals(events, origin):
        kinds[type(event)].append(event)
    lines = [event for event in kinds[ReadLine] if isinstance(event, ReadLine)]
    return RequestLog(
        fetch_calls=tuple(read for read in lines if isinstance(read.line, FetchLine)),
        produces=produce_rows([read for read in lines if not isinstance(read.line, FetchLine)], origin),
        epoch_requests=tuple(kinds[EpochRequest]),  # type: ignore[arg-type]
        offset_requests=tuple(kinds[OffsetRequest]),  # type: ignore[arg-type]
        isr_requests=tuple(kinds[IsrRequest]),  # type: ignore[arg-type]
        request_events=tuple(kinds[RequestEvent]),  # type: ignore[arg-type]
        refusals=tuple(kinds[Refusal]),  # type: ignore[arg-type]
        counts=counts,
    )


def every_event(
    pieces: Iterable[WholeLines | Line], origin: Origin, layout: Layout, counts: LineCounts, line_limit: int
) -> Iterator[Event]:
    """What every line tells by the grammar alone, in order: what is read faster is held against it."""
    place = 0
    try:
        for piece in pieces:
            for line in lines_in(piece, line_limit):
                place = line.end
                counts.lines += 1
                yield from line_events(line, origin, layout, counts, EVERY_API)
    except Unpackable as error:
        yield unpackable(error, origin, place)


def lines_in(piece: WholeLines | Line, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """The lines of a block, one by one."""
    if isinstance(piece, Line):
        yield piece
        return
    start = piece.start
    for data in piece.data[:-1].split(b"\n"):
        yield Line(start, start + len(data), data[:limit], len(data) <= limit)
        start += len(data) + 1


def parse_events(data: bytes, reading: Reading) -> Parsed[BrokerEvent]:
    """The events of a whole log in memory."""
    parts = list(read_log(io.BytesIO(data), reading))
    rows = tuple(row for part in parts for row in from_arrow(part.events, BrokerEvent))
    return Parsed(rows=rows, refusals=tuple(refusal for part in parts for refusal in part.refusals))


def parse_settings(data: bytes, reading: Reading) -> Parsed[BrokerSetting]:
    """The settings in the `KafkaConfig values:` blocks of a whole log in memory."""
    parts = list(read_log(io.BytesIO(data), reading))
    rows = tuple(row for part in parts for row in from_arrow(part.settings, BrokerSetting))
    return Parsed(rows=rows, refusals=tuple(refusal for part in parts for refusal in part.refusals))


def read_trace_table(path: Path, origin: Origin, start: int = 0, end: int | None = None) -> Parsed[Fetch]:
    """The fetches of a trace table, or those whose lines begin in bytes `[start, end)` of it."""
    rows = list(trace_rows(path, origin, start, end))
    return Parsed(
        rows=tuple(row for row in rows if isinstance(row, Fetch)),
        refusals=tuple(row for row in rows if isinstance(row, Refusal)),
    )


def fetch_rows(
    calls: Iterable[ReadLine], origin: Origin, before: SessionState = NOTHING
) -> Iterator[Fetch | SessionGap]:
    """The rows of a range, in order, given what its sessions were before it."""
    folded = Folded(before, runs=False)
    _add(folded, list(calls))
    yield from _rows(folded.rest(), origin)


def _rows(parts: Iterable[RequestColumns], origin: Origin) -> Iterator[Fetch | SessionGap]:
    """The rows of some lines by line, gaps in front of what they leave in doubt."""
    sides: list[list[tuple[int, Fetch | SessionGap]]] = [[], []]
    for part in parts:
        for side, row_class, rows in ((sides[0], SessionGap, part.gaps), (sides[1], Fetch, part.fetches)):
            for batch in batches_of(part, origin, row_class):
                lines = [] if rows is None else rows.rows["line"].tolist()
                side.extend(zip(lines, from_arrow(batch, row_class), strict=True))
    yield from (row for _, row in merge(*sides, key=itemgetter(0)))


def fold(calls: Iterable[ReadLine]) -> SessionState:
    """What a range of a broker's log does to the sessions it touches."""
    folded = Folded()
    _add(folded, list(calls))
    for _ in folded.rest():
        pass
    return folded.sessions()


def _add(folded: Folded, calls: Sequence[ReadLine]) -> None:
    if calls:
        folded.add_fetches(Taken(*zip(*calls, strict=True)))


def produce_rows(lines: Sequence[ReadLine], origin: Origin) -> tuple[Produce, ...]:
    """The rows of produces, in the order of their lines."""
    folded = Folded()
    if lines:
        folded.add_produces(Taken(*zip(*lines, strict=True)))
    batches = (batch for part in folded.rest() for batch in batches_of(part, origin, Produce))
    return tuple(row for batch in batches for row in from_arrow(batch, Produce))
