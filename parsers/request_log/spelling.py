"""Fetches and produces as Kafka 1.0 to 2.5 printed them, spelt as JSON and read into the same structs.

Only fields that some release printed, in the shapes in which they did, are spelt: whatever else stands in a line makes
JSON that cannot be read, or that fits no struct, and the grammar reads the line instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias, TypeVar, cast

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from parsers.request_log.by_grammar import size_in_text
from parsers.request_log.request import TIMES, TIMES_IN_ORDER
from parsers.request_log.typed import (
    I16,
    I32,
    I64,
    NULL,
    AnsweredTopic,
    AskedTopic,
    FetchAnswered,
    FetchAsked,
    FetchHeader,
    FetchLine,
    FetchPartition,
    ForgottenTopic,
    Header,
    Index,
    Odd,
    OldFetchedPartition,
    ProduceAnswered,
    ProduceAsked,
    ProduceHeader,
    ProduceLine,
    Reader,
    RequestLine,
    Unread,
    WrittenPartition,
    WrittenTopic,
)

Of = TypeVar("Of", bound=RequestLine)
_ANY: Final = Raw(b"")
_Size: TypeAlias = Annotated[int, Meta(ge=NULL, le=(1 << 63) - 2)]
"""Of a partition's records; null where a text tells none."""
_MARK: Final = "!"
"""Names of a line have it behind them, so that none in a request or an answer is taken for one."""


def _underscored(name: str) -> str:
    return re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), name)


