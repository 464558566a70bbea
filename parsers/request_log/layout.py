"""What a logging layout puts before and behind a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from parsers.refusal import shorten
from parsers.request_log.fields import WrongShape

DEFAULT_PATTERN: Final = "[%d] %p %m (%c)%n"
MARKER: Final = b"Completed request:"
PREFIX_LIMIT: Final = 256
"""Bytes in front of a message that are searched; a longer prefix is no prefix."""
RESTART_LIMIT: Final = 8
"""Requests looked for inside one damaged line; bounded, because clients can write the marker into their names."""

_CONVERSION: Final = re.compile(r"%-?\d*(?:\.-?\d+)?([a-zA-Z]+)(?:\{[^}]*\})*")
_TIME: Final = rb"(?P<time>[0-9][0-9A-Za-z:,. +/-]{5,40}?)"


class Layout(Struct, frozen=True, kw_only=True):
    """A log4j or log4j2 pattern, understood as far as finding time and message needs it."""

    prefix: re.Pattern[bytes]
    pattern: str

    @property
    def words(self) -> str:
        """The pattern as a refusal names it."""
        return shorten(self.pattern)

    def time_before(self, line: bytes, message: int) -> str:
        """The time text of the prefix that ends where the message starts; WrongShape where none stands there."""
        found = self.prefix.fullmatch(line, 0, message) if message <= PREFIX_LIMIT else None
        if found is None:
            raise WrongShape(f"what the layout {self.words} puts before a request")
        return found["time"].decode("ascii")

    def time_at_start(self, line: bytes) -> str | None:
        """The time text of a line that begins with this layout's prefix."""
        found = self.prefix.match(line, 0, PREFIX_LIMIT)
        return found["time"].decode("ascii") if found else None

    def opens(self, line: bytes) -> int | None:
        """Where the message starts in a line that begins with this layout's prefix."""
        found = self.prefix.match(line, 0, PREFIX_LIMIT)
        return found.end() if found else None

    def restart(self, line: bytes) -> int | None:
        """Where another line begins inside a damaged one, as when a process died in mid-line."""
        message = line.find(MARKER, len(MARKER))
        for _ in range(RESTART_LIMIT):
            if message < 0:
                return None
            for start in range(message, max(0, message - PREFIX_LIMIT), -1):
                if self.prefix.fullmatch(line, start, message):
                    return start
            message = line.find(MARKER, message + len(MARKER))
        return None


@cache
def layout_of(pattern: str = DEFAULT_PATTERN) -> Layout:
    """The layout of a conversion pattern such as `[%d] %p %m (%c)%n`."""
    before, _, _ = _split_at_message(pattern)
    expression, position, dated = b"", 0, False
    for conversion in _CONVERSION.finditer(before):
        date = conversion[1] in ("d", "date")
        field = _TIME if date and not dated else _field(conversion[1])
        expression += re.escape(before[position : conversion.start()].encode()) + field
        position, dated = conversion.end(), dated or date
    opening = b"" if dated else rb"(?P<time>)"
    return Layout(prefix=re.compile(opening + expression + re.escape(before[position:].encode())), pattern=pattern)


def layout_among(patterns: Iterable[str], lines: Sequence[bytes]) -> Layout:
    """Of some layouts and Kafka's own, the one by which most requests begin, else most lines."""

    def fitting(layout: Layout) -> tuple[int, int]:
        ends = ((line, line.find(MARKER, 0, PREFIX_LIMIT)) for line in lines)
        requests = sum(end >= 0 and layout.prefix.fullmatch(line, 0, end) is not None for line, end in ends)
        return requests, sum(layout.opens(line) is not None for line in lines)

    return max([*map(layout_of, patterns), layout_of()], key=fitting)


def _split_at_message(pattern: str) -> tuple[str, str, str]:
    for conversion in _CONVERSION.finditer(pattern):
        if conversion[1] in ("m", "msg", "message"):
            return pattern[: conversion.start()], conversion[0], pattern[conversion.end() :]
    raise ValueError(f"layout {pattern!r} has no %m")


def _field(conversion: str) -> bytes:
    """The expression of one conversion but for the first date, whose time is told."""
    if conversion in ("p", "level", "le"):
        return rb" *(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) *"
    return rb"[^\r\n]{0,128}?"
