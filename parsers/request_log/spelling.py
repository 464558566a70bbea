"""Fetches and produces as Kafka 1.0 to 2.5 printed them, spelt as JSON and read into the same structs.

Only fields that some release printed, in the shapes in which they did, are spelt: whatever else stands in a line makes
JSON that cannot be read, or that fits no struct, and the grammar reads the line instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType, field

from parsers.request_log.call import size_in_text
from parsers.request_log.fields import WrongShape
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
    FetchLine,
    ForgottenTopic,
    Header,
    Index,
    Odd,
    ProduceAnswered,
    ProduceAsked,
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
    sessionEpoch: I32 | UnsetType = UNSET
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


_fetch_asked: Final = msgspec.json.Decoder(_FetchAsked).decode
_fetch_answered: Final = msgspec.json.Decoder(_FetchAnswered).decode
_produce_asked: Final = msgspec.json.Decoder(_ProduceAsked).decode
_produce_answered: Final = msgspec.json.Decoder(_ProduceAnswered).decode
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
_ODD: Final = (b" ", b'"', b"\\", b"\t", b"\r")


def spelt_line(data: bytes) -> FetchLine | ProduceLine:
    """The fetch or produce whose text stands behind `Completed request:`; UNFIT where it is odd."""
    header = _HEADER.match(data)
    if header is None:
        raise WrongShape("a fetch or a produce in text")
    asked, end = header.end(), data.find(_RESPONSE, header.end()) + 1
    answered = end + len(_RESPONSE) - 1
    connection = data.find(_CONNECTION, answered)
    if end == 0 or connection < 0:
        raise WrongShape("an answer and a connection")
    ends = connection + len(_CONNECTION)
    place, times = data[ends : max(ends, data.find(b";", ends))].decode(), _times(data, ends)
    version, correlation = int(header[2]), int(header[4])
    if version >= 1 << 15 or not -(1 << 31) <= correlation < 1 << 31:
        raise WrongShape("a version and a correlation id that fit their fields")
    answer = data[answered:connection]
    if header[1] == b"FETCH":
        told = Header(version, "FETCH", correlation, header[3].decode())
        response = _fetch_answered(_as_json(_records_sized(answer))) if answer else None
        request = _fetch_asked(_as_json(_RACK.sub(b"rack_id=0", data[asked:end])))
        return FetchLine(told, place, *times, request=request, response=response)
    told = Header(version, "PRODUCE", correlation, header[3].decode())
    written = _produce_answered(_as_json(answer)) if answer else None
    return ProduceLine(told, place, *times, request=_produce_asked(_as_json(data[asked:end])), response=written)


def _times(data: bytes, start: int) -> Iterable[float]:
    """How long the request took, in milliseconds: as a rule each name stands once, and in order."""
    told = _TIMES.search(data, start)
    if told is not None and data.count(b"Time:", start) == len(TIMES) + 1:
        return map(float, told.groups())
    tail = data[start:].decode("utf-8", "surrogateescape")
    return (UNKNOWN if time is None else time / 1000 for time in text_times(tail))


def _records_sized(answer: bytes) -> bytes:
    """Each partition's header and the size of its records as one struct."""
    return _RECORDS.sub(_size, answer).replace(b"{partition_header={", b"{")


def _size(records: re.Match[bytes]) -> bytes:
    text = records[1].decode("ascii")
    size = 0 if text in ("[]", "null") else size_in_text(text)
    return b"" if size is None else b",record_set=%d" % size


def _as_json(text: bytes) -> bytes:
    """A struct without odd characters as JSON: a number or word stands as it is, a topic in quotes."""
    quoted = _TOPIC.sub(lambda topic: b'topic="%b"' % topic[1], text)
    if any(map(text.__contains__, _ODD)):
        raise WrongShape("everyday characters")
    named = quoted.replace(b"=", b'":').replace(b"{", b'{"').replace(b",", b',"')
    return named.replace(b',"{', b",{").replace(b'{"}', b"{}")
