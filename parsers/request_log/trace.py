"""What a range of a request log tells, in order, with its fetch sessions rebuilt: fetches and produces in columns.

Each line is tried as it is as a rule written; one that is written otherwise is read by the grammar of `read`, which
says why it is refused if it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from parsers.provenance import Origin
from parsers.request_log import positions
from parsers.request_log.alike import Again, Alike, Worded, words_of
from parsers.request_log.call import FetchCall, line_of
from parsers.request_log.columns import Told
from parsers.request_log.folded import TOGETHER, Folded
from parsers.request_log.layout import MARKER, Layout, layout_of
from parsers.request_log.lines import MARKS_LIMIT, Block, Line, Unpackable, pieces_of
from parsers.request_log.marks import marked_in
from parsers.request_log.presence import layout_in
from parsers.request_log.read import (
    API_KEYS,
    EVERY_API,
    FETCH,
    LineCounts,
    kept_refusals,
    line_events,
    unpackable,
    unreadable,
)
from parsers.request_log.sessions import NOTHING, SessionState
from parsers.request_log.spelling import spelt_line
from parsers.request_log.typed import UNFIT, FetchLine, ProduceLine, fetch_line, produce_line
from parsers.tables import Refusal
from parsers.tables.requests import EpochRequest, IsrRequest, OffsetRequest, Produce, RequestEvent

Other: TypeAlias = EpochRequest | OffsetRequest | IsrRequest | RequestEvent | Refusal | Again

PRODUCE: Final = "PRODUCE"
_BRACE: Final = ord("{")
_TIMED, _OPENS = 24, 112
"""Letters of a line up to its time's end, and up to behind what it says of which request it tells."""
_OPENINGS: Final = 1 << 10
Opening: TypeAlias = tuple[int, str | None, bytes | None]
"""Where its message begins, what is asked, null for what tells nothing, and its time if that is not Kafka's own."""
_UNOPENED: Final[Opening] = (0, None, None)
_HEAD: Final = (
    rb'(?:\{(?:"isForwarded":(?:true|false),)?"requestHeader":\{"requestApiKey":(\d{1,3}),'
    rb"|RequestHeader\(apiKey=([A-Z_]{1,64}), )"
)
"""How a message tells what is asked, before any name that a client gave."""


class Reading(NamedTuple):
    """How some lines are read: whose they are, which requests are of use, what became of them, and their layout."""

    origin: Origin
    counts: LineCounts
    apis: Collection[str] = EVERY_API
    layout: Layout = layout_of()
    runs: bool = True
    """Whether what says the same again is told with a count, or without its rows."""


class Trace:
    """One range of a log; `read` reads it once, and afterwards `sessions` says what became of the sessions.

    A partition that rests in its session is told once with a count, and requests in words of others without their rows;
    `runs` False tells all of them in full.
    """

    __slots__ = ("_apis", "_end", "_folded", "_origin", "_path", "_patterns", "_runs", "_start", "counts")

    def __init__(
        self,
        path: Path,
        origin: Origin,
        start: int = 0,
        end: int | None = None,
        *,
        before: SessionState = NOTHING,
        apis: Collection[str] = EVERY_API,
        runs: bool = True,
        patterns: Sequence[str] = (),
    ) -> None:
        self._path, self._origin, self._start, self._end = path, origin, start, end
        self._apis, self._patterns, self._runs = apis, patterns, runs
        self._folded = Folded(before, runs=runs)
        self.counts = LineCounts()

    def sessions(self) -> SessionState:
        """The sessions after the range."""
        return self._folded.sessions()

    def read(self) -> Iterator[Told | Other]:
        """Everything that is told, each partition's part of it in the order of the lines."""
        try:
            with self._path.open("rb") as file:
                layout = layout_in(self._path, self._patterns)
                reading = Reading(self._origin, self.counts, self._apis, layout, self._runs)
                yield from read_pieces(pieces_of(file, self._start, self._end), reading, self._folded)
        except OSError as error:
            yield unreadable(error, self._origin)


def read_pieces(pieces: Iterable[Block | Line], reading: Reading, folded: Folded) -> Iterator[Told | Other]:
    """The same of pieces of a log."""
    return kept_refusals(_told(pieces, reading, folded), reading.origin)


def sessions_after(
    path: Path, origin: Origin, start: int = 0, end: int | None = None, patterns: Sequence[str] = ()
) -> SessionState:
    """What a range does to sessions, whatever they were before it."""
    trace = Trace(path, origin, start, end, apis=frozenset((FETCH,)), patterns=patterns)
    for _ in trace.read():
        pass
    return trace.sessions()


