"""The events of a block of lines: all lines that begin alike are tried together, one wording after the other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, TypeAlias

from parsers.broker_log.catalogue import SETTINGS_LEAD, Matcher, head_pattern, matchers, scan_pattern, shortened
from parsers.broker_log.event_batches import Hit
from parsers.broker_log.layout import Layout
from parsers.broker_log.lines import Block

Entry: TypeAlias = re.Match[bytes]
Line: TypeAlias = tuple[int, int, bytes | None, bytes | None, bytes | None, bytes | None, int, int]
"""First byte, last byte, time, level, logger, prefix, as a hit begins; where the message begins and ends in the text.

Plain and flat, as a hit is.
"""
_PARTS: Final = ("time", "level", "logger", "prefix", "word", "inner", "lead")
_HEAD: Final = 6
_BEGIN: Final = 6
_STOP: Final = 7
_CARRIAGE_RETURN: Final = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A block with a line end set before it, so that every line has one."""

    data: bytes
    shift: int
    """What to add to a position in the data for its byte in the file."""
    last: int
    """Entries that begin here or later are for whoever reads the next range."""
    layout: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of a text that may say something."""

    by_lead: defaultdict[bytes, list[Line]] = field(default_factory=lambda: defaultdict(list))
    """By what their messages begin with."""
    settings: list[Entry] = field(default_factory=list)
    """Lines with which a block of settings begins."""
    torn: list[Line] = field(default_factory=list)
    """The line at the end of the file that has neither line end nor the layout's last part."""


def text_of(block: Block, layout: Layout, end: int | None) -> Text:
    """The text of a block that is read up to byte `end` of the file."""
    data = b"\n" + block.data
    shift = block.offset - 1
    return Text(data=data, shift=shift, last=len(data) if end is None else end - shift, layout=layout)


def find_lines(text: Text) -> Lines:
    """Every line that begins an entry whose message may be an event, or the settings of a start."""
    data, shift, last, size = text.data, text.shift, text.last, len(text.data)
    message_end, scan = text.layout.ends_of(data), scan_pattern(text.layout)
    parts = itemgetter(*(scan.groupindex[name] - 1 for name in _PARTS))
    lines = Lines()
    by_lead = lines.by_lead
    for entry in scan.finditer(data):
        time, level, other_logger, prefix, word, inner, lead = parts(entry.groups())
        start, end = entry.span()
        if start + 1 >= last:
            break
        if lead == SETTINGS_LEAD:
            lines.settings.append(entry)
            continue
        begin = entry.start("lead") if word is None else entry.start("word")
        unfinished = end == size
        end -= data[end - 1] == _CARRIAGE_RETURN
        stop, logger, whole = message_end(begin, end)
        line = (shift + start + 1, shift + end, time or None, level or None, logger or other_logger or None, prefix, begin, stop)
        if unfinished and not whole:
            lines.torn.append(line)
        else:
            by_lead[lead or inner].append(line)
    return lines


def find_hits(text: Text, by_lead: Mapping[bytes, Sequence[Line]]) -> dict[Matcher, list[Hit]]:
    """The hits of every wording: the first that fits a line gives them; a line that only begins like an event has none."""
    hits: defaultdict[Matcher, list[Hit]] = defaultdict(list)
    for lead, lines in by_lead.items():
        left = lines
        for matcher in matchers(lead):
            if not left:
                break
            left = _try(text, matcher, left, hits[matcher])
    return {matcher: found for matcher, found in hits.items() if found}


def _try(text: Text, matcher: Matcher, lines: Sequence[Line], hits: list[Hit]) -> Sequence[Line]:
    """Adds the hits of a wording and gives back the lines that it does not fit."""
    data, match = text.data, matcher.pattern.match
    tried = [match(data, line[_BEGIN], line[_STOP]) for line in lines]
    if matcher.item_pattern is not None:
        return list(_try_items(data, matcher, lines, tried, hits))
    if matcher.tells_more:
        found = [(line, fit) for line, fit in zip(lines, tried, strict=True) if fit]
        hits += [(*line[:_HEAD], _detail(text, matcher, line, fit), *fit.groups()) for line, fit in found]
    else:
        hits += [(*line[:_HEAD], None, *fit.groups()) for line, fit in zip(lines, tried, strict=True) if fit]
    return [line for line, fit in zip(lines, tried, strict=True) if not fit] if None in tried else ()


def _try_items(
    data: bytes, matcher: Matcher, lines: Sequence[Line], tried: Sequence[Entry | None], hits: list[Hit]
) -> Iterator[Line]:
    """A line that lists things gives a hit for each of them; one that lists nothing known is left for others."""
    for line, fit in zip(lines, tried, strict=True):
        if fit is None or matcher.item_pattern is None:
            yield line
            continue
        # One of the groups is the whole list: taken once for a line, or a long list would be copied for each of its items.
        shared = (*line[:_HEAD], None, *fit.groups())
        listed = [(*shared, *item.groups()) for item in matcher.item_pattern.finditer(data, *fit.span("items"))]
        hits += listed
        if not listed:
            yield line


def _detail(text: Text, matcher: Matcher, line: Line, fit: Entry) -> str | None:
    """The message as the detail, or the reason: the rest of the message, else the next line if it begins no entry."""
    data, stop = text.data, line[_STOP]
    if matcher.event.whole_message:
        return shortened(data[fit.start() : stop])
    told = fit.groupdict().get("detail")
    reason = data[fit.end() : stop].strip()
    next_start = data.find(b"\n", line[1] - text.shift) + 1
    if not reason and next_start and not head_pattern(text.layout).match(data, next_start):
        reason = data[next_start : max(data.find(b"\n", next_start), next_start)]
    return "; ".join(shortened(part) for part in (told, reason) if part) or None
