"""One fetch as a log line tells it: what was asked by name, what was answered by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from parsers.request_log import typed
from parsers.request_log.fields import (
    Numbers,
    Struct,
    WrongShape,
    i16,
    i32,
    i64,
    integers,
    struct_at,
    structs,
    text,
)
from parsers.request_log.request import Request, Times

SessionKey: TypeAlias = tuple[str, int]
"""Serving endpoint and session id: ids are unique on one broker only."""

CONSUMER: Final = -1

_BODY: Final = Numbers((32, ("minBytes",)), (32, ("sessionId",)), (32, ("sessionEpoch", "epoch")))
_ASKED: Final = Numbers(
    (32, ("partition",)), (64, ("fetchOffset",)), (32, ("lastFetchedEpoch",)), (32, ("currentLeaderEpoch",)),
    (64, ("logStartOffset",)), (64, ("highWatermark",)),
)  # fmt: skip
_ANSWERED: Final = Numbers(
    (32, ("partitionIndex", "partition")), (16, ("errorCode",)), (64, ("highWatermark",)), (64, ("lastStableOffset",)),
    (64, ("logStartOffset",)),
)  # fmt: skip

_SIZE: Final = re.compile(r"\(size=(\d{1,18})[,)]", re.ASCII)
_EXTENT: Final = re.compile(r", start=(\d{1,18}), end=(\d{1,18})\)\Z", re.ASCII)


class PartitionKey(NamedTuple):
    """A partition as the fetch names it: topic or topic id, the other empty."""

    topic: str
    topic_id: str
    partition: int


class AskedPartition(NamedTuple):
    """A partition named in a fetch request."""

    key: PartitionKey
    fetch_offset: int | None
    last_fetched_epoch: int | None = None
    current_leader_epoch: int | None = None
    log_start_offset: int | None = None
    high_watermark: int | None = None


class AnsweredPartition(NamedTuple):
    """A partition named in a fetch answer."""

    key: PartitionKey
    error_code: int | None
    high_watermark: int | None
    last_stable_offset: int | None = None
    log_start_offset: int | None = None
    records_size: int | None = None
    diverging_epoch: int | None = None
    diverging_end_offset: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None


class FetchCall(NamedTuple):
    """One fetch: its header, the session it names, and the partitions named on either side."""

    time_text: str
    client_id: str | None
    correlation_id: int | None
    version: int | None
    endpoint: str
    replica: int | None
    replica_epoch: int | None
    min_bytes: int | None
    session_id: int | None
    session_epoch: int | None
    answer_known: bool
    answer_session_id: int | None
    session_error: int | None
    asked: tuple[AskedPartition, ...]
    forgotten: tuple[PartitionKey, ...]
    answered: tuple[AnsweredPartition, ...]
    times: Times
    start: int
    end: int


def fetch_call(request: Request) -> FetchCall:
    """A FETCH request; raises WrongShape where a field is not what a fetch has."""
    body, answer = request.body, request.answer
    state = struct_at(body, "replicaState")
    replica = i32(body if state is None else state, "replicaId")
    min_bytes, session_id, session_epoch = _BODY.of(body)
    return FetchCall(
        request.time_text,
        request.client_id,
        request.correlation_id,
        request.version,
        request.endpoint,
        CONSUMER if replica is None else replica,
        None if state is None else i64(state, "replicaEpoch"),
        min_bytes,
        session_id,
        session_epoch,
        answer is not None,
        None if answer is None else i32(answer, "sessionId"),
        None if answer is None else i16(answer, "errorCode"),
        _asked(body),
        tuple(_forgotten(body)),
        () if answer is None else _answered(answer),
        request.times,
        request.start,
        request.end,
    )


def _named(struct: Struct) -> tuple[str, str]:
    return text(struct, "topic") or "", text(struct, "topicId") or ""


def _key(name: tuple[str, str], number: int | None) -> PartitionKey:
    if number is None or number < 0:
        raise WrongShape("a partition number")
    return PartitionKey(*name, number)


def _asked(body: Struct) -> tuple[AskedPartition, ...]:
    asked: list[AskedPartition] = []
    for topic in structs(body, "topics"):
        partitions = structs(topic, "partitions")
        name = _named(topic) if partitions else ("", "")
        for partition in partitions:
            number, *values = _ASKED.of(partition)
            asked.append(AskedPartition(_key(name, number), *values))
    return tuple(asked)


def _forgotten(body: Struct) -> Iterator[PartitionKey]:
    for topic in structs(body, "forgottenTopicsData", "forgettenTopicsData"):
        for partition in integers(topic, "partitions") or ():
            yield PartitionKey(*_named(topic), partition)


def _answered(answer: Struct) -> tuple[AnsweredPartition, ...]:
    answered: list[AnsweredPartition] = []
    for topic in structs(answer, "responses"):
        partitions = structs(topic, "partitions", "partitionResponses")
        name = _named(topic) if partitions else ("", "")
        answered += [_one_answer(name, partition) for partition in partitions]
    return tuple(answered)


def _one_answer(name: tuple[str, str], partition: Struct) -> AnsweredPartition:
    header = struct_at(partition, "partitionHeader") or partition
    diverging, leader = struct_at(header, "divergingEpoch"), struct_at(header, "currentLeader")
    number, error, watermark, stable, start = _ANSWERED.of(header)
    return AnsweredPartition(
        _key(name, number),
        error,
        watermark,
        stable,
        start,
        _records_size(partition),
        i32(diverging, "epoch") if diverging is not None else None,
        i64(diverging, "endOffset") if diverging is not None else None,
        i32(leader, "leaderId") if leader is not None else None,
        i32(leader, "leaderEpoch") if leader is not None else None,
    )


def _records_size(partition: Struct) -> int | None:
    """JSON tells the size; text tells it for some kinds of records in some releases, and `[]` for none."""
    if "recordSet" in partition:
        return size_in_text(partition["recordSet"])
    if "records" in partition and partition["records"] is None:
        return 0
    return i64(partition, "recordsSizeInBytes", "recordSetSizeInBytes")


def size_in_text(records: object) -> int | None:
    """The size of records as text tells it."""
    if records == [] or records is None:
        return 0
    if not isinstance(records, str):
        return None
    if size := _SIZE.search(records):
        return int(size[1])
    extent = _EXTENT.search(records)
    return max(0, int(extent[2]) - int(extent[1])) if extent else None


def line_of(call: FetchCall) -> typed.FetchLine:
    """A fetch that the grammar read, as the others are."""
    version, correlation, replica, least, session, epoch = map(
        _number,
        (call.version, call.correlation_id, call.replica, call.min_bytes, call.session_id, call.session_epoch),
    )
    state = None if call.replica_epoch is None else typed.ReplicaState(replica, call.replica_epoch)
    request = typed.FetchAsked(
        replica, least, session, epoch, replicaState=state,
        topics=[typed.AskedTopic(asked.key.topic, [_asked_of(asked)], asked.key.topic_id) for asked in call.asked],
        forgottenTopicsData=[
            typed.ForgottenTopic(key.topic, key.topic_id, [key.partition]) for key in call.forgotten
        ],
    )  # fmt: skip
    topics = [
        typed.AnsweredTopic(answered.key.topic, topicId=answered.key.topic_id, partitions=[_answered_of(answered)])
        for answered in call.answered
    ]
    response = typed.FetchAnswered(_number(call.session_error), _number(call.answer_session_id), topics)
    return typed.FetchLine(
        call.endpoint, *(typed.UNKNOWN if time is None else time / 1000 for time in call.times),
        requestHeader=typed.FetchHeader(version, "FETCH", correlation, call.client_id), request=request,
        response=response if call.answer_known else None,
    )  # fmt: skip


def _asked_of(partition: AskedPartition) -> typed.FetchPartition:
    offset, last_epoch, leader_epoch, *others = map(_number, partition[1:])
    return typed.FetchPartition(partition.key.partition, leader_epoch, offset, last_epoch, *others)


def _answered_of(partition: AnsweredPartition) -> typed.FetchedPartition:
    error, watermark, stable, start, size, epoch, end, leader, leader_epoch = map(_number, partition[1:])
    return typed.FetchedPartition(
        partition.key.partition, error, watermark, stable, start, size, typed.Diverging(epoch, end),
        typed.Leader(leader, leader_epoch),
    )  # fmt: skip


def _number(value: int | None) -> int:
    return typed.NULL if value is None else value
