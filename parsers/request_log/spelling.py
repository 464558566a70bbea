"""Fetches and produces as Kafka 1.0 to 2.5 printed them, spelt as JSON and read into the same structs.

Only fields that some release printed, in the shapes in which they did, are spelt: whatever else stands in a line makes
JSON that cannot be read, or that fits no struct, and the grammar reads the line instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from parsers.request_log.call import size_in_text
from parsers.request_log.fields import WrongShape
from parsers.request_log.request import TIMES, TIMES_IN_ORDER, text_times
from parsers.request_log.typed import (
    I16,
    I32,
    I64,
    NULL,
    UNFIT,
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
    Odd,
    ProduceAnswered,
    ProduceAsked,
    ProduceHeader,
    ProduceLine,
    Written,
    WrittenTopic,
)

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


class _Fetch(Struct, gc=False):
    request: _FetchAsked
    response: _FetchAnswered | None = None


class _Produce(Struct, gc=False):
    request: _ProduceAsked
    response: _ProduceAnswered | None = None


_fetch: Final = msgspec.json.Decoder(_Fetch).decode
_produce: Final = msgspec.json.Decoder(_Produce).decode
_HEADER: Final = re.compile(
    rb"RequestHeader\(apiKey=(FETCH|PRODUCE), apiVersion=(\d{1,5}), clientId=(.*?), correlationId=(-?\d{1,10})\) -- "
    rb"(?=\{)"
)
_RESPONSE: Final = b"},response:"
_CONNECTION: Final = b" from connection "
_BEHIND: Final = rb"(?=\}|,[a-z_]+=)"
_TOPIC: Final = re.compile(rb"topic=(?!(?:-?\d+|null|true|false)[,}])([A-Za-z0-9._-]+)" + _BEHIND)
_RACK: Final = re.compile(rb"rack_id=[A-Za-z0-9._-]*" + _BEHIND)
_RECORDS: Final = re.compile(rb"\},record_set=(\[\]|[^,(){}\[\]]*(?:\([^(){}]*\))?)" + _BEHIND)
_TIMES: Final = re.compile(TIMES_IN_ORDER.pattern.encode())


def spelt_fetch(data: bytes) -> FetchLine | None:
    """The fetch whose text stands behind `Completed request:`; None where it is odd."""
    try:
        told, text, place, times = _parts(data)
        fetch = _fetch(_as_json(_RACK.sub(b"rack_id=0", _records_sized(text))))
    except UNFIT:
        return None
    header = FetchHeader(told[0], "FETCH", *told[1:])
    return FetchLine(place, *times, requestHeader=header, request=fetch.request, response=fetch.response)


def spelt_produce(data: bytes) -> ProduceLine | None:
    """The same of a produce."""
    try:
        told, text, place, times = _parts(data)
        produce = _produce(_as_json(text))
    except UNFIT:
        return None
    header = ProduceHeader(told[0], "PRODUCE", *told[1:])
    return ProduceLine(place, *times, requestHeader=header, request=produce.request, response=produce.response)


def _parts(data: bytes) -> tuple[tuple[int, int, str], bytes, str, Iterable[float]]:
    """What the header tells, the request with its answer, the connection, and how long it took."""
    header = _HEADER.match(data)
    if header is None:
        raise WrongShape("a fetch or a produce in text")
    asked, end = header.end(), data.find(_RESPONSE, header.end()) + 1
    answered = end + len(_RESPONSE) - 1
    connection = data.find(_CONNECTION, answered)
    ends = connection + len(_CONNECTION)
    behind = data.find(b";", ends)
    if end == 0 or connection < 0 or behind < 0:
        raise WrongShape("an answer, a connection and times")
    version, correlation = int(header[2]), int(header[4])
    if version >= 1 << 15 or not -(1 << 31) <= correlation < 1 << 31:
        raise WrongShape("a version and a correlation id that fit their fields")
    answer = b",response=" + data[answered:connection] if connection > answered else b""
    told = (version, correlation, header[3].decode())
    text = b"{request=" + data[asked:end] + answer + b"}"
    return told, text, data[ends:behind].decode(), _times(data, ends, behind)


def _times(data: bytes, start: int, behind: int) -> Iterable[float]:
    """How long the request took, in milliseconds: as a rule each name stands once, and in order, behind `behind`."""
    told = _TIMES.match(data, behind)
    if told is not None and data.count(b"Time:", start) == len(TIMES) + 1:
        return map(float, told.groups())
    tail = data[start:].decode("utf-8", "surrogateescape")
    return (UNKNOWN if time is None else time / 1000 for time in text_times(tail))


def _records_sized(text: bytes) -> bytes:
    """Each partition's header and the size of its records as one struct."""
    return _RECORDS.sub(_size, text).replace(b"{partition_header={", b"{")


def _size(records: re.Match[bytes]) -> bytes:
    text = records[1].decode("ascii")
    size = 0 if text in ("[]", "null") else size_in_text(text)
    return b"" if size is None else b",record_set=%d" % size


def _as_json(text: bytes) -> bytes:
    """What is said without odd characters as JSON: a number or word stands as it is, a topic in quotes."""
    quoted = _TOPIC.sub(lambda topic: b'topic="%b"' % topic[1], text)
    if b" " in text or b'"' in text or b"\\" in text or b"\t" in text or b"\r" in text:
        raise WrongShape("everyday characters")
    named = quoted.replace(b"=", b'":').replace(b"{", b'{"').replace(b",", b',"')
    return named.replace(b',"{', b",{").replace(b'{"}', b"{}")
