"""Requests that say word for word what another said: a broker tells one client after the other who leads.

Only the words of which a request and its answer consist are compared, and only of lines in which nothing else can tell
what they tell: a line of any other form is parsed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from parsers.request_log.fields import WrongShape
from parsers.request_log.layout import MARKER, Layout
from parsers.request_log.lines import Line
from parsers.tables.requests import IsrRequest

LONGEST: Final = 1 << 16
MOST: Final = 256
"""Requests that are kept, and how long each may be: 16 MiB at most."""
_PREFIX: Final = 32
"""Bytes before a message of the default layout."""
_MESSAGE: Final = _PREFIX + len(MARKER)
_APIS: Final = rb"(METADATA|LEADER_AND_ISR)"
_TEXT: Final = re.compile(
    rb"RequestHeader\(apiKey=" + _APIS + rb", apiVersion=(\d{1,4}), clientId=[ -~]*?, correlationId=(-?\d{1,10})\) -- "
)
_TEXT_END: Final = b" from connection "
_WORD: Final = rb'"[ !#-\[\]-~]*"'
_NUMBER: Final = rb"(?:0|[1-9]\d{0,8})(?:\.\d{1,9})?"
_JSON: Final = re.compile(
    rb'\{"isForwarded":(?:true|false),"requestHeader":\{"requestApiKey":\d,"requestApiVersion":(?P<version>\d{1,4}),'
    rb'"correlationId":(?P<id>0|-?[1-9]\d{0,9}),"clientId":(?:null|' + _WORD + rb'),"requestApiKeyName":"'
    + _APIS + rb'"(?:,"requestApiVersionDeprecated":(?:true|false))?\},'
)  # fmt: skip
_JSON_END: Final = b',"connection":"'
_JSON_TAIL: Final = re.compile(
    rb',"connection":' + _WORD + rb'(?:,"[a-zA-Z]+(?:Ms|Bytes|Time)":' + _NUMBER
    + rb'|,"(?:securityProtocol|principal|listener)":' + _WORD
    + rb'|,"clientInformation":\{"softwareName":' + _WORD + rb',"softwareVersion":' + _WORD
    + rb"\})*\} \(kafka\.request\.logger\)"
)  # fmt: skip


class Again(NamedTuple):
    """A request that says what another said: its rows, but for when it was and where it stands."""

    rows: tuple[IsrRequest, ...]
    time_text: str
    start: int
    end: int


class Alike:
    """What requests said of late."""

    __slots__ = ("_kept", "_layout")

    def __init__(self, layout: Layout) -> None:
        self._kept: dict[bytes, tuple[IsrRequest, ...]] = {}
        self._layout = layout

    def find(self, line: Line, words: bytes) -> Again | None:
        """What a line of such words says, if another said it."""
        rows = self._kept.get(words)
        if rows is None:
            return None
        try:
            return Again(rows, self._layout.time_before(line.data, _PREFIX), line.start, line.end)
        except WrongShape:
            return None

    def keep(self, words: bytes, rows: tuple[IsrRequest, ...]) -> None:
        """What a line of such words was found to say."""
        if len(self._kept) >= MOST:
            self._kept.pop(next(iter(self._kept)))
        self._kept[words] = rows


def words_of(line: Line) -> bytes | None:
    """Name, version, request and answer in a line's own words; None where another form might hide others."""
    data = line.data
    if not line.whole or len(data) > LONGEST or not data.startswith(MARKER, _PREFIX):
        return None
    if data.startswith(b"{", _MESSAGE):
        head, end = _JSON.match(data, _MESSAGE), data.find(_JSON_END)
        if head is None or end < head.end() or b"\\" in data or _JSON_TAIL.fullmatch(data, end) is None:
            return None
        named = head[3] + head["version"]
        number = head["id"]
    else:
        head, end = _TEXT.match(data, _MESSAGE), data.find(_TEXT_END)
        if head is None or end < head.end() or data.rfind(_TEXT_END) != end:
            return None
        named, number = head[1] + head[2], head[3]
    fits = -(1 << 31) <= int(number) < 1 << 31
    return named + b" " + data[head.end() : end] if fits else None
