"""A byte range of a log to events and settings: the lines that say something, found and read as Arrow batches."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import pyarrow as pa

from parsers.broker_log.catalogue import SETTINGS_LEAD, Matcher, head_pattern, matchers, scan_pattern, shortened
from parsers.broker_log.layout import DEFAULT_PATTERN, Layout, parse_layout
from parsers.broker_log.lines import LINE_LIMIT, Block, LongLine, entry_blocks
from parsers.broker_log.rows import Hit, batch_of
from parsers.broker_log.settings import SettingHit, find_settings, settings_batch
from parsers.broker_log.version import KafkaVersion
from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import BrokerEvent, BrokerSetting, Refusal, from_arrow


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """What a stretch of a log says: its events and settings in the order of the lines, and what could not be read."""

    events: pa.RecordBatch
    settings: pa.RecordBatch
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is to be read.

    `version`, the writer's, decides the trust of the rows; lines longer than `line_limit` are refused unheld.
    """

    origin: Origin
    layout: Layout = field(default_factory=lambda: parse_layout(DEFAULT_PATTERN))
    version: KafkaVersion | None = None
    line_limit: int = LINE_LIMIT
    settings: bool = True
    """Whether `KafkaConfig values:` blocks are read too; a start prints some hundred lines of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a block held, before it is made into rows."""

    hits: defaultdict[Matcher, list[Hit]] = field(default_factory=lambda: defaultdict(list))
    settings: list[SettingHit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def read_log(file: BinaryIO, reading: Reading, *, start: int = 0, end: int | None = None) -> Iterator[LogPart]:
    """What the entries say that start in bytes `[start, end)` of a log, a part at a time.

    An entry belongs to the range in which its first line starts, so ranges that meet give each entry once.
    """
    layout = reading.layout
    for piece in entry_blocks(file, start, end, head_pattern(layout), layout.opening, reading.line_limit):
        found = _Found()
        if isinstance(piece, LongLine):
            if end is None or piece.start < end:
                found.refusals.append(_too_long(reading, piece))
        else:
            _read_block(reading, found, piece, end)
        events, unfit = batch_of(found.hits, reading.origin, reading.version)
        refusals = sorted(found.refusals + unfit, key=lambda refusal: refusal.span_start)
        settings = settings_batch(found.settings, reading.origin)
        yield LogPart(events=events, settings=settings, refusals=tuple(refusals))


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


def _too_long(reading: Reading, line: LongLine) -> Refusal:
    expected = f"a line of at most {reading.line_limit} bytes"
    return refuse(reading.origin, "too_large", line.start, line.end, expected=expected, found=line.beginning)


def _read_block(reading: Reading, found: _Found, block: Block, end: int | None) -> None:
    """Tries every line of the block that may be an event; a line end is set before the block, so that all lines have one."""
    data = b"\n" + block.data
    shift = block.offset - 1
    last = len(data) if end is None else end - shift
    by_lead = matchers()
    for entry in scan_pattern(reading.layout).finditer(data):
        if entry.start() + 1 >= last:
            break
        lead, inner = entry.group("lead", "inner")
        lead = lead or inner
        if lead != SETTINGS_LEAD:
            _read_line(reading, found, data, shift, entry, by_lead[lead])
        elif reading.settings:
            head = head_pattern(reading.layout)
            found.settings.extend(find_settings(data, shift, entry, head, reading.line_limit))


def _read_line(
    reading: Reading, found: _Found, data: bytes, shift: int, entry: re.Match[bytes], candidates: tuple[Matcher, ...]
) -> None:
    """One line: the first wording that fits gives its hits; a line that only begins like an event gives none."""
    start, line_end = entry.span()
    start, torn = start + 1, line_end == len(data)
    line_end -= data[line_end - 1] == 13
    time, level, other_logger, prefix, word = entry.group("time", "level", "logger", "prefix", "word")
    begin = entry.end("prefix") if prefix else entry.start("lead" if word is None else "word")
    message_end, logger, whole = reading.layout.message_end(data, begin, line_end)
    if torn and not whole:
        found.refusals.append(refuse(
            reading.origin, "truncated_line", shift + start, shift + line_end,
            expected="a line that is written to its end", found=data[start:line_end],
        ))  # fmt: skip
        return
    for matcher in candidates:
        match = matcher.pattern.match(data, begin, message_end)
        if match is None:
            continue
        detail = _detail(reading, matcher, match, data, message_end, line_end) if matcher.tells_more else None
        logger = logger or other_logger or None
        hit = (shift + start, shift + line_end, time or None, level or None, logger, prefix, detail, *match.groups())
        if matcher.item_pattern is None:
            found.hits[matcher].append(hit)
            return
        if listed := [hit + item.groups() for item in matcher.item_pattern.finditer(data, *match.span("items"))]:
            found.hits[matcher] += listed
            return


def _detail(
    reading: Reading, matcher: Matcher, match: re.Match[bytes], data: bytes, message_end: int, line_end: int
) -> str | None:
    """The message as the detail, or the reason: the rest of the message, else the next line if it begins no entry."""
    if matcher.event.whole_message:
        return shortened(data[match.start() : message_end])
    told = match.groupdict().get("detail")
    reason = data[match.end() : message_end].strip()
    next_start = data.find(b"\n", line_end) + 1
    if not reason and next_start and not head_pattern(reading.layout).match(data, next_start):
        reason = data[next_start : max(data.find(b"\n", next_start), next_start)]
    return "; ".join(shortened(part) for part in (told, reason) if part) or None
