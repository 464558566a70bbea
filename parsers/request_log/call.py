"""One fetch as a log line tells it: what was asked by name, what was answered by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from parsers.request_log.fields import Struct, i16, i32, i64, integers, partition_number, struct_at, structs, text
from parsers.request_log.request import Request, Times

SessionKey: TypeAlias = tuple[str, int]
"""Serving endpoint and session id: ids are unique on one broker only."""

CONSUMER: Final = -1

_SIZE: Final = re.compile(r"\(size=(\d{1,18})[,)]", re.ASCII)
_EXTENT: Final = re.compile(r", start=(\d{1,18}), end=(\d{1,18})\)\Z", re.ASCII)


class PartitionKey(NamedTuple):
    """A partition as the fetch names it: topic or topic id, the other empty."""

    topic: str
    topic_id: str
    partition: int


class Asked(NamedTuple):
    """A partition named in a fetch request."""

    key: PartitionKey
    fetch_offset: int | None
    last_fetched_epoch: int | None = None
    current_leader_epoch: int | None = None
    log_start_offset: int | None = None
    high_watermark: int | None = None


class Answered(NamedTuple):
    """A partition named in a fetch answer."""

    key: PartitionKey
    error_code: int | None
    high_watermark: int | None
    last_stable_offset: int | None = None
    log_start_offset: int | None = None
    diverging_epoch: int | None = None
    diverging_end_offset: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    records_size: int | None = None


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
    asked: tuple[Asked, ...]
    forgotten: tuple[PartitionKey, ...]
    answered: tuple[Answered, ...]
    times: Times
    start: int
    end: int


def fetch_call(request: Request) -> FetchCall:
    """A FETCH request; raises WrongShape where a field is not what a fetch has."""
    body, answer = request.body, request.answer
    state = struct_at(body, "replicaState")
    replica = i32(body, "replicaId") if state is None else i32(state, "replicaId")
    return FetchCall(
        time_text=request.time_text,
        client_id=request.client_id,
        correlation_id=request.correlation_id,
        version=request.version,
        endpoint=request.endpoint,
        replica=CONSUMER if replica is None else replica,
        replica_epoch=i64(state, "replicaEpoch") if state is not None else None,
        min_bytes=i32(body, "minBytes"),
        session_id=i32(body, "sessionId"),
        session_epoch=i32(body, "sessionEpoch", "epoch"),
        answer_known=answer is not None,
        answer_session_id=i32(answer, "sessionId") if answer is not None else None,
        session_error=i16(answer, "errorCode") if answer is not None else None,
        asked=tuple(_asked(body)),
        forgotten=tuple(_forgotten(body)),
        answered=tuple(_answered(answer)) if answer is not None else (),
        times=request.times,
        start=request.start,
        end=request.end,
    )


def _named(struct: Struct, partition: int) -> PartitionKey:
    return PartitionKey(text(struct, "topic") or "", text(struct, "topicId") or "", partition)


def _asked(body: Struct) -> Iterator[Asked]:
    for topic in structs(body, "topics"):
        for partition in structs(topic, "partitions"):
            yield Asked(
                _named(topic, partition_number(partition, "partition")),
                i64(partition, "fetchOffset"),
                i32(partition, "lastFetchedEpoch"),
                i32(partition, "currentLeaderEpoch"),
                i64(partition, "logStartOffset"),
                i64(partition, "highWatermark"),
            )


def _forgotten(body: Struct) -> Iterator[PartitionKey]:
    for topic in structs(body, "forgottenTopicsData", "forgettenTopicsData"):
        for partition in integers(topic, "partitions") or ():
            yield _named(topic, partition)


def _answered(answer: Struct) -> Iterator[Answered]:
    for topic in structs(answer, "responses"):
        for partition in structs(topic, "partitions", "partitionResponses"):
            yield _one_answer(topic, partition)


def _one_answer(topic: Struct, partition: Struct) -> Answered:
    header = struct_at(partition, "partitionHeader") or partition
    diverging, leader = struct_at(header, "divergingEpoch"), struct_at(header, "currentLeader")
    return Answered(
        _named(topic, partition_number(header, "partitionIndex", "partition")),
        i16(header, "errorCode"),
        i64(header, "highWatermark"),
        i64(header, "lastStableOffset"),
        i64(header, "logStartOffset"),
        i32(diverging, "epoch") if diverging is not None else None,
        i64(diverging, "endOffset") if diverging is not None else None,
        i32(leader, "leaderId") if leader is not None else None,
        i32(leader, "leaderEpoch") if leader is not None else None,
        _records_size(partition),
    )


def _records_size(partition: Struct) -> int | None:
    """JSON tells the size; text tells it for some kinds of records in some releases, and `[]` for none."""
    if "recordSet" in partition:
        return _size_in_text(partition["recordSet"])
    if "records" in partition and partition["records"] is None:
        return 0
    return i64(partition, "recordsSizeInBytes", "recordSetSizeInBytes")


def _size_in_text(records: object) -> int | None:
    if records == [] or records is None:
        return 0
    if not isinstance(records, str):
        return None
    if size := _SIZE.search(records):
        return int(size[1])
    extent = _EXTENT.search(records)
    return max(0, int(extent[2]) - int(extent[1])) if extent else None
