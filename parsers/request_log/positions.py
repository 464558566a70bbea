"""Requests that tell offsets: produce, the end of an epoch, the ends of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from parsers.provenance import Origin
from parsers.request_log.fields import Struct, i16, i32, i64, partition_number, structs, text
from parsers.request_log.head import head_of, named
from parsers.request_log.request import Request, Times
from parsers.request_log.typed import (
    NULL,
    UNKNOWN,
    ProduceAnswered,
    ProduceAsked,
    ProduceHeader,
    ProduceLine,
    SentPartition,
    SentTopic,
    WrittenPartition,
    WrittenTopic,
)
from parsers.tables.requests import EpochRequest, Fetch, OffsetRequest, Produce

_NONE: Final[Struct] = {}
Place: TypeAlias = tuple[str | None, str | None, int]


def produces(request: Request, origin: Origin) -> Iterator[Produce]:
    """PRODUCE: one row a partition; the text of old releases names partitions in the answer only."""
    asked = _by_place(structs(request.body, "topicData"), ("partitionData",))
    answered = _by_place(structs(request.answer or _NONE, "responses"), ("partitionResponses",))
    head, transactional = head_of(request, origin), _transactional(request.body)
    acks = i16(request.body, "acks")
    for place in [*asked, *(place for place in answered if place not in asked)]:
        sent, answer = asked.get(place, _NONE), answered.get(place, _NONE)
        yield Produce(
            **head,
            acks=acks,
            transactional=transactional,
            topic=place[0],
            topic_id=place[1],
            partition=place[2],
            error_code=i16(answer, "errorCode"),
            base_offset=i64(answer, "baseOffset"),
            log_start_offset=i64(answer, "logStartOffset"),
            records_size=0 if "records" in sent and sent["records"] is None else i64(sent, "recordsSizeInBytes"),
        )


def _transactional(body: Struct) -> bool | None:
    return text(body, "transactionalId") is not None if "transactionalId" in body else None


def epoch_requests(request: Request, origin: Origin) -> Iterator[EpochRequest]:
    """OFFSET_FOR_LEADER_EPOCH: one row a partition; before version 3 the asker names itself by its client id alone."""
    asked = _by_place(structs(request.body, "topics"), ("partitions",))
    answered = _by_place(structs(request.answer or _NONE, "topics"), ("partitions",))
    head, replica = head_of(request, origin), i32(request.body, "replicaId")
    for place, question in asked.items():
        answer = answered.get(place, _NONE)
        yield EpochRequest(
            **head,
            replica=replica,
            topic=place[0],
            topic_id=place[1],
            partition=place[2],
            current_leader_epoch=i32(question, "currentLeaderEpoch"),
            asked_epoch=i32(question, "leaderEpoch"),
            error_code=i16(answer, "errorCode"),
            answered_epoch=i32(answer, "leaderEpoch"),
            end_offset=i64(answer, "endOffset"),
        )


def offset_requests(request: Request, origin: Origin) -> Iterator[OffsetRequest]:
    """LIST_OFFSETS of replicas; those of consumers tell nothing about replication."""
    replica = i32(request.body, "replicaId")
    if replica is None or replica < 0:
        return
    asked = _by_place(structs(request.body, "topics"), ("partitions",))
    answered = _by_place(structs(request.answer or _NONE, "topics", "responses"), ("partitions", "partitionResponses"))
    head = head_of(request, origin)
    for place, question in asked.items():
        answer = answered.get(place, _NONE)
        yield OffsetRequest(
            **head,
            replica=replica,
            topic=place[0],
            topic_id=place[1],
            partition=place[2],
            current_leader_epoch=i32(question, "currentLeaderEpoch"),
            timestamp=i64(question, "timestamp"),
            error_code=i16(answer, "errorCode"),
            offset=i64(answer, "offset"),
            leader_epoch=i32(answer, "leaderEpoch"),
        )


def _by_place(topics: Sequence[Struct], lists: tuple[str, ...]) -> dict[Place, Struct]:
    """The partitions of a request or answer by topic, topic id and number, in their order."""
    places: dict[Place, Struct] = {}
    for topic in topics:
        name = named(topic)
        for partition in structs(topic, *lists):
            number = partition_number(partition, "partitionIndex", "index", "partition")
            places[name["topic"], name["topic_id"], number] = partition
    return places


def line_of(rows: Sequence[Produce]) -> ProduceLine:
    """The rows of a produce that the grammar read, as other produces are told."""
    sample = rows[0]
    header = ProduceHeader(_number(sample.api_version), "PRODUCE", _number(sample.correlation_id), sample.client_id)
    transactional = UNSET if sample.transactional is None else "" if sample.transactional else None
    sent = [
        SentTopic(row.topic or "", row.topic_id or "", [SentPartition(row.partition or 0, _number(row.records_size))])
        for row in rows
    ]
    written = [WrittenTopic(row.topic or "", row.topic_id or "", [_written(row)]) for row in rows]
    return ProduceLine(
        "", *(UNKNOWN if time is None else time / 1000 for time in times_of(sample)),
        requestHeader=header, request=ProduceAsked(_number(sample.acks), transactional, sent),
        response=ProduceAnswered(written),
    )  # fmt: skip


def _written(row: Produce) -> WrittenPartition:
    error, base, start = map(_number, (row.error_code, row.base_offset, row.log_start_offset))
    return WrittenPartition(row.partition or 0, error, base, start)


def times_of(row: Fetch | Produce) -> Times:
    """How long the request of a row took."""
    return Times(
        row.total_time_us, row.queue_time_us, row.local_time_us, row.remote_time_us, row.response_queue_time_us,
        row.send_time_us,
    )  # fmt: skip


def _number(value: int | None) -> int:
    return NULL if value is None else value
