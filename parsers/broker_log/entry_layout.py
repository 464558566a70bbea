"""log4j pattern layouts, turned into patterns that find where an entry begins and where its message ends."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from msgspec import Struct

DEFAULT_PATTERN: Final = "[%d] %p %m (%c)%n"
USUAL_PATTERNS: Final = (DEFAULT_PATTERN, "%d{ISO8601} %p %m (%c) [%t]%n")
"""As Kafka's own configuration and most images lay out entries, and as Strimzi does."""
_LEVELS: Final = r"(?P<level>[A-Z]{4,5}+)"
_CONVERSION: Final = re.compile(r"%(?P<flags>-?\d*)(?:\.-?\d+)?(?P<name>[A-Za-z]+|%)(?P<options>(?:\{[^}]*\})*)")
_NAMES: Final[dict[str, str]] = {
    "d": "date", "date": "date", "p": "level", "level": "level", "m": "message", "msg": "message", "message": "message",
    "c": "logger", "logger": "logger", "n": "newline", "%": "percent", "ex": "nothing", "xEx": "nothing", "rEx": "nothing",
    "throwable": "nothing", "exception": "nothing", "t": "field", "tn": "field", "thread": "field", "threadName": "field",
    "C": "field", "class": "field", "F": "field", "file": "field", "M": "field", "method": "field", "l": "field",
    "location": "field", "x": "field", "NDC": "field", "X": "field", "mdc": "field", "MDC": "field", "T": "field",
    "tid": "field", "pid": "field", "L": "digits", "line": "digits", "r": "digits", "relative": "digits",
}  # fmt: skip
_DATES: Final[dict[str, str]] = {
    "": "yyyy-MM-dd HH:mm:ss,SSS", "ISO8601": "yyyy-MM-dd HH:mm:ss,SSS", "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "ABSOLUTE": "HH:mm:ss,SSS", "DATE": "dd MMM yyyy HH:mm:ss,SSS", "COMPACT": "yyyyMMddHHmmssSSS",
    "ISO8601_PERIOD": "yyyy-MM-dd'T'HH:mm:ss.SSS", "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX", "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    "UNIX": "nnnnnnnnnn", "UNIX_MILLIS": "nnnnnnnnnnnnn",
}  # fmt: skip
_DATE_PIECE: Final = re.compile(r"'(?P<quoted>[^']*)'|(?P<letters>([A-Za-z])\3*)|(?P<fixed>[^A-Za-z'])")


class LayoutError(ValueError):
    """A pattern layout from which an entry's parts cannot be told."""


class EntryLayout(Struct, frozen=True):
    """How entries are laid out: a pattern of what stands before the message, and what stands behind it."""

    head: str
    """What stands before the message, with groups `time`, `level`, `logger`, empty where the layout has none."""
    opening: bytes
    """The fixed text with which every entry begins; empty where it begins with a field."""
    tail_opening: bytes = b""
    tail: re.Pattern[bytes] | None = None

    def tail_of(self, tail: bytes) -> tuple[bytes | None, bool]:
        """The logger in what may stand behind a message, and whether it is all that stands there."""
        match = self.tail.match(tail) if self.tail else None
        logger = match["logger"] if match and "logger" in match.re.groupindex else None
        if match is None or (logger and b" " in logger.strip()):
            return None, False
        return logger, True


@cache
def parse_layout(pattern: str = DEFAULT_PATTERN) -> EntryLayout:
    """The layout of a log4j `PatternLayout` (version 1 or 2).

    Raises:
        LayoutError: where the pattern has no message, or two fields stand so that nothing tells where one ends.
    """
    pieces = _pieces(pattern)
    names = [name for name, _ in pieces]
    if names.count("message") != 1:
        raise LayoutError(f"a layout has one %m: {pattern}")
    if "date" not in names[: names.index("message")] and "level" not in names[: names.index("message")]:
        raise LayoutError(f"a layout has %d or %p before %m, or nothing tells where an entry begins: {pattern}")
    at = names.index("message")
    if any(part.count(name) > 1 for part in (names[:at], names[at:]) for name in ("date", "level", "logger")):
        raise LayoutError(f"a layout tells time, level and logger once before %m and once behind it: {pattern}")
    tail = _tail(pieces[at + 1 :], pattern)
    opening = pieces[0][1].encode() if pieces[0][0] == "text" else b""
    head = "".join(_expressions(pieces[:at], pattern))
    absent = "".join(f"(?P<{name}>)" for name in ("time", "level", "logger") if f"(?P<{name}>" not in head)
    return EntryLayout(head + absent, opening, tail[0], tail[1])


