"""The text grammar that all of Kafka's checkpoint files share: version, count, then one entry a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from msgspec import Struct

from parsers.checkpoints.decimals import ENTRY_LIMIT, REFUSAL_LIMIT, integer
from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import Refusal

Row = TypeVar("Row")

_LINE: Final = re.compile(rb"([^\r\n]*+)(\r\n|\r|\n|\Z)")
_BLANKS: Final = re.compile(r"[ \t\x0b\f]+")
_VERSION: Final = 0
HEADER_EXPECTED: Final = "two header lines: the version 0, then the number of entries"
HEADER_MISSING: Final = "the file lacks its two header lines"


class CheckpointLine(Struct, frozen=True):
    """A line without its end, and the bytes it stands in (its end included)."""

    text: str
    start: int
    end: int

    def tokens(self) -> list[str]:
        """The tokens between blanks, as Java splits: trailing blanks vanish, a leading one leaves an empty token."""
        tokens = _BLANKS.split(self.text)
        while tokens and not tokens[-1]:
            tokens.pop()
        return tokens


def split_lines(data: bytes) -> Iterator[CheckpointLine]:
    """The lines of a file, ended by LF, CR, CRLF or the end of the file."""
    for match in _LINE.finditer(data):
        if match.end() > match.start():
            yield CheckpointLine(match[1].decode("utf-8", "replace"), match.start(), match.end())


def read_entries(
    data: bytes, origin: Origin, entry_of: Callable[[CheckpointLine, list[str]], Row | None], *, expected: str
) -> Parsed[Row]:
    """The entries of a checkpoint file. Each malformed line is refused by itself, sound ones are kept in file order."""
    lines = split_lines(data)
    version = next(lines, None)
    if version is None:
        return Parsed()
    header_refusal = _refuse_version(version, len(data), origin)
    if header_refusal:
        return Parsed(refusals=(header_refusal,))
    count_line = next(lines, None)
    if count_line is None:
        return Parsed()
    return _read_body(count_line, lines, len(data), origin, entry_of, expected)


def _refuse_version(line: CheckpointLine, size: int, origin: Origin) -> Refusal | None:
    version = integer(line.text)
    if version == _VERSION:
        return None
    if version is not None:
        return refuse(origin, "unknown_version", line.start, line.end, expected="version 0", found=line.text)
    if len(line.tokens()) > 1:
        return refuse(origin, "malformed", 0, size, expected=HEADER_EXPECTED, found=HEADER_MISSING)
    return refuse(origin, "malformed", line.start, line.end, expected=HEADER_EXPECTED, found=line.text)


def _read_body(
    count_line: CheckpointLine,
    lines: Iterator[CheckpointLine],
    size: int,
    origin: Origin,
    entry_of: Callable[[CheckpointLine, list[str]], Row | None],
    expected: str,
) -> Parsed[Row]:
    rows: list[Row] = []
    refusals: list[Refusal] = []
    count = integer(count_line.text, low=0)
    if count is None:
        refusals.append(_malformed(count_line, origin, "the number of entries"))
    seen = 0
    for line in lines:
        if len(rows) >= ENTRY_LIMIT or len(refusals) >= REFUSAL_LIMIT:
            refusals.append(_refuse_rest(line, size, origin))
            return Parsed(rows=tuple(rows), refusals=tuple(refusals))
        seen += 1
        row = entry_of(line, line.tokens())
        if row is None:
            refusals.append(_malformed(line, origin, expected))
        else:
            rows.append(row)
    if count is not None and seen != count:
        refusals.append(_refuse_count(count_line, count, seen, size, origin))
    return Parsed(rows=tuple(rows), refusals=tuple(refusals))


def _malformed(line: CheckpointLine, origin: Origin, expected: str) -> Refusal:
    return refuse(origin, "malformed", line.start, line.end, expected=expected, found=line.text)


def _refuse_rest(line: CheckpointLine, size: int, origin: Origin) -> Refusal:
    expected = f"at most {ENTRY_LIMIT} entries and {REFUSAL_LIMIT} malformed lines"
    return refuse(origin, "too_large", line.start, size, expected=expected, found="more lines, left unread")


def _refuse_count(count_line: CheckpointLine, count: int, seen: int, size: int, origin: Origin) -> Refusal:
    expected = f"{_entries(count)}, as the second line says"
    return refuse(origin, "malformed", count_line.start, size, expected=expected, found=_entries(seen))


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"
