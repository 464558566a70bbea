"""Requests that ask for offsets: the end of an epoch, the ends of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from parsers.provenance import Origin
from parsers.request_log.fields import Struct, i16, i32, i64, partition_number, structs
from parsers.request_log.head import head_of, named
from parsers.request_log.request import Request, Times
from parsers.tables.requests import EpochRequest, Fetch, OffsetRequest, Produce

_NONE: Final[Struct] = {}
Place: TypeAlias = tuple[str | None, str | None, int]


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


def times_of(row: Fetch | Produce) -> Times:
    """How long the request of a row took."""
    return Times(
        row.total_time_us, row.queue_time_us, row.local_time_us, row.remote_time_us, row.response_queue_time_us,
        row.send_time_us,
    )  # fmt: skip