def _told(pieces: Iterable[Block | Line], reading: Reading, folded: Folded) -> Iterator[Told | Other]:
    place, added, lines = 0, 0, _Lines(reading, folded)
    try:
        for piece in pieces:
            place = piece.end if isinstance(piece, Line) else piece.start + len(piece.data) - 1
            yield from lines.of_block(piece) if isinstance(piece, Block) else lines.by_grammar(piece)
            folded.gather()
            added += len(piece.data)
            if added > TOGETHER:
                added = 0
                yield from folded.rest()
    except Unpackable as error:
        yield unpackable(error, reading.origin, place)
    yield from folded.rest()


class _Lines:
    """Reads lines one after the other."""

    __slots__ = ("_alike", "_folded", "_known", "_opening", "_openings", "_reading")

    def __init__(self, reading: Reading, folded: Folded) -> None:
        self._reading, self._folded = reading, folded
        self._alike = Alike(reading.layout)
        self._opening = re.compile(reading.layout.prefix.pattern + b"(?P<marker>" + MARKER + b")" + _HEAD)
        self._openings: dict[bytes, Opening] = {}
        self._known = {name.encode(): name for name in reading.apis}
        self._known |= {key: name for key, name in API_KEYS.items() if name in reading.apis}

    def of_block(self, block: Block) -> Iterator[Told | Other]:
        """What the lines of a block tell."""
        data, start, base, counts = block.data, 0, block.start, self._reading.counts
        marked = marked_in(data)
        fetches, produces, openings = self._folded.fetches.add, self._folded.produces.add, self._openings
        for end, timed, spliced in zip(*marked, strict=True):
            opening = openings.get(data[start + _TIMED : start + _OPENS]) if timed else None
            if opening is None:
                opening = self._opened(data, start, timed=timed)
            behind, api, time_text = opening
            if behind and end - start < MARKS_LIMIT and not spliced:
                message = start + behind
                if api is None:
                    if data.find(MARKER, message, end) < 0:
                        counts.lines += 1
                        counts.unread += 1
                        start = end + 1
                        continue
                elif (read := _read(data, message, end, api)) is not None:
                    counts.lines += 1
                    place = (read, base + start, base + end, time_text or data[start + 1 : start + _TIMED])
                    if api == FETCH:
                        counts.fetches += 1
                        fetches(place)  # type: ignore[arg-type]
                    else:
                        counts.requests += 1
                        produces(place)  # type: ignore[arg-type]
                    start = end + 1
                    continue
            yield from self.by_grammar(Line(base + start, base + end, data[start:end]))
            start = end + 1

    def _opened(self, data: bytes, start: int, *, timed: bool) -> Opening:
        """How a line opens; most do as others did, but for their times."""
        found = self._opening.match(data, start)
        if found is None:
            return _UNOPENED
        marker, api = found.start("marker"), self._known.get(found[found.lastindex or 0])
        # The first marker is the message's: what stands behind another was named by a client.
        if data.find(MARKER, start, marker + 1) >= 0:
            return _UNOPENED
        behind = marker + len(MARKER) - start
        whole = timed and found.end() <= start + _OPENS and found.span("time") == (start + 1, start + _TIMED)
        if whole and len(self._openings) < _OPENINGS:
            self._openings[data[start + _TIMED : start + _OPENS]] = behind, api, None
        return behind, api, found["time"]

    def by_grammar(self, line: Line) -> Iterator[Told | Other]:
        """What a line tells that is none of a fetch or a produce as they are as a rule written."""
        counts = self._reading.counts
        counts.lines += 1
        words = words_of(line) if self._reading.runs else None
        again = None if words is None else self._alike.find(line, words)
        if again is not None:
            counts.requests += 1
            yield again
            return
        rows, sent, others, read = list[Worded](), list[Produce](), 0, counts.requests
        for event in line_events(line, self._reading.origin, self._reading.layout, counts, self._reading.apis):
            if isinstance(event, EpochRequest | OffsetRequest | IsrRequest):
                rows.append(event)
                yield event
                continue
            others += 1
            if isinstance(event, FetchCall):
                self._folded.fetches.add((line_of(event), event.start, event.end, event.time_text.encode()))
            elif isinstance(event, Produce):
                sent.append(event)
            else:
                yield event
        for first, own in groupby(sent, key=attrgetter("span_start")):
            told = list(own)
            self._folded.produces.add((positions.line_of(told), first, told[0].span_end, told[0].time_text.encode()))
        if words is not None and counts.requests == read + 1 and not others:
            self._alike.keep(words, rows)


def _read(data: bytes, message: int, end: int, api: str) -> FetchLine | ProduceLine | None:
    """A fetch or a produce as it is as a rule written; None for one that is not."""
    line: FetchLine | ProduceLine
    try:
        if data[message] != _BRACE:
            return spelt_line(data[message:end])
        text = data[message : data.rfind(b"}", message, end) + 1]
        line = fetch_line(text) if api == FETCH else produce_line(text)
    except UNFIT:
        return None
    return line if line.requestHeader.requestApiKeyName == api else None
