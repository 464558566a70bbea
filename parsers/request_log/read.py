"""Lines of a request log to rows, fetch calls and refusals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, TypeVar

from msgspec.structs import replace

from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.request_log import isr_requests, log_moves, positions
from parsers.request_log.by_grammar import fetch_line, produce_line
from parsers.request_log.fields import WrongShape
from parsers.request_log.layout import MARKER, Layout
from parsers.request_log.lines_of_range import LINE_LIMIT, MARKS_LIMIT, Line, Unpackable, is_crowded
from parsers.request_log.request import Request, parse_request
from parsers.request_log.typed import FetchLine, ProduceLine
from parsers.tables import Refusal, RefusalKind
from parsers.tables.requests import EpochRequest, IsrRequest, OffsetRequest, RequestEvent


class ReadLine(NamedTuple):
    """A fetch or a produce, where its line begins and ends, and its time as written."""

    line: FetchLine | ProduceLine
    start: int
    end: int
    time_text: bytes


RequestRow: TypeAlias = EpochRequest | OffsetRequest | IsrRequest | RequestEvent
Event: TypeAlias = ReadLine | RequestRow | Refusal
Begun: TypeAlias = tuple[Sequence[Event], Line | None]
"""What a line tells, and where another begins inside it, that one."""

Rows = TypeVar("Rows")
FETCH: Final = "FETCH"
NO_LINE: Final = "a line of the layout"
"""How it begins what is expected where a line is none at all, of requests or of anything else."""
PRODUCE: Final = "PRODUCE"
REFUSALS_KEPT: Final = 100
"""Refusals of one range that are told line by line; a file of another format is all refusals."""
LINE_ENDS: Final = 4
"""Bytes between two lines that follow each other: line ends, and an empty line at most."""
TORN_LIMIT: Final = 64
"""Lines that are looked for in one, as processes that die in mid-line leave them."""
READERS: Final[dict[str, Callable[[Request, Origin], Iterator[RequestRow]]]] = {
    "OFFSET_FOR_LEADER_EPOCH": positions.epoch_requests,
    "OFFSETS_FOR_LEADER_EPOCH": positions.epoch_requests,
    "LIST_OFFSETS": positions.offset_requests,
    "ALTER_PARTITION": isr_requests.alter_partition,
    "ALTER_ISR": isr_requests.alter_partition,
    "LEADER_AND_ISR": isr_requests.leader_and_isr,
    "METADATA": isr_requests.metadata,
    "STOP_REPLICA": log_moves.stop_replica,
    "CONTROLLED_SHUTDOWN": log_moves.controlled_shutdown,
    "BROKER_REGISTRATION": log_moves.broker_registration,
    "WRITE_TXN_MARKERS": log_moves.transaction_markers,
    "DELETE_RECORDS": log_moves.delete_records,
}
API_KEYS: Final[dict[bytes, str]] = {
    b"0": PRODUCE, b"1": FETCH, b"2": "LIST_OFFSETS", b"3": "METADATA", b"4": "LEADER_AND_ISR", b"5": "STOP_REPLICA",
    b"7": "CONTROLLED_SHUTDOWN", b"21": "DELETE_RECORDS", b"23": "OFFSET_FOR_LEADER_EPOCH", b"27": "WRITE_TXN_MARKERS",
    b"56": "ALTER_PARTITION", b"62": "BROKER_REGISTRATION",
}  # fmt: skip
EVERY_API: Final = frozenset((FETCH, PRODUCE, *READERS))
_JSON_KEY: Final = b'"requestApiKey":'
_TEXT_KEY: Final = b"RequestHeader(apiKey="
_KEY_WINDOW: Final = 128


@dataclass(slots=True)
class LineCounts:
    """How many lines there were, and what became of them."""

    lines: int = 0
    fetches: int = 0
    requests: int = 0
    """Requests of other kinds that were read."""
    unread: int = 0
    """Requests of kinds that tell nothing about replication; they are not parsed."""
    other: int = 0
    """Lines of other loggers, and empty ones."""
    refused: int = 0


def unreadable(error: OSError, origin: Origin) -> Refusal:
    """A file that the system does not give."""
    found = error.strerror or "an error"
    return refuse(origin, "unreadable", 0, 0, expected="a readable request log", found=found)


def kept_refusals(events: Iterable[Rows], origin: Origin) -> Iterator[Rows | Refusal]:
    """The events, with lines that are refused alike one behind the other told as one; so are those beyond a number.

    Requests that cannot be read are counted apart from lines that are none: in a file of all logs these say nothing.
    """
    kept = {True: 0, False: 0}
    beyond: dict[bool, Refusal] = {}
    for event in _alike_as_one(events):
        if isinstance(event, Refusal):
            none = event.expected.startswith(NO_LINE)
            kept[none] += 1
            if kept[none] > REFUSALS_KEPT:
                beyond[none] = replace(beyond.get(none, event), span_end=event.span_end)
                continue
        yield event
    found = f"more than {REFUSALS_KEPT} lines that are none"
    for none, rest in beyond.items():
        expected = rest.expected if none else "requests"
        yield refuse(origin, "malformed", rest.span_start, rest.span_end, expected=expected, found=found)


def _alike_as_one(events: Iterable[Rows]) -> Iterator[Rows | Refusal]:
    """The events, with refusals of lines that follow each other told by the first: a file may be of another layout."""
    held: Refusal | None = None
    count = 0
    for event in events:
        if held is not None and isinstance(event, Refusal) and _goes_on(held, event):
            held, count = replace(held, span_end=event.span_end), count + 1
            continue
        if held is not None:
            yield _counted(held, count)
        held, count = (event, 1) if isinstance(event, Refusal) else (None, 0)
        if held is None:
            yield event
    if held is not None:
        yield _counted(held, count)


def _goes_on(before: Refusal, after: Refusal) -> bool:
    """Whether the line behind another one is refused as that is, with nothing but line ends between the two."""
    alike = (before.kind, before.expected) == (after.kind, after.expected)
    return alike and before.kind == "malformed" and 0 <= after.span_start - before.span_end <= LINE_ENDS


def _counted(first: Refusal, count: int) -> Refusal:
    """The refusal of a first line, with how many lines behind it are alike."""
    more = "line is" if count == 2 else "lines are"
    return first if count == 1 else replace(first, found=f"{first.found} ({count - 1} more {more} refused alike)")


def unpackable(error: Unpackable, origin: Origin, place: int) -> Refusal:
    """A packed file whose text ends before it should."""
    return refuse(origin, "damage", place, place, expected="gzip data to its end", found=str(error))


def line_events(
    line: Line, origin: Origin, layout: Layout, counts: LineCounts, apis: Collection[str]
) -> Sequence[Event]:
    """What one line tells, and those that begin inside it; requests of other kinds than `apis` tell nothing."""
    events, rest = _up_to_a_tear(line, origin, layout, counts, apis)
    if rest is None:
        return events
    every = [*events]
    for _ in range(TORN_LIMIT - 1):
        events, rest = _up_to_a_tear(rest, origin, layout, counts, apis)
        every += events
        if rest is None:
            return every
    return [*every, _too_large(rest, origin, counts)]


def _up_to_a_tear(line: Line, origin: Origin, layout: Layout, counts: LineCounts, apis: Collection[str]) -> Begun:
    """What a line tells, or why it cannot be read; then what is left of it where another line begins inside."""
    data, message = line.data, line.data.find(MARKER, 0, 256 + len(MARKER))
    body = message + len(MARKER)
    if line.whole and message < 0:
        return _no_request(line, origin, layout, counts)
    if line.whole and _tells_nothing(data, body, apis) and data.find(MARKER, body) < 0:
        counts.unread += 1
        return (), None
    if not line.whole or is_crowded(data):
        return (_too_large(line, origin, counts),), None
    try:
        time_text = layout.time_before(data, message)
        return _rows(parse_request(data, body, time_text, line.start, line.end), origin, counts, apis), None
    except WrongShape as reason:
        return _refused(line, origin, layout, counts, str(reason))


def _too_large(line: Line, origin: Origin, counts: LineCounts) -> Refusal:
    counts.refused += 1
    expected = f"a line of at most {LINE_LIMIT} bytes and {MARKS_LIMIT} values, torn less than {TORN_LIMIT} times"
    return refuse(origin, "too_large", line.start, line.end, expected=expected, found=line.data[:100])


def _rows(request: Request, origin: Origin, counts: LineCounts, apis: Collection[str]) -> list[Event]:
    """All rows of a request, or WrongShape: a line is read as a whole or refused as a whole."""
    if request.api == FETCH or (request.api == PRODUCE and PRODUCE in apis):
        line = fetch_line(request) if request.api == FETCH else produce_line(request)
        counts.fetches += request.api == FETCH
        counts.requests += request.api == PRODUCE
        return [ReadLine(line, request.start, request.end, request.time_text.encode())]
    reader = READERS.get(request.api) if request.api in apis else None
    if reader is None:
        counts.unread += 1
        return []
    rows: list[Event] = list(reader(request, origin))
    counts.requests += 1
    return rows


def _tells_nothing(data: bytes, body: int, apis: Collection[str]) -> bool:
    """Whether the request is of a kind that is not read; told from what stands before any name a client gave."""
    if data.startswith(_TEXT_KEY, body):
        start = body + len(_TEXT_KEY)
        name = data[start : data.find(b",", start, start + 64)].decode("latin-1")
        return name not in apis
    key = data.find(_JSON_KEY, body, body + _KEY_WINDOW)
    if key < 0:
        return False
    start = key + len(_JSON_KEY)
    number = data[start : data.find(b",", start, start + 8)]
    return number.isdigit() and API_KEYS.get(number) not in apis


def _no_request(line: Line, origin: Origin, layout: Layout, counts: LineCounts) -> Begun:
    """A line of another logger is passed over; anything else is refused."""
    data = line.data.rstrip(b"\r")
    message = layout.opens(data)
    whole = line.ended or data.endswith(b")")
    if not data or (message is not None and whole and not MARKER.startswith(data[message:].rstrip() or b"?")):
        counts.other += 1
        return (), None
    return _refused(line, origin, layout, counts, f"{NO_LINE} {layout.words}")


def _refused(line: Line, origin: Origin, layout: Layout, counts: LineCounts, reason: str) -> Begun:
    """A line that cannot be read; where another line begins inside it, only the part before that is given up."""
    restart = layout.restart(line.data)
    cut = line.end if restart is None else line.start + restart
    torn = restart is not None or not line.ended
    counts.refused += 1
    kind: RefusalKind = "truncated_line" if torn else "malformed"
    refusal = refuse(origin, kind, line.start, cut, expected=reason, found=line.data[: cut - line.start])
    return (refusal,), None if restart is None else Line(cut, line.end, line.data[restart:], True, line.ended)
