"""A byte range of a log to events and settings: the lines that say something, found and read as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
from msgspec import Struct, field

from parsers.broker_log.catalogue import head_pattern
from parsers.broker_log.config_values import NO_SETTINGS, find_settings, settings_batch
from parsers.broker_log.entry_blocks import LINE_LIMIT, Block, LongLine, entry_blocks
from parsers.broker_log.entry_layout import DEFAULT_PATTERN, EntryLayout, parse_layout
from parsers.broker_log.event_batches import NO_EVENTS, batch_of
from parsers.broker_log.matched_events import find_hits, find_lines, text_of
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal


class LogPart(Struct, frozen=True, kw_only=True):
    """What a stretch of a log says: its events and settings in the order of the lines, and what could not be read."""

    events: pa.RecordBatch
    settings: pa.RecordBatch
    refusals: tuple[Refusal, ...] = ()


class Reading(Struct, frozen=True, kw_only=True):
    """How a file is to be read; lines longer than `line_limit` are refused unheld."""

    origin: Origin
    layout: EntryLayout = field(default_factory=lambda: parse_layout(DEFAULT_PATTERN))
    line_limit: int = LINE_LIMIT
    settings: bool = True
    """Whether `KafkaConfig values:` blocks are read too; a start prints some hundred lines of them."""


def read_log(file: BinaryIO, reading: Reading, *, start: int = 0, end: int | None = None) -> Iterator[LogPart]:
    """What the entries say that start in bytes `[start, end)` of a log, a part at a time.

    An entry belongs to the range in which its first line starts, so ranges that meet give each entry once.
    """
    layout = reading.layout
    for piece in entry_blocks(file, start, end, head_pattern(layout), layout.opening, reading.line_limit):
        if not isinstance(piece, LongLine):
            yield _read_block(reading, piece, end)
        elif end is None or piece.start < end:
            yield no_part(_too_long(reading, piece))


def no_part(refusal: Refusal) -> LogPart:
    """A part that tells nothing but what could not be read."""
    return LogPart(events=NO_EVENTS, settings=NO_SETTINGS, refusals=(refusal,))


def _too_long(reading: Reading, line: LongLine) -> Refusal:
    expected = f"a line of at most {reading.line_limit} bytes"
    return refuse(reading.origin, "too_large", line.start, line.end, expected=expected, found=line.beginning)


def _read_block(reading: Reading, block: Block, end: int | None) -> LogPart:
    """What the entries of a block say that begin before byte `end` of the file."""
    text = text_of(block, reading.layout, end)
    lines = find_lines(text)
    events, refusals = batch_of(lines.heads, find_hits(text, lines), reading.origin)
    for start, stop, *_ in lines.torn:
        expected, found = "a line that is written to its end", text.data[start - text.shift : stop - text.shift]
        refusals.append(refuse(reading.origin, "truncated_line", start, stop, expected=expected, found=found))
    refusals.sort(key=lambda refusal: refusal.span_start)
    blocks = lines.settings if reading.settings else ()
    printed = [find_settings(text.data, text.shift, entry, reading.layout, reading.line_limit) for entry in blocks]
    settings = settings_batch([block for block in printed if block], reading.origin)
    return LogPart(events=events, settings=settings, refusals=tuple(refusals))
