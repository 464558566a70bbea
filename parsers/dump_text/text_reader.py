"""kafka-dump-log text of any release, line by line, to the rows that the segment reader would give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from parsers.dump_text.addressed_lines import HEAD_LIMIT, DumpLine, read_lines
from parsers.dump_text.dumped_file import dumped_file
from parsers.dump_text.grammar import batch_line, positioned_line, record_line
from parsers.dump_text.line_facts import BatchLine
from parsers.dump_text.output import DumpChunk, Note, Output
from parsers.dump_text.section import Section, Text
from parsers.provenance import Origin
from parsers.refusal import shorten

CHUNK_ROWS: Final = 8192
_LONGEST_PATH: Final = 4096
_DUMPED: Final = re.compile(r".+\.(?:log|index|timeindex|txnindex|snapshot|checkpoint)")
_FRAME: Final = re.compile(
    rb"(?:Log s|S)tarting offset: -?\d{1,19}|Snapshot end offset: .{1,80}|KRaft bootstrap snapshot"
)
_INVALID: Final = re.compile(rb"Found \d{1,19} invalid bytes at the end of .{1,4096}")
_NOTE: Final = re.compile(
    rb"Mismatches in :|Found (?:timestamp mismatch|out of order timestamp) in :|The following indexed offsets are "
    rb"|Non-(?:con)?secutive offsets in |  -?\d+ is followed by -?\d+$|  Index (?:offset|timestamp): |Indexed offset: "
    rb"|Ignoring unknown file |Exception in thread |Caused by: |\s+at [\w.$/<]|\s+\.\.\. \d+ more|.{1,4096} is empty\.$"
    rb"|.{1,4096} passed sanity check\.$|\[[\d\- :,]+\] \w+ |(?:log4j|SLF4J|WARNING|OpenJDK|Picked up)\b"
    rb"|kafka\.serializer\."
)
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_N: Final = rb"-?\d{1,19}"
_OPEN: Final = rb"(?:None|OptionalLong\.empty|Some\(%(n)b\)|OptionalLong\[%(n)b\])" % {b"n": _N}
_LONGEST: Final = 4096


def read_dump_text(
    source: Path | BinaryIO, origin: Origin, *, chunk_rows: int = CHUNK_ROWS, head_limit: int = HEAD_LIMIT
) -> Iterator[DumpChunk]:
    """Chunks of rows in the order of the text; each chunk speaks of one dumped file."""
    if isinstance(source, Path):
        with source.open("rb") as stream:
            yield from _Reader(origin, chunk_rows).read(read_lines(stream, head_limit))
    else:
        yield from _Reader(origin, chunk_rows).read(read_lines(source, head_limit))


class _Reader:
    """The walk over the lines: which section they belong to, and what belongs to none."""

    def __init__(self, origin: Origin, chunk_rows: int) -> None:
        self.origin = origin
        self.chunk_rows = chunk_rows
        self.output = Output()
        self.text = Text(self.output)
        self.section = Section(None, origin, self.text, 0)
        self.before: Section | None = None
        self.stray: tuple[int, int, bytes] | None = None
        self.continues = False

    def read(self, lines: Iterable[DumpLine]) -> Iterator[DumpChunk]:
        """Feed every line; hand out a chunk whenever enough rows gathered or the section changes."""
        end = 0
        for line in lines:
            end = line.end
            if line.start == 0 and line.head[:2] in _UTF_16:
                self.section.refuse("malformed", 0, end, "text in UTF-8", "text in UTF-16")
                break
            path = self._opened(line)
            if path is not None:
                self._close(line.start)
                yield from self._chunk()
                self._open(path, line)
            else:
                self._line(line)
            if self.output.size() >= self.chunk_rows:
                yield from self._chunk()
        self._close(end)
        yield from self._chunk()

    def _chunk(self) -> Iterator[DumpChunk]:
        if self.output.size():
            yield self.output.drain(self.section.file)

    def _close(self, end: int) -> None:
        self._settle_stray()
        self.section.close(end)

    def _opened(self, line: DumpLine) -> str | None:
        """The path of a `Dumping` line; among contents one counts only where a section can end."""
        if not line.head.startswith(b"Dumping ") or not line.complete or len(line.head) > _LONGEST_PATH:
            return None
        path = line.head[8:].decode("utf-8", "replace")
        if self.text.contents_seen and not (self.section.complete and _DUMPED.fullmatch(path)):
            self.section.reject(line)
            return None
        return path

    def _open(self, path: str, line: DumpLine) -> None:
        file = dumped_file(path)
        if self.section.file is None or self.section.file.suffix not in SUFFIXES:
            self.before = self.section if self.text.contents_seen and self.section.ends else None
        self.section = Section(file, file.place(self.origin), self.text, line.start)
        self.section.ends = {0}
        self.continues = False

    def _line(self, line: DumpLine) -> None:
        head = line.head
        if not line.complete:
            self._settle_stray()
            self.section.refuse("truncated_line", line.start, line.end, "a line that ends in a newline", head)
        elif self._evidence(line, head):
            self._settle_stray()
            of_record = head.startswith((b"| ", b"offset: ")) or self.section.disputed
            self.continues = of_record and self.text.contents_seen
        elif not self.continues and head:
            self._no_evidence(line, head)

    def _evidence(self, line: DumpLine, head: bytes) -> bool:
        """Whether a line gave rows, or was proved to be a place for them."""
        said = batch_line(head) if head.startswith((b"baseOffset: ", b"offset: ")) else None
        if said is not None and self._disproves_frame(said):
            self._resume(line)
        file = self.section.file
        if file is not None and file.suffix in SUFFIXES:
            return file.base_offset is not None and is_entry(head, file.suffix)
        if said is not None:
            return self.section.batch(line, said)
        if head.startswith(b"| "):
            return self._record(head)
        record = positioned_line(head) if head.startswith(b"offset: ") else None
        return record is not None and self.section.positioned(line, record)

    def _record(self, head: bytes) -> bool:
        said = record_line(head)
        if said is not None:
            return self.section.record(said)
        if head.startswith((b"| key: ", b"| payload: ")):
            self.text.contents_seen = True
            return True
        return False

    def _disproves_frame(self, said: BatchLine) -> bool:
        """Whether a batch continues the chain of the file before, and not this one's: then a payload held the frame."""
        before = self.before
        if before is None or before.ends is None:
            return False
        return said.position in before.ends and said.position not in (self.section.ends or ())

    def _resume(self, line: DumpLine) -> None:
        """Go back to the file before; what the disproved frame's section gave and is still here is dropped."""
        self.output.rows.clear()
        start = self.section.start
        self.section, self.before = self.before or self.section, None
        self.section.refuse(
            "ambiguous", start, line.start, "the next batch of the file", "a frame that its chain disproves"
        )

    def _no_evidence(self, line: DumpLine, head: bytes) -> None:
        """A line of the tool, or one that nothing explains."""
        if _INVALID.fullmatch(head):
            self._settle_stray()
            self.section.refuse("torn_tail", line.start, line.end, "batches up to the end of the segment", head)
        elif head.startswith((b" payload: ", b" key: ")):
            self.text.contents_seen = self.continues = True
        elif _FRAME.fullmatch(head):
            return
        elif _NOTE.match(head):
            self._settle_stray()
            self.output.notes.append(
                Note(
                    text=shorten(head.decode("utf-8", "replace")),
                    source=self.origin.source,
                    span_start=line.start,
                    span_end=line.end,
                )
            )
        else:
            self.stray = (self.stray[0], line.end, self.stray[2]) if self.stray else (line.start, line.end, head)

    def _settle_stray(self) -> None:
        """One refusal for a run of lines that nothing explains."""
        if self.stray:
            start, end, first = self.stray
            self.section.refuse("malformed", start, end, "a line that kafka-dump-log prints", first)
            self.stray = None


