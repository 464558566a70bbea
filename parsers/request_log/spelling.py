"""Fetches and produces as Kafka 1.0 to 2.5 printed them, spelt as JSON and read into the same structs.

Only fields that some release printed, in the shapes in which they did, are spelt: whatever else stands in a line makes
JSON that cannot be read, or that fits no struct, and the grammar reads the line instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from msgspec import UNSET, Raw, UnsetType, field

from parsers.request_log.call import size_in_text
from parsers.request_log.request import TIMES, TIMES_IN_ORDER, text_times
from parsers.request_log.typed import (
    I16,
    I32,
    I64,
    NULL,
    UNKNOWN,
    AnsweredOld,
    AnsweredTopic,
    Asked,
    AskedTopic,
    FetchAnswered,
    FetchAsked,
    FetchHeader,
    FetchLine,
    ForgottenTopic,
    Index,
    Line,
    Odd,
    ProduceAnswered,
    ProduceAsked,
    ProduceHeader,
    ProduceLine,
    Reader,
    Written,
    WrittenTopic,
)

Of = TypeVar("Of", bound=Line)
_ANY: Final = Raw(b"")


def _underscored(name: str) -> str:
    return re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), name)


class _Asked(Asked, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partition: Index
    fetchOffset: I64 = NULL
    currentLeaderEpoch: I32 = NULL
    logStartOffset: I64 = NULL
    maxBytes: Raw = _ANY
    partitionMaxBytes: Raw = _ANY


class _AskedTopic(AskedTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partitions: list[_Asked] = []  # type: ignore[assignment]


class _ForgottenTopic(ForgottenTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    pass


class _FetchAsked(FetchAsked, rename=_underscored, forbid_unknown_fields=True, gc=False):
    replicaId: I32 = NULL
    minBytes: I32 = NULL
    sessionId: I32 = NULL
    sessionEpoch: I32 = NULL
    topics: list[_AskedTopic] = []  # type: ignore[assignment]
    forgottenTopicsData: list[_ForgottenTopic] | UnsetType = UNSET  # type: ignore[assignment]
    forgettenTopicsData: list[_ForgottenTopic] = []  # type: ignore[assignment]
    maxWaitTime: Raw = _ANY
    maxBytes: Raw = _ANY
    isolationLevel: Raw = _ANY
    rackId: Raw = _ANY


class _Answered(AnsweredOld, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partitionIndex: Index = field(name="partition")
    errorCode: I16 = NULL
    highWatermark: I64 = NULL
    lastStableOffset: I64 = NULL
    logStartOffset: I64 = NULL
    recordsSizeInBytes: I64 = field(default=NULL, name="record_set")
    abortedTransactions: list[Raw] | None = None
    preferredReadReplica: Raw = _ANY


class _AnsweredTopic(AnsweredTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partitionResponses: list[_Answered] = []  # type: ignore[assignment]


class _FetchAnswered(FetchAnswered, rename=_underscored, forbid_unknown_fields=True, gc=False):
    errorCode: I16 = NULL
    sessionId: I32 = NULL
    responses: list[_AnsweredTopic] = []  # type: ignore[assignment]
    throttleTimeMs: Raw = _ANY


class _ProduceAsked(ProduceAsked, rename=_underscored, forbid_unknown_fields=True, gc=False):
    timeout: Raw = _ANY
    numPartitions: Raw = field(default=_ANY, name="numPartitions")


class _Written(Written, rename=_underscored, forbid_unknown_fields=True, gc=False):
    index: Index = field(name="partition")
    errorCode: I16 = NULL
    baseOffset: I64 = NULL
    logStartOffset: I64 = NULL
    logAppendTime: Raw = _ANY


class _WrittenTopic(WrittenTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    topic: str = ""
    older: Odd | UnsetType = field(default=UNSET, name="name")
    partitionResponses: list[_Written] = []  # type: ignore[assignment]


class _ProduceAnswered(ProduceAnswered, rename=_underscored, forbid_unknown_fields=True, gc=False):
    responses: list[_WrittenTopic] = []  # type: ignore[assignment]
    throttleTimeMs: Raw = _ANY


class _FetchLine(FetchLine, gc=False, kw_only=True):
    requestHeader: FetchHeader | None = None  # type: ignore[assignment]
    request: _FetchAsked
    response: _FetchAnswered | None = None


class _ProduceLine(ProduceLine, gc=False, kw_only=True):
    requestHeader: ProduceHeader | None = None  # type: ignore[assignment]
    request: _ProduceAsked
    response: _ProduceAnswered | None = None


_fetches: Final = Reader(_FetchLine)
_produces: Final = Reader(_ProduceLine)
_NUMBER: Final = rb" correlationId=(-?[0-9]{1,10})\) -- (?=\{)"
_HEADER: Final = re.compile(
    rb"RequestHeader\(apiKey=(?:FETCH|PRODUCE), apiVersion=([0-9]{1,5}), clientId=([^,]*+(?:,(?!"
    + _NUMBER + rb")[^,]*+)*+)," + _NUMBER
)  # fmt: skip
_RESPONSE: Final = b"},response:"
_CONNECTION: Final = b" from connection "
_BEHIND: Final = rb"(?=\}|,[a-z_]+=)"
_TOPIC: Final = re.compile(rb"topic=(?!(?:-?[0-9]+|null|true|false)[,}])([A-Za-z0-9._-]++)" + _BEHIND)
_RACK: Final = re.compile(rb"rack_id=[A-Za-z0-9._-]*" + _BEHIND)
_RECORDS: Final = re.compile(rb"\},record_set=(\[\]|[^,(){}\[\]]*(?:\([^(){}]*\))?)" + _BEHIND)
_ODD: Final = (b" ", b'"', b"\\", b"\t", b"\r")
_TIMES: Final = re.compile(TIMES_IN_ORDER.pattern.encode())
_DURATIONS: Final = tuple(name + "Ms" for name in TIMES)
_TIMED: Final = b"{request=%b%b" + "".join(f",{name}=%b" for name in _DURATIONS).encode() + b"}"


class _Parts(NamedTuple):
    """A request with its answer and times, not yet spelt, and what stands around them."""

    text: bytes
    version: int
    correlation: int
    client: str
    connection: str
    times: Sequence[float]
    """Those that are not in the text, as their names stand otherwise than in order."""


def spelt_fetches(texts: Sequence[bytes]) -> list[_FetchLine | None]:
    """The fetches whose texts stand behind `Completed request:`; None where one is odd."""
    parts = [_parts(text) for text in texts]
    sized = _RECORDS.sub(_size, _joined(parts)).replace(b"{partition_header={", b"{")
    lines = _lines(_fetches, _RACK.sub(b"rack_id=0", sized), parts)
    for line, part in zip(lines, parts, strict=True):
        if line and part:
            line.requestHeader = FetchHeader(part.version, "FETCH", part.correlation, part.client)
    return lines


def spelt_produces(texts: Sequence[bytes]) -> list[_ProduceLine | None]:
    """The same of produces."""
    parts = [_parts(text) for text in texts]
    lines = _lines(_produces, _joined(parts), parts)
    for line, part in zip(lines, parts, strict=True):
        if line and part:
            line.requestHeader = ProduceHeader(part.version, "PRODUCE", part.correlation, part.client)
    return lines


def _parts(data: bytes) -> _Parts | None:
    """The parts of a line that has an answer, a connection and times, and whose numbers fit their fields."""
    header = _HEADER.match(data)
    if header is None:
        return None
    asked = header.end()
    end = data.find(_RESPONSE, asked) + 1
    answered = end + len(_RESPONSE) - 1
    connection = data.find(_CONNECTION, answered)
    ends = connection + len(_CONNECTION)
    behind = data.find(b";", ends)
    version, correlation = int(header[1]), int(header[4])
    if end == 0 or connection < 0 or behind < 0 or version >= 1 << 15 or not -(1 << 31) <= correlation < 1 << 31:
        return None
    try:
        names = header[2].decode(), data[ends:behind].decode()
    except UnicodeDecodeError:
        return None
    answer = b",response=" + data[answered:connection] if connection > answered else b""
    times = _TIMES.match(data, behind)
    # As a rule each name stands once, and in order.
    if times is not None and data.count(b"Time:", ends) == len(TIMES) + 1:
        text = _TIMED % (data[asked:end], answer, *times.groups())
        return _Parts(text, version, correlation, *names, ())
    told = text_times(data[ends:].decode("utf-8", "surrogateescape"))
    durations = [UNKNOWN if time is None else time / 1000 for time in told]
    return _Parts(b"{request=%b%b}" % (data[asked:end], answer), version, correlation, *names, durations)


def _joined(parts: Sequence[_Parts | None]) -> bytes:
    return b"\n".join(part.text for part in parts if part)


def _size(records: re.Match[bytes]) -> bytes:
    """A partition's header goes on to the size of its records: they are one struct. An odd text leaves its line odd."""
    text = records[1].decode("ascii", "replace")
    size = 0 if text in ("[]", "null") else size_in_text(text)
    return _ODD[0] if not text.isascii() else b"" if size is None else b",record_set=%d" % size


def _is_odd(text: bytes) -> bool:
    return any(letter in text for letter in _ODD)


def _lines(reader: Reader[Of], joined: bytes, parts: Sequence[_Parts | None]) -> list[Of | None]:
    """The lines of some parts but for their headers.

    What is said without odd characters is JSON: a number or word stands as it is, a topic in quotes.
    """
    if _is_odd(joined):
        joined = b"\n".join(b"" if _is_odd(text) else text for text in joined.split(b"\n"))
    quoted = _TOPIC.sub(lambda topic: b'topic="%b"' % topic[1], joined)
    named = quoted.replace(b"=", b'":').replace(b"{", b'{"').replace(b",", b',"')
    spelt = named.replace(b',"{', b",{").replace(b'{"}', b"{}")
    read = iter(reader.structs(spelt, spelt.split(b"\n")))
    lines = [next(read) if part else None for part in parts]
    for line, part in zip(lines, parts, strict=True):
        if line and part:
            line.connection = part.connection
            for name, time in zip(_DURATIONS, part.times, strict=False):
                setattr(line, name, time)
    return lines
