"""Requests that say word for word what another said: a broker tells one client after the other who leads.

Followers that ask again and again, and orders and proposals that are repeated, are told in the same way.

Only the words of which a request and its answer consist are compared, and only of lines in which nothing else can tell
what they tell: a line of any other form is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from parsers.request_log.fields import WrongShape
from parsers.request_log.layout import MARKER, Layout
from parsers.request_log.lines_of_range import Line
from parsers.request_log.request import microseconds, text_times
from parsers.tables.requests import EpochRequest, IsrRequest, OffsetRequest

Worded: TypeAlias = EpochRequest | OffsetRequest | IsrRequest
"""What alone is told by requests of the kinds that are compared."""
MOST_ROWS: Final = 1 << 15
"""Rows that are kept, of the requests that were met last: some 20 MB. Of their words only digests are."""
_TOLD_TO_CLIENTS: Final = b"METADATA"
_PREFIX: Final = 32
"""Bytes before a message of the default layout."""
_MESSAGE: Final = _PREFIX + len(MARKER)
_APIS: Final = rb"(METADATA|LEADER_AND_ISR|ALTER_PARTITION|ALTER_ISR|LIST_OFFSETS|OFFSETS?_FOR_LEADER_EPOCH)"
_TEXT: Final = re.compile(
    rb"RequestHeader\(apiKey=" + _APIS
    + rb", apiVersion=(\d{1,4}), clientId=([ -~]*?), correlationId=(-?\d{1,10})\) -- "
)  # fmt: skip
_TEXT_END: Final = b" from connection "
_WORD: Final = rb'"[ !#-\[\]-~]*"'
_NUMBER: Final = rb"(?:0|[1-9]\d{0,8})(?:\.\d{1,9})?"
_JSON: Final = re.compile(
    rb'\{"isForwarded":(?:true|false),"requestHeader":\{"requestApiKey":(?P<key>\d{1,2}),"requestApiVersion":(?P<version>\d{1,4}),'
    rb'"correlationId":(?P<id>0|-?[1-9]\d{0,9}),"clientId":(?P<client>null|' + _WORD + rb'),"requestApiKeyName":"'
    + _APIS + rb'"(?:,"requestApiVersionDeprecated":(?:true|false))?\},'
)  # fmt: skip
_JSON_END: Final = b',"connection":"'
_JSON_TAIL: Final = re.compile(
    rb',"connection":' + _WORD + rb'(?:,"[a-zA-Z]+(?:Ms|Bytes|Time)":' + _NUMBER
    + rb'|,"(?:securityProtocol|principal|listener)":' + _WORD
    + rb'|,"clientInformation":\{"softwareName":' + _WORD + rb',"softwareVersion":' + _WORD
    + rb"\})*\} \(kafka\.request\.logger\)"
)  # fmt: skip
_TOTAL: Final = re.compile(rb',"totalTimeMs":(' + _NUMBER + rb")")
_TEXT_TOTAL: Final = re.compile(rb";totalTime:(\d{1,15}(?:\.\d{1,12})?)[, ]")


class LineDigest(NamedTuple):
    """Name, version, client, request and answer of a line, by their digest."""

    digest: bytes
    tail: int
    """Where the line says how long it took."""
    clients: bool
    """Whether clients are told: nobody asks how long that took."""


class Again(NamedTuple):
    """A request that says what another said: its rows, but for when it was, how long it took and where it stands."""

    rows: tuple[Worded, ...]
    time_text: str
    total_time_us: int | None
    start: int
    end: int


class SaidBefore:
    """What requests said of late."""

    __slots__ = ("_kept", "_layout", "_rows")

    def __init__(self, layout: Layout) -> None:
        self._kept: dict[bytes, tuple[Worded, ...]] = {}
        self._rows = 0
        self._layout = layout

    def find(self, line: Line, words: LineDigest) -> Again | None:
        """What a line of such words says, if another said it."""
        rows = self._kept.pop(words.digest, None)
        if rows is None:
            return None
        # What is met again is thereby the last to be forgotten.
        self._kept[words.digest] = rows
        try:
            time_text = self._layout.time_before(line.data, _PREFIX)
        except WrongShape:
            return None
        total_time = None if words.clients else _total_time(line.data, words.tail)
        return Again(rows, time_text, total_time, line.start, line.end)

    def keep(self, words: LineDigest, rows: Sequence[Worded]) -> None:
        """What a line of such words was found to say."""
        if len(rows) >= MOST_ROWS:
            return
        self._rows += 1 + len(rows)
        while self._rows > MOST_ROWS:
            self._rows -= 1 + len(self._kept.pop(next(iter(self._kept))))
        self._kept[words.digest] = tuple(rows)


def _total_time(data: bytes, tail: int) -> int | None:
    """How long a request took, as its line tells."""
    if data.startswith(b"{", _MESSAGE):
        found = _TOTAL.findall(data, tail)
        return microseconds(float(found[-1])) if found else None
    once = _TEXT_TOTAL.search(data, tail) if data.count(b"totalTime:", tail) == 1 else None
    if once is not None:
        return microseconds(float(once[1]))
    return text_times(data[tail:].decode("utf-8", "surrogateescape")).total


def words_of(line: Line) -> LineDigest | None:
    """A line's own words; None where another form might hide others."""
    data = line.data
    if not line.whole or not data.startswith(MARKER, _PREFIX):
        return None
    if data.startswith(b"{", _MESSAGE):
        head, end = _JSON.match(data, _MESSAGE), data.find(_JSON_END)
        if head is None or end < head.end() or b"\\" in data or _JSON_TAIL.fullmatch(data, end) is None:
            return None
        name, number, tail = head[5], head["id"], end
        said, client = head["key"] + b" " + head["version"], head["client"]
    else:
        head, end = _TEXT.match(data, _MESSAGE), data.find(_TEXT_END)
        if head is None or end < head.end() or data.rfind(_TEXT_END) != end:
            return None
        name, said, client, number = head.groups()
        tail = end + len(_TEXT_END)
    if not -(1 << 31) <= int(number) < 1 << 31:
        return None
    clients = name == _TOLD_TO_CLIENTS
    asker = b"" if clients else b"%d %b" % (len(client), client)
    digest = blake2b(b"%b %b %b " % (name, said, asker), digest_size=16)
    digest.update(memoryview(data)[head.end() : end])
    return LineDigest(digest.digest(), tail, clients)