def _shape(*texts: bytes) -> re.Pattern[bytes]:
    """A pattern of texts in which `n` is a number, and `open` where a transaction began if one is open."""
    return re.compile(b"|".join(texts) % {b"n": _N, b"open": _OPEN})


_SHAPES: Final = {
    ".index": _shape(rb"offset: %(n)b position: %(n)b"),
    ".timeindex": _shape(rb"timestamp: %(n)b offset: %(n)b"),
    ".txnindex": _shape(
        rb"version: \d{1,5} producerId: %(n)b firstOffset: %(n)b lastOffset: %(n)b lastStableOffset: %(n)b"
    ),
    ".snapshot": _shape(
        rb"producerId: %(n)b producerEpoch: %(n)b coordinatorEpoch: %(n)b currentTxnFirstOffset: %(open)b"
        rb"(?: lastTimestamp: %(n)b)? ?"
        rb"(?:(?:cachedMetadata: \w+\(.{0,1000}?)?(?:BatchMetadata\()?firstSe(?:quence: |q=)%(n)b,?"
        rb" lastSe(?:quence: |q=)%(n)b,?(?: firstOffset=%(n)b,)? lastOffset[:=] ?%(n)b,?"
        rb"(?: offsetDelta: %(n)b)?,? timestamp[:=] ?%(n)b\)*| ?cachedMetadata: \w+\(\))? ?",
        # 0.11
        rb"producerId: %(n)b producerEpoch: %(n)b lastSequence: %(n)b lastOffset: %(n)b offsetDelta: %(n)b"
        rb" lastTimestamp: %(n)b coordinatorEpoch: %(n)b currentTxnFirstOffset: %(open)b",
    ),
}
SUFFIXES: Final = frozenset(_SHAPES)


def is_entry(head: bytes, suffix: str) -> bool:
    """Whether a line is an entry of a file of that kind."""
    return len(head) <= _LONGEST and _SHAPES[suffix].fullmatch(head) is not None
