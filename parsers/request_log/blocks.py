"""The lines of blocks: each is tried as it is as a rule written, a block's fetches and produces at once.

One that is written otherwise is read by the grammar of `read`, which says why it is refused if it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from io import BytesIO
from itertools import compress
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from parsers.provenance import Origin
from parsers.request_log.fetch_columns import RequestColumns
from parsers.request_log.folded import Folded
from parsers.request_log.gathered import Gathered, Taken
from parsers.request_log.layout import MARKER, Layout, layout_of
from parsers.request_log.lines_of_range import MARKS_LIMIT, Line, WholeLines, is_crowded
from parsers.request_log.read import API_KEYS, EVERY_API, FETCH, PRODUCE, LineCounts, ReadLine, line_events
from parsers.request_log.repeated_requests import Again, SaidBefore, Worded, words_of
from parsers.request_log.request import is_spliced
from parsers.request_log.spelling import spelt_fetches, spelt_produces
from parsers.request_log.typed import FETCHES, PRODUCES, FetchLine, Reader
from parsers.request_log.typed import RequestLine as Struct
from parsers.tables import Refusal
from parsers.tables.requests import EpochRequest, IsrRequest, OffsetRequest, RequestEvent

_LOWEST: Final = np.frombuffer(b"[0000-00-00 00:00:00,000", np.uint8)
"""How a line opens that has Kafka's own layout: each nought stands for a digit."""
_SPAN: Final = np.where(ord("0") == _LOWEST, 9, 0).astype(np.uint8)


def lines_in(data: bytes) -> tuple[list[bytes], list[bool]]:
    """Lines, each with its line feed, and whether each opens with a bracket and a time as Kafka writes it."""
    lines = BytesIO(data).readlines()
    opening = b"".join([line[: len(_LOWEST)].ljust(len(_LOWEST)) for line in lines])
    letters = np.frombuffer(opening, np.uint8).reshape(-1, len(_LOWEST))
    return lines, np.all(letters - _LOWEST <= _SPAN, axis=1).tolist()


def braces_in(data: bytes) -> int:
    """How many structs begin in some JSON, if no text in it has a brace."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("{")))


Other: TypeAlias = EpochRequest | OffsetRequest | IsrRequest | RequestEvent | Refusal | Again
Of = TypeVar("Of", bound=Struct)

_TIMED, _OPENS = 24, 112
"""Letters of a line up to its time's end, and up to behind what it says of which request it tells."""
_OPENINGS: Final = 1 << 10
_END: Final = b"} (kafka.request.logger)\n"
_ENDS: Final = 1 - len(_END)
Written: TypeAlias = tuple[bytes, int, int, bytes]
"""What a line says of a request and its answer, where the line begins and ends, and its time."""
Opening: TypeAlias = tuple[int, Callable[[Written], None] | None, bool, bytes | None]
"""Where its message begins, 0 where the grammar must read it; to what it is added, null for what tells nothing.

Then whether it is JSON, and its time if that is not Kafka's own.
"""
_UNOPENED: Final[Opening] = (0, None, False, None)
_BRACE: Final = ord("{")
_HEAD: Final = (
    rb'(?:\{(?:"isForwarded":(?:true|false),)?"requestHeader":\{"requestApiKey":(\d{1,3}),'
    rb"|RequestHeader\(apiKey=([A-Z_]{1,64}), )"
)
"""How a message tells what is asked, before any name that a client gave."""


class LineReading(NamedTuple):
    """How some lines are read: whose they are, which requests are of use, what became of them, and their layout."""

    origin: Origin
    counts: LineCounts
    apis: Collection[str] = EVERY_API
    layout: Layout = layout_of()
    runs: bool = True
    """Whether what says the same again is told with a count, or without its rows."""


Place: TypeAlias = tuple[int, int]
"""Where a line begins and ends in its log."""
Places: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[bytes]]
"""Where some lines begin, where they end, and their times."""


class _Kind(Generic[Of]):
    """The fetches or the produces of a block, and how they become columns."""

    __slots__ = ("_add", "_folded", "_of_json", "_of_text", "found", "json", "text")

    def __init__(
        self, of_json: Reader[Of], of_text: Callable[[Sequence[bytes]], Sequence[Of | None]],
        add: Callable[[Taken[Of]], Gathered], folded: list[Gathered],
    ) -> None:  # fmt: skip
        self._of_json, self._of_text, self._add, self._folded = of_json, of_text, add, folded
        self.json, self.text = list[Written](), list[Written]()
        """Those that are as a rule written, of either form."""
        self.found = list[ReadLine]()
        """What the grammar reads beside them."""

    def read(self) -> tuple[int, list[Place]]:
        """Reads what is as a rule written; returns how many, and where those stand that the grammar must read."""
        odd, read = list[Place](), 0
        for written, read_some in ((self.json, self._some_of_json), (self.text, self._some_of_text)):
            if not written:
                continue
            texts, starts, ends, times = zip(*written, strict=True)
            unfit = read_some(texts, (starts, ends, times))
            odd += unfit
            read += len(written) - len(unfit)
            written.clear()
        return read, odd

    def _some_of_json(self, texts: Sequence[bytes], places: Places) -> list[Place]:
        joined = b"\n".join(texts)
        lines = self._of_json.structs(joined, len(texts))
        if all(lines):
            # A line that holds parts of two holds a struct that is not read.
            if self._add(Taken(cast("Sequence[Of]", lines), *places)).structs == braces_in(joined):
                return []
            self._folded.pop()
        spliced = (is_spliced(text, 0, len(text)) for text in texts)
        return self._add_fitting([None if two else line for line, two in zip(lines, spliced, strict=True)], places)

    def _some_of_text(self, texts: Sequence[bytes], places: Places) -> list[Place]:
        return self._add_fitting(self._of_text(texts), places)

    def _add_fitting(self, lines: Sequence[Of | None], places: Places) -> list[Place]:
        fits = [line is not None for line in lines]
        if any(fits):
            whole, (starts, ends, times) = [line for line in lines if line is not None], places
            self._add(Taken(whole, [*compress(starts, fits)], [*compress(ends, fits)], [*compress(times, fits)]))
        return [(start, end) for start, end, fit in zip(*places[:2], fits, strict=True) if not fit]

    def add_found(self) -> None:
        """Adds what the grammar has read."""
        if self.found:
            self._add(Taken(*zip(*self.found, strict=True)))
            self.found.clear()


