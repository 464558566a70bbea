"""Whole logs and tables as tests hold them: all rows of a file at once, where an audit takes them as they come."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from parsers.broker_log import Reading, read_log
from parsers.provenance import Origin
from parsers.refusal import Parsed
from parsers.request_log import NOTHING, FetchCall, LineCounts, SessionState, fetch_rows
from parsers.request_log.layout import Layout, layout_of
from parsers.request_log.lines_of_range import LINE_LIMIT, Line, WholeLines, blocks_of, pieces_of
from parsers.request_log.presence import layout_in
from parsers.request_log.read import Event, kept_refusals, request_events, unreadable
from parsers.tables import BrokerEvent, BrokerSetting, Refusal, from_arrow
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, OffsetRequest, Produce, RequestEvent, SessionGap
from parsers.trace_table import trace_rows


class RequestLog(Struct, frozen=True, kw_only=True):
    """What a range of a request log holds, each kind in the order of its lines."""

    fetch_calls: tuple[FetchCall, ...] = ()
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
        kind: [] for kind in (FetchCall, Produce, EpochRequest, OffsetRequest, IsrRequest, RequestEvent, Refusal)
    }
    events: Iterable[Event] = request_events(pieces, origin, layout, counts, line_limit=line_limit)
    for event in kept_refusals(events, origin):
        kinds[type(event)].append(event)
    return RequestLog(
        fetch_calls=tuple(kinds[FetchCall]),  # type: ignore[arg-type]
        produces=tuple(kinds[Produce]),  # type: ignore[arg-type]
        epoch_requests=tuple(kinds[EpochRequest]),  # type: ignore[arg-type]
        offset_requests=tuple(kinds[OffsetRequest]),  # type: ignore[arg-type]
        isr_requests=tuple(kinds[IsrRequest]),  # type: ignore[arg-type]
        request_events=tuple(kinds[RequestEvent]),  # type: ignore[arg-type]
        refusals=tuple(kinds[Refusal]),  # type: ignore[arg-type]
        counts=counts,
    )


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
