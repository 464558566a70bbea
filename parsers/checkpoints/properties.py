"""Java properties text: server.properties and the ground that meta.properties stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from parsers.checkpoints.decimals import INT32_MAX, REFUSAL_LIMIT, integer
from parsers.provenance import Origin, Span
from parsers.refusal import Parsed, refuse
from parsers.tables import BrokerSetting, Refusal
from parsers.tables.secrets import shown

# Java reads properties as Latin-1, so a character is a byte and offsets in the text are offsets in the file.
_LINE: Final = re.compile(r"([^\r\n]*+)(\r\n|\r|\n|\Z)")
_KEY: Final = re.compile(r"((?:[^\\=: \t\f]|\\.)*+)[ \t\f]*+[=:]?[ \t\f]*+", re.DOTALL)
_PIECE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)|[^\\]+|\\\Z", re.DOTALL)
_SPECIAL: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANKS: Final = " \t\f"
PROPERTIES_LIMIT: Final = 1 << 20


class Property(Struct, frozen=True, kw_only=True):
    """One key and its value, unescaped, and the bytes they stand in."""

    key: str
    value: str
    span_start: int
    span_end: int


class PropertiesFile(Struct, frozen=True, kw_only=True):
    """The entries of a properties file in file order; of two with one key Java believes the last.

    Values may hold credentials: print none that was not asked for.
    """

    source: str
    entries: tuple[Property, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def find(self, key: str) -> Property | None:
        """The entry that counts for a key."""
        return next((entry for entry in reversed(self.entries) if entry.key == key), None)

    def get(self, key: str) -> str | None:
        """The value of a key, without surrounding blanks, as Kafka's config reads it."""
        entry = self.find(key)
        return None if entry is None else entry.value.strip()

    def integer(self, key: str) -> int | None:
        """The value of a key as a number; None where it is absent or no 64-bit number."""
        text = self.get(key)
        return None if text is None else integer(text)

    def span(self, key: str) -> Span | None:
        """The address of the entry that counts for a key."""
        entry = self.find(key)
        return None if entry is None else Span(source=self.source, start=entry.span_start, end=entry.span_end)


def read_properties(data: bytes, origin: Origin) -> PropertiesFile:
    """A properties file by Java's grammar: comments, continued lines, `=`, `:` or a blank as separator, escapes."""
    if len(data) > PROPERTIES_LIMIT:
        expected = f"at most {PROPERTIES_LIMIT} bytes of properties"
        refusal = refuse(origin, "too_large", 0, len(data), expected=expected, found=f"{len(data)} bytes")
        return PropertiesFile(source=origin.source, refusals=(refusal,))
    entries: list[Property] = []
    refusals: list[Refusal] = []
    for text, start, end in _logical_lines(data.decode("latin-1")):
        if len(refusals) >= REFUSAL_LIMIT:
            found = "more malformed lines, left unread"
            refusals.append(refuse(origin, "malformed", start, len(data), expected="properties", found=found))
            break
        match = _KEY.match(text)
        key, value = (_unescape(text[: match.end(1)]), _unescape(text[match.end() :])) if match else (None, None)
        if key is None or value is None:
            expected = "four hexadecimal digits after a backslash and u"
            refusals.append(refuse(origin, "malformed", start, end, expected=expected, found=text))
        else:
            entries.append(Property(key=key, value=value, span_start=start, span_end=end))
    return PropertiesFile(source=origin.source, entries=tuple(entries), refusals=tuple(refusals))


def read_server_properties(data: bytes, origin: Origin) -> Parsed[BrokerSetting]:
    """The settings of a broker's own file, each once, as of no known time; the file's own id outweighs its place."""
    file = read_properties(data, origin)
    ids = (file.integer(key) for key in ("node.id", "broker.id"))
    broker = next((number for number in ids if number is not None and 0 <= number <= INT32_MAX), origin.broker)
    last = {entry.key: entry for entry in file.entries}
    rows = tuple(
        BrokerSetting(
            cluster_id=origin.cluster_id,
            broker=broker if broker is None or broker >= 0 else None,
            log_dir=origin.log_dir,
            topic=None,
            topic_id=None,
            partition=None,
            time_text=None,
            name=entry.key,
            value=shown(entry.key, entry.value.strip()),
            source=origin.source,
            span_start=entry.span_start,
            span_end=entry.span_end,
        )
        for entry in last.values()
    )
    return Parsed(rows=rows, refusals=file.refusals)


def _logical_lines(text: str) -> Iterator[tuple[str, int, int]]:
    """Lines that hold an entry, continuations joined: a line that ends in a lone backslash goes on in the next."""
    pieces: list[str] = []
    start = 0
    for match in _LINE.finditer(text):
        if match.end() == match.start():
            continue
        line = match[1].lstrip(_BLANKS)
        if not pieces:
            start = match.start()
            if not line or line[0] in "#!":
                continue
        continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        pieces.append(line[:-1] if continued else line)
        if not continued or match.end() == len(text):
            yield "".join(pieces), start, match.end()
            pieces = []


def _unescape(text: str) -> str | None:
    """Text with its escapes resolved; None where a backslash and u are not followed by four digits."""
    if "\\" not in text:
        return text
    pieces = [_character(match[1]) if match[1] else match[0] for match in _PIECE.finditer(text)]
    return None if None in pieces else "".join(piece for piece in pieces if piece is not None)


def _character(escape: str) -> str | None:
    if escape == "u":
        return None
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return _SPECIAL.get(escape, escape)