class Blocks:
    """Reads the blocks and the lines of a log, one after the other."""

    __slots__ = ("_added", "_alike", "_fetches", "_known", "_opening", "_openings", "_produces", "_reading")

    def __init__(self, reading: LineReading, folded: Folded) -> None:
        self._reading = reading
        self._alike = SaidBefore(reading.layout)
        self._opening = re.compile(reading.layout.prefix.pattern + b"(?P<marker>" + MARKER + b")" + _HEAD)
        self._openings: dict[bytes, Opening] = {}
        self._known = {name.encode(): name for name in reading.apis}
        self._known |= {key: name for key, name in API_KEYS.items() if name in reading.apis}
        self._fetches = _Kind(FETCHES, spelt_fetches, folded.add_fetches, folded.fetches)
        self._produces = _Kind(PRODUCES, spelt_produces, folded.add_produces, folded.produces)
        self._added = {
            (FETCH, True): self._fetches.json.append, (FETCH, False): self._fetches.text.append,
            (PRODUCE, True): self._produces.json.append, (PRODUCE, False): self._produces.text.append,
        }  # fmt: skip

    def of_block(self, block: WholeLines) -> Iterator[RequestColumns | Other]:
        """What the lines of a block tell."""
        base, counts = block.start, self._reading.counts
        odd = self._sorted_out(block.data, base)
        fetches, unfit = self._fetches.read()
        produces, others = self._produces.read()
        if unfit or others:
            odd = sorted(odd + unfit + others)
        counts.lines += fetches + produces
        counts.fetches += fetches
        counts.requests += produces
        for start, end in odd:
            yield from self._by_grammar(Line(start, end, block.data[start - base : end - base]))
        self._fetches.add_found()
        self._produces.add_found()

    def of_line(self, line: Line) -> Iterator[RequestColumns | Other]:
        """What a line tells that stands by itself."""
        yield from self._by_grammar(line)
        self._fetches.add_found()
        self._produces.add_found()

    def _sorted_out(self, data: bytes, start: int) -> list[Place]:
        """Lines by what they tell; returns where those stand that only the grammar can read."""
        unread, odd, openings, long = 0, list[Place](), self._openings.get, len(data) > MARKS_LIMIT
        for line, timed in zip(*lines_in(data), strict=True):
            end = start + len(line) - 1
            opening = openings(line[_TIMED:_OPENS]) if timed else None
            behind, add, is_json, time_text = opening or self._opened(line, timed=timed)
            if not behind or (long and is_crowded(line)) or (add is None and line.find(MARKER, behind) >= 0):
                odd.append((start, end))
            elif add is None:
                unread += 1
            else:
                # As a rule a line ends as Kafka's own layout ends it.
                stop = -1 if not is_json else _ENDS if line.endswith(_END) else line.rfind(b"}", behind) + 1
                if stop < 0 or (stop and line.find(b"{", stop) < 0):
                    add((line[behind:stop], start, end, time_text or line[1:_TIMED]))
                else:
                    odd.append((start, end))
            start = end + 1
        self._reading.counts.lines += unread
        self._reading.counts.unread += unread
        return odd

    def _opened(self, line: bytes, *, timed: bool) -> Opening:
        """How a line opens; most do as others did, but for their times."""
        found = self._opening.match(line)
        if found is None:
            return _UNOPENED
        marker, api = found.start("marker"), self._known.get(found[found.lastindex or 0])
        # The first marker is the message's: what stands behind another was named by a client.
        if line.find(MARKER, 0, marker + 1) >= 0:
            return _UNOPENED
        behind = marker + len(MARKER)
        is_json = line[behind] == _BRACE
        add = None if api is None else self._added.get((api, is_json))
        opening = (behind if api is None or add else 0, add, is_json, found["time"])
        whole = timed and found.end() <= _OPENS and found.span("time") == (1, _TIMED)
        if whole and len(self._openings) < _OPENINGS:
            self._openings[line[_TIMED:_OPENS]] = (*opening[:3], None)
        return opening

    def _by_grammar(self, line: Line) -> Iterator[RequestColumns | Other]:
        """What a line tells that is none of a fetch or a produce as they are as a rule written."""
        counts = self._reading.counts
        counts.lines += 1
        words = words_of(line) if self._reading.runs else None
        again = None if words is None else self._alike.find(line, words)
        if again is not None:
            counts.requests += 1
            yield again
            return
        rows, others, read = list[Worded](), 0, counts.requests
        for event in line_events(line, self._reading.origin, self._reading.layout, counts, self._reading.apis):
            if isinstance(event, EpochRequest | OffsetRequest | IsrRequest):
                rows.append(event)
                yield event
                continue
            others += 1
            if isinstance(event, ReadLine):
                kind = self._fetches if isinstance(event.line, FetchLine) else self._produces
                kind.found.append(event)
            else:
                yield event
        if words is not None and counts.requests == read + 1 and not others:
            self._alike.keep(words, rows)