class _Asked(FetchPartition, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partition: Index
    fetchOffset: I64 = NULL
    currentLeaderEpoch: I32 = NULL
    logStartOffset: I64 = NULL
    maxBytes: Raw = _ANY
    partitionMaxBytes: Raw = _ANY


class _AskedTopic(AskedTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partitions: Sequence[_Asked] = ()


class _ForgottenTopic(ForgottenTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    pass


class _FetchAsked(FetchAsked, rename=_underscored, forbid_unknown_fields=True, gc=False):
    replicaId: I32 = NULL
    minBytes: I32 = NULL
    sessionId: I32 = NULL
    sessionEpoch: I32 = NULL
    topics: Sequence[_AskedTopic] = ()
    forgottenTopicsData: Sequence[_ForgottenTopic] | UnsetType = UNSET
    forgettenTopicsData: Sequence[_ForgottenTopic] = ()
    maxWaitTime: Raw = _ANY
    maxBytes: Raw = _ANY
    isolationLevel: Raw = _ANY
    rackId: Raw = _ANY


class _Aborted(Struct, rename=_underscored, forbid_unknown_fields=True, gc=False):
    producerId: Raw = _ANY
    firstOffset: Raw = _ANY


class _Answered(OldFetchedPartition, rename=_underscored, forbid_unknown_fields=True, gc=False, kw_only=True):
    partitionIndex: Index = field(name="partition")
    errorCode: I16 = NULL
    highWatermark: I64 = NULL
    lastStableOffset: I64 = NULL
    logStartOffset: I64 = NULL
    recordsSizeInBytes: _Size = field(name="record_set")
    abortedTransactions: Sequence[_Aborted] | None = None
    preferredReadReplica: Raw = _ANY


class _AnsweredTopic(AnsweredTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    partitionResponses: Sequence[_Answered] = ()


class _FetchAnswered(FetchAnswered, rename=_underscored, forbid_unknown_fields=True, gc=False):
    errorCode: I16 = NULL
    sessionId: I32 = NULL
    responses: Sequence[_AnsweredTopic] = ()
    throttleTimeMs: Raw = _ANY


class _ProduceAsked(ProduceAsked, rename=_underscored, forbid_unknown_fields=True, gc=False):
    timeout: Raw = _ANY
    numPartitions: Raw = field(default=_ANY, name="numPartitions")


class _WrittenPartition(WrittenPartition, rename=_underscored, forbid_unknown_fields=True, gc=False):
    index: Index = field(name="partition")
    errorCode: I16 = NULL
    baseOffset: I64 = NULL
    logStartOffset: I64 = NULL
    logAppendTime: Raw = _ANY


class _WrittenTopic(WrittenTopic, rename=_underscored, forbid_unknown_fields=True, gc=False):
    topic: str = ""
    older: Odd | UnsetType = field(default=UNSET, name="name")
    partitionResponses: Sequence[_WrittenPartition] = ()


class _ProduceAnswered(ProduceAnswered, rename=_underscored, forbid_unknown_fields=True, gc=False):
    responses: Sequence[_WrittenTopic] = ()
    throttleTimeMs: Raw = _ANY


def _marked(name: str) -> str:
    return name.removesuffix("Ms") + _MARK


class _TextLine(RequestLine, rename=_marked, forbid_unknown_fields=True, gc=False, kw_only=True):
    requestHeader: Header | None = None  # type: ignore[assignment]
    totalTimeMs: float
    requestQueueTimeMs: float
    localTimeMs: float
    remoteTimeMs: float
    throttleTimeMs: Raw
    responseQueueTimeMs: float
    sendTimeMs: float
    clientInformation: Unread | None = None


class _FetchLine(_TextLine, rename=_marked, forbid_unknown_fields=True, gc=False, kw_only=True):
    request: _FetchAsked
    response: _FetchAnswered | None


class _ProduceLine(_TextLine, rename=_marked, forbid_unknown_fields=True, gc=False, kw_only=True):
    request: _ProduceAsked
    response: _ProduceAnswered | None


_fetches: Final = Reader(_FetchLine)
_produces: Final = Reader(_ProduceLine)
_NUMBER: Final = rb" correlationId=(-?[0-9]{1,10})\) -- "
_HEADER: Final = re.compile(
    rb"RequestHeader\(apiKey=(?:FETCH|PRODUCE), apiVersion=([0-9]{1,5}), clientId=([^,]*+(?:,(?!"
    + _NUMBER + rb")[^,]*+)*+)," + _NUMBER + rb"(?=\{)"
)  # fmt: skip
_CONNECTION: Final = b" from connection "
_TAIL: Final = re.compile(_CONNECTION + rb"([^;]*+)" + TIMES_IN_ORDER.pattern.encode())
_COLON: Final = ord(":")
_BEHIND: Final = rb"(?=\}|,[a-z_]+=)"
_TOPIC: Final = re.compile(rb"topic=(?!(?:-?[0-9]+|null|true|false)[,}])([A-Za-z0-9._-]++)" + _BEHIND)
_RACK: Final = re.compile(rb"rack_id=[A-Za-z0-9._-]*" + _BEHIND)
_PARTITION_HEADER: Final = b"{partition_header={"
_RECORD_SET: Final = b"},record_set="
_RECORDS: Final = re.compile(
    re.escape(_RECORD_SET) + rb"(\[\]|[^,(){}\[\]]*+(?:\((?:size=([0-9]{1,18})(?=[,)]))?+[^(){}]*+\))?+)(?=\})"
)
_ODD: Final = (b" ", b'"', b"\\", b"\t", b"\r", b"(", b")", _MARK.encode())
_NAMES: Final[dict[type[Header], str]] = {FetchHeader: "FETCH", ProduceHeader: "PRODUCE"}
_Part: TypeAlias = tuple[bytes, Header, str]
"""A request with its answer and times, not yet spelt; then its header and its connection."""


def spelt_fetches(texts: Sequence[bytes]) -> Sequence[FetchLine | None]:
    """The fetches whose texts stand behind `Completed request:`; None where one is odd."""
    return cast("Sequence[FetchLine | None]", _lines(_fetches, FetchHeader, texts))


def spelt_produces(texts: Sequence[bytes]) -> Sequence[ProduceLine | None]:
    """The same of produces."""
    return cast("Sequence[ProduceLine | None]", _lines(_produces, ProduceHeader, texts))


def _part(data: bytes, headed: type[Header]) -> _Part | None:
    """The parts of a line that has an answer, a connection and times, and whose numbers fit their fields."""
    header = _HEADER.match(data)
    asked = 0 if header is None else header.end()
    end = data.find(_CONNECTION, asked)
    tail = _TAIL.match(data, end)
    if header is None or tail is None:
        return None
    # Each name of a time stands once, and a colon behind no other name than that of the answer.
    if data.count(b"Time:", end) != len(TIMES) + 1 or data.count(b":", asked, end) != 1:
        return None
    # Records stand behind each header of a partition. What says null itself is no answer that was not sent.
    headers, records = data.count(_PARTITION_HEADER, asked, end), data.count(_RECORD_SET, asked, end)
    if headers != records or data.endswith(b":null", 0, end):
        return None
    version, correlation = int(header[1]), int(header[4])
    if version >= 1 << 15 or not -(1 << 31) <= correlation < 1 << 31:
        return None
    try:
        client, connection = header[2].decode(), tail[1].decode()
    except UnicodeDecodeError:
        return None
    # Nothing is answered where nobody waits.
    said = data[asked:end] + (b"null," if data[end - 1] == _COLON else b",")
    text = said + data[tail.end(1) + 1 : tail.end()]
    return text, headed(version, _NAMES[headed], correlation, client), connection


def _sized(texts: bytes) -> bytes:
    """A partition's header goes on to the size of its records: they are one struct."""
    parts: list[bytes] = _RECORDS.split(texts)
    written, sizes = parts[1::3], parts[2::3]
    parts[1::3] = [b",record_set="] * len(sizes)
    parts[2::3] = [size or _size(text) for text, size in zip(written, sizes, strict=True)]
    return b"".join(parts)


def _size(records: bytes) -> bytes:
    """The size of records that do not begin with it. An odd text leaves its line odd."""
    if records in (b"[]", b"null"):
        return b"0"
    if not records.isascii():
        return _ODD[0]
    size = size_in_text(records.decode()) if b"(" in records else None
    return b"%d" % (NULL if size is None else size)


def _quoted(texts: bytes) -> bytes:
    parts: list[bytes] = _TOPIC.split(texts)
    parts[1::2] = [b'topic="%s"' % topic for topic in parts[1::2]]
    return b"".join(parts)


def _is_odd(text: bytes) -> bool:
    return any(letter in text for letter in _ODD)


def _lines(reader: Reader[Of], headed: type[Header], texts: Sequence[bytes]) -> list[Of | None]:
    """The lines of some texts.

    What is said without odd characters is JSON: a number or word stands as it is, a topic in quotes.
    """
    parts = [_part(text, headed) for text in texts]
    whole = [part[0] for part in parts if part]
    if not whole:
        return [None] * len(parts)
    sized = _sized(b"{request:" + b"}\n{request:".join(whole) + b"}")
    joined = _RACK.sub(b"rack_id=0", sized.replace(_PARTITION_HEADER, b"{"))
    if _is_odd(joined):
        joined = b"\n".join(b"" if _is_odd(text) else text for text in joined.split(b"\n"))
    named = _quoted(joined).replace(b":", _MARK.encode() + b"=").replace(b"=", b'":').replace(b"{", b'{"')
    read = iter(reader.structs(named.replace(b",", b',"').replace(b',"{', b",{"), len(whole)))
    lines = [next(read) if part else None for part in parts]
    for line, part in zip(lines, parts, strict=True):
        if line and part:
            _, line.requestHeader, line.connection = part
    return lines
