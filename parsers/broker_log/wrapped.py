"""Logs as containers keep them: lines behind a collector's prefix or in JSON, several speakers' lines in one file.

`docker compose logs`, `kubectl logs --prefix`, `docker logs -t`, CRI files of a kubelet, docker's json-file, layouts of
log4j that write JSON. Such a text is read as what was written into it; its rows point at the lines of the file.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, Literal

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from parsers.broker_log.catalogue import head_pattern
from parsers.broker_log.collectors import COLLECTED, speaker_of
from parsers.broker_log.entry_blocks import LINE_LIMIT, Block, LongLine, whole_lines
from parsers.broker_log.entry_layout import EntryLayout
from parsers.broker_log.json_lines import text_of
from parsers.broker_log.reader import LogPart, Reading, no_part, read_log
from parsers.broker_log.witness import witnesses
from parsers.refusal import refuse
from parsers.tables import Refusal

Wrapping = Literal["plain", "prefixed", "json"]
WRAPPINGS: Final[tuple[Wrapping, ...]] = ("plain", "prefixed", "json")
HEAD_BYTES: Final = 1 << 18
"""How much of a file is looked at to tell how it is written."""
_LINE: Final = re.compile(rb"[^\n]*+\n?+")
_KEPT: Final = 64 << 20
"""Places are kept of so much of the text behind the last byte handed out: a reader holds less."""


class WrappedLayout(Struct, frozen=True, kw_only=True):
    """How a file is written: by which layout, and behind what."""

    wrapping: Wrapping
    layout: EntryLayout


def written_as(head: bytes, layouts: Sequence[EntryLayout]) -> WrappedLayout | None:
    """How the beginning of a file is written; of several that fit, the one by which most lines begin entries.

    None where no layout fits any line: then the file cannot be read.
    """
    found: list[tuple[int, int, WrappedLayout]] = []
    lines = head.splitlines(keepends=True)
    for place, wrapping in enumerate(WRAPPINGS):
        contents = [content for line in lines if (content := _content(line, wrapping)) is not None]
        for order, layout in enumerate(layouts):
            begins = head_pattern(layout).match
            entries = sum(begins(content) is not None for content in contents)
            if entries:
                found.append((entries, -place * len(layouts) - order, WrappedLayout(wrapping=wrapping, layout=layout)))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _content(line: bytes, wrapping: Wrapping) -> bytes | None:
    if wrapping == "plain":
        return line
    if wrapping == "json":
        return text_of(line)
    match = COLLECTED.match(line)
    return line[match.end() :] if match and match.end() else None


def speakers(file: BinaryIO, written: WrappedLayout) -> dict[bytes | None, frozenset[int]]:
    """Who speaks in a file, in order of their names, None for lines that name nobody; and as which brokers, by their words."""
    if written.wrapping != "prefixed":
        return {None: frozenset()}
    found: dict[bytes | None, set[int]] = {}
    for block in whole_lines(file, 0, None, LINE_LIMIT):
        if isinstance(block, Block):
            for prefix in COLLECTED.finditer(block.data):
                if prefix.end() > prefix.start():
                    found.setdefault(speaker_of(prefix), set())
            for said in witnesses(block.data):
                found.setdefault(said.speaker, set()).add(said.broker)
    return {name: frozenset(found[name]) for name in sorted(found, key=lambda name: name or b"")}


class UnwrappedText(io.RawIOBase):
    """One speaker's text, read forward; `places` tells where in the file its bytes stand."""

    def __init__(self, file: BinaryIO, wrapping: Wrapping, speaker: bytes | None, limit: int = LINE_LIMIT) -> None:
        super().__init__()
        self._blocks = whole_lines(file, 0, None, limit)
        self._wrapping: Wrapping = wrapping
        self._speaker = speaker
        self._rest = b""
        self._length = 0
        self._whole = True
        self._starts: deque[int] = deque()
        self._lines: deque[tuple[int, int]] = deque()
        self.unread: list[tuple[int, int, bytes]] = []
        """Lines that are not wrapped as the others are."""

    def readable(self) -> bool:
        """Always: there is nothing else to do with it."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes of the text, at most `size`; empty at its end."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            if isinstance(block, LongLine):
                self.unread.append((block.start, block.end, block.beginning))
            else:
                self._rest = b"".join(self._unwrapped(block))
        count = len(self._rest) if size < 0 else size
        given, self._rest = self._rest[:count], self._rest[count:]
        return given

    def _unwrapped(self, block: Block) -> Iterator[bytes]:
        for line in _LINE.finditer(block.data):
            start, end = line.span()
            if start == end:
                return
            content, whole = self._spoken(line[0])
            if content is None:
                continue
            if self._whole:
                self._note(block.offset + start, block.offset + end)
            elif self._lines:
                self._lines[-1] = (self._lines[-1][0], block.offset + end)
            self._whole = whole
            text = content if whole else content.rstrip(b"\r\n")
            self._length += len(text)
            yield text

    def _spoken(self, line: bytes) -> tuple[bytes | None, bool]:
        """What the speaker wrote in a line, and whether it is a line to its end."""
        if self._wrapping == "json":
            content = text_of(line)
            return (content, content.endswith(b"\n")) if content is not None else (None, True)
        match = COLLECTED.match(line)
        if match is None or not match.end() or speaker_of(match) != self._speaker:
            return None, True
        return line[match.end() :], match["part"] != b"P"

    def _note(self, start: int, end: int) -> None:
        self._starts.append(self._length)
        self._lines.append((start, end))
        while self._starts[0] < self._length - _KEPT:
            self._starts.popleft()
            self._lines.popleft()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the file in which bytes `[start, end)` of the text stand: whole lines of it."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = max(bisect_right(self._starts, max(end - 1, start)) - 1, first)
        return self._lines[first][0], self._lines[last][1]


def read_written(file: BinaryIO, reading: Reading, written: WrappedLayout, speaker: bytes | None) -> Iterator[LogPart]:
    """What one speaker says in a log of any wrapping, a part at a time; rows point at the lines of the file."""
    laid_out = replace(reading, layout=written.layout)
    if written.wrapping == "plain":
        yield from read_log(file, laid_out)
        return
    text = UnwrappedText(file, written.wrapping, speaker, reading.line_limit)
    for part in read_log(text, laid_out):  # type: ignore[arg-type]
        yield LogPart(
            events=_placed(part.events, text),
            settings=_placed(part.settings, text),
            refusals=tuple(_placed_refusal(refusal, text) for refusal in part.refusals),
        )
    expected = f"a line of at most {reading.line_limit} bytes"
    for start, end, beginning in text.unread:
        yield no_part(refuse(reading.origin, "too_large", start, end, expected=expected, found=beginning))


def _placed(rows: pa.RecordBatch, text: UnwrappedText) -> pa.RecordBatch:
    if not rows.num_rows:
        return rows
    spans = zip(rows["span_start"].to_pylist(), rows["span_end"].to_pylist(), strict=True)
    places = [text.place(start, end) for start, end in spans]
    for name, values in zip(("span_start", "span_end"), zip(*places, strict=True), strict=True):
        field = rows.schema.field(name)
        rows = rows.set_column(rows.schema.get_field_index(name), field, pa.array(values, field.type))
    return rows


def _placed_refusal(refusal: Refusal, text: UnwrappedText) -> Refusal:
    start, end = text.place(refusal.span_start, refusal.span_end)
    return replace(refusal, span_start=start, span_end=end)