def _pieces(pattern: str) -> list[tuple[str, str]]:
    """The pattern as (kind, text or option) pairs; fixed text has the kind `text`."""
    pieces: list[tuple[str, str]] = []
    position = 0
    for match in _CONVERSION.finditer(pattern):
        if match.start() > position:
            pieces.append(("text", pattern[position : match.start()]))
        name, rest = _known_name(match["name"])
        position = match.end() if not rest else match.end("name") - len(rest)
        kind = _NAMES.get(name)
        if kind is None:
            raise LayoutError(f"unknown conversion %{name} in {pattern}; known are %d, %p, %c, %m, %t and the like")
        if kind == "percent":
            pieces.append(("text", "%"))
        elif kind not in ("newline", "nothing"):
            pieces.append((kind, _option(kind, match, followed=bool(rest))))
    if position < len(pattern):
        pieces.append(("text", pattern[position:]))
    return pieces


def _option(kind: str, match: re.Match[str], *, followed: bool) -> str:
    """What a conversion was given that counts: the format of a date, unless letters stand before it, or a width."""
    if kind != "date":
        return match["flags"]
    return "" if followed else match["options"]


def _known_name(letters: str) -> tuple[str, str]:
    """The longest known conversion at the start of letters, and the letters behind it that are plain text."""
    for length in range(len(letters), 0, -1):
        if letters[:length] in _NAMES:
            return letters[:length], letters[length:]
    return letters, ""


def _expressions(pieces: list[tuple[str, str]], pattern: str) -> list[str]:
    following = [text for _, text in pieces[1:]] + [""]
    kinds = [kind for kind, _ in pieces[1:]] + [""]
    return [
        _expression(kind, text, after if after_kind == "text" else "", pattern)
        for (kind, text), after_kind, after in zip(pieces, kinds, following, strict=True)
    ]


def _expression(kind: str, text: str, after: str, pattern: str) -> str:
    """One piece of the layout; a free field ends where the fixed text behind it begins."""
    if kind == "text":
        return re.escape(text)
    if kind == "date":
        return f"(?P<time>{_date(text)})"
    if kind == "level":
        return rf"\ {{0,16}}+{_LEVELS}\ {{0,16}}?" if text else _LEVELS
    if kind == "digits":
        return r"\ {0,16}+[0-9]{1,19}+\ {0,16}?"
    if not after:
        raise LayoutError(f"nothing fixed stands behind a field of {pattern}")
    field = rf"[^{re.escape(after[0])}\n]{{0,256}}" + (r"\ {0,16}?" if after[0] != " " else "")
    return f"(?P<logger>{field})" if kind == "logger" else field


def _tail(pieces: list[tuple[str, str]], pattern: str) -> tuple[bytes, re.Pattern[bytes] | None]:
    """What stands behind the message: its first fixed text, and a pattern of all of it up to the end of the line."""
    if not pieces:
        return b"", None
    if pieces[0][0] != "text":
        raise LayoutError(f"nothing fixed stands between %m and a field of {pattern}")
    ends_in_field = pieces[-1][0] in ("logger", "field")
    body = _expressions(pieces[:-1] if ends_in_field else pieces, pattern)
    if ends_in_field:
        body.append(r"(?P<logger>[\w.$\-]{1,256}+)" if pieces[-1][0] == "logger" else r"\S{0,256}+")
    return pieces[0][1].encode(), re.compile(("".join(body) + r"\Z").encode())


def _date(options: str) -> str:
    """The pattern of a date; dates of fixed length and known characters become one run, which is found fastest."""
    run = _date_run(options)
    if run is not None:
        return rf"[0-9{re.escape(run[0])}]{{{run[1]}}}+"
    return "".join(text if not length else _fixed_part(text, length) for text, length in _date_parts(options))


def _date_run(options: str) -> tuple[str, int] | None:
    """The characters besides digits of a date of fixed length, and that length."""
    parts = _date_parts(options)
    if not all(length for _, length in parts):
        return None
    characters = {character for text, _ in parts for character in text if not text.startswith("\\d")}
    return "".join(sorted(characters)), sum(length for _, length in parts)


def _date_parts(options: str) -> list[tuple[str, int]]:
    name = options[1 : options.index("}")] if options else ""
    return [_date_part(match) for match in _DATE_PIECE.finditer(_DATES.get(name, name))]


def _fixed_part(text: str, length: int) -> str:
    return rf"\d{{{length}}}" if text == r"\d" else re.escape(text)


def _date_part(match: re.Match[str]) -> tuple[str, int]:
    """A piece of a date format: its characters and its length, 0 for a piece of no fixed length (then a pattern)."""
    if match["quoted"] is not None:
        return match["quoted"] or "'", len(match["quoted"]) or 1
    if match["fixed"]:
        return match["fixed"], 1
    letters = match["letters"]
    if letters[0] in "yuMdHhkKmsSnDAN" and not (letters[0] == "M" and len(letters) > 2) and len(letters) > 1:
        return r"\d", len(letters)
    if letters[0] in "MLEGa":
        return r"[^\W\d]{1,12}+\.?+", 0
    if letters[0] in "zZXxVOv":
        return r"[\w:+\-/]{1,40}+", 0
    return r"\d{1,9}+", 0
