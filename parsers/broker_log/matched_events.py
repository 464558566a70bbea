"""The events of a block of lines: all lines that begin alike are tried together, one wording after the other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field

from parsers.broker_log.catalogue import SETTINGS_LEAD, Matcher, head_pattern, matchers, scan_pattern, shortened
from parsers.broker_log.entry_blocks import Block
from parsers.broker_log.entry_layout import EntryLayout
from parsers.broker_log.event_batches import Head, Hit

Entry: TypeAlias = re.Match[bytes]
Line: TypeAlias = tuple[int, int, int]
"""Which of the lines it is; where its message begins and ends in the text."""
_PARTS: Final = ("time", "level", "logger", "prefix", "inner", "lead")
_CARRIAGE_RETURN: Final = 13


class SearchedText(Struct, frozen=True, kw_only=True):
    """A block with a line end set before it, so that every line has one."""

    data: bytes
    shift: int
    """What to add to a position in the data for its byte in the file."""
    last: int
    """Entries that begin here or later are for whoever reads the next range."""
    layout: EntryLayout


class Lines(Struct, frozen=True, kw_only=True):
    """The lines of a text that may say something."""

    heads: list[Head] = field(default_factory=list)
    """What stands around their messages, in order."""
    by_lead: defaultdict[bytes, list[Line]] = field(default_factory=lambda: defaultdict(list))
    """By what their messages begin with."""
    settings: list[Entry] = field(default_factory=list)
    """Lines with which a block of settings begins."""
    torn: list[Head] = field(default_factory=list)
    """The line at the end of the file that has neither line end nor the layout's last part."""


def text_of(block: Block, layout: EntryLayout, end: int | None) -> SearchedText:
    """The text of a block that is read up to byte `end` of the file."""
    data = b"\n" + block.data
    shift = block.offset - 1
    return SearchedText(data=data, shift=shift, last=len(data) if end is None else end - shift, layout=layout)


def find_lines(text: SearchedText) -> Lines:
    """Every line that begins an entry whose message may be an event, or the settings of a start."""
    data, shift, last, size = text.data, text.shift, text.last, len(text.data)
    scan, tails, opening, rfind = scan_pattern(text.layout), _Tails(text.layout), text.layout.tail_opening, data.rfind
    parts, message = [scan.groupindex[name] for name in _PARTS], scan.groupindex["message"]
    lines = Lines()
    heads, by_lead = lines.heads, lines.by_lead
    for entry in scan.finditer(data):
        time, level, other_logger, prefix, inner, lead = entry.group(*parts)
        start = entry.start() + 1
        if start >= last:
            break
        if lead == SETTINGS_LEAD:
            lines.settings.append(entry)
            continue
        begin, end = entry.span(message)
        unfinished = end == size
        end -= data[end - 1] == _CARRIAGE_RETURN
        tail = rfind(opening, begin, end)
        logger, whole = tails[data[tail:end]]
        head = (shift + start, shift + end, time or None, level or None, logger or other_logger or None, prefix)
        if unfinished and not whole:
            lines.torn.append(head)
        else:
            by_lead[lead or inner].append((len(heads), begin, tail if whole else end))
            heads.append(head)
    return lines


class _Tails(dict[bytes, tuple[bytes | None, bool]]):
    """What stands behind messages: the logger, and whether it is all. Few tails of a block differ, each is looked at once."""

    def __init__(self, layout: EntryLayout) -> None:
        super().__init__()
        self._layout = layout

    def __missing__(self, tail: bytes) -> tuple[bytes | None, bool]:
        self[tail] = found = self._layout.tail_of(tail)
        return found


def find_hits(text: SearchedText, lines: Lines) -> dict[Matcher, list[Hit]]:
    """The hits of every wording: the first that fits a line gives them; a line that only begins like an event has none."""
    hits: defaultdict[Matcher, list[Hit]] = defaultdict(list)
    for lead, begun in lines.by_lead.items():
        left: Sequence[Line] = begun
        for matcher in matchers(lead):
            if not left:
                break
            left = _try(text, matcher, left, hits[matcher])
    return {matcher: found for matcher, found in hits.items() if found}


def _try(text: SearchedText, matcher: Matcher, lines: Sequence[Line], hits: list[Hit]) -> Sequence[Line]:
    """Adds the hits of a wording and gives back the lines that it does not fit."""
    data, match = text.data, matcher.pattern.match
    tried = [match(data, begin, stop) for _, begin, stop in lines]
    if matcher.item_pattern is not None:
        return list(_try_items(data, matcher.item_pattern, lines, tried, hits))
    found = [(line, fit) for line, fit in zip(lines, tried, strict=True) if fit]
    if "reason" in matcher.holes:
        hits += [(line[0], *fit.groups(), _detail(text, matcher, line, fit)) for line, fit in found]
    else:
        hits += [(line[0], *fit.groups()) for line, fit in found]
    return [line for line, fit in zip(lines, tried, strict=True) if not fit] if None in tried else ()


def _try_items(
    data: bytes, item: re.Pattern[bytes], lines: Sequence[Line], tried: Sequence[Entry | None], hits: list[Hit]
) -> Iterator[Line]:
    """A line that lists things gives a hit for each of them; one that lists nothing known is left for others."""
    for line, fit in zip(lines, tried, strict=True):
        if fit is None:
            yield line
            continue
        # One of the groups is the whole list: taken once for a line, or a long list would be copied for each of its items.
        shared = (line[0], *fit.groups())
        listed = [(*shared, *found.groups()) for found in item.finditer(data, *fit.span("items"))]
        hits += listed
        if not listed:
            yield line


def _detail(text: SearchedText, matcher: Matcher, line: Line, fit: Entry) -> str | None:
    """The message as the detail, or the reason: the rest of the message, else the next line if it begins no entry."""
    data, (_, begin, stop) = text.data, line
    if matcher.event.whole_message:
        return shortened(data[begin:stop])
    detail = fit.groupdict().get("detail")
    reason = data[fit.end() : stop].strip()
    next_start = data.find(b"\n", stop) + 1
    if not reason and next_start and not head_pattern(text.layout).match(data, next_start):
        reason = data[next_start : max(data.find(b"\n", next_start), next_start)]
    return "; ".join(shortened(part) for part in (detail, reason) if part) or None
