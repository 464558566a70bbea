"""Requests that move or mark logs: stop, shut down, register, end a transaction, delete records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from parsers.provenance import Origin
from parsers.request_log.fields import Struct, flag, i16, i32, i64, integers, partition_number, structs
from parsers.request_log.head import head_of, named
from parsers.request_log.request import Request
from parsers.tables.requests import RequestApi, RequestEvent

_NONE: Final[Struct] = {}
_NUMBER: Final = ("partitionIndex", "partition")
_UNTOLD: Final[Mapping[str, None]] = dict.fromkeys(RequestEvent.__struct_fields__)


def _event(request: Request, origin: Origin, api: RequestApi, **fields: str | int | bool | None) -> RequestEvent:
    """A row in which everything not told is null."""
    return RequestEvent(**{**_UNTOLD, **head_of(request, origin), "api": api, **fields})  # type: ignore[arg-type]


def stop_replica(request: Request, origin: Origin) -> Iterator[RequestEvent]:
    """STOP_REPLICA: by topic since version 3, flat before with one flag for all."""
    errors = {
        (named(state)["topic"], partition_number(state, *_NUMBER)): i16(state, "errorCode")
        for state in structs(request.answer or _NONE, "partitionErrors", "partitions")
    }
    whole_error = i16(request.answer or _NONE, "errorCode")
    sender, delete_all = i32(request.body, "controllerId"), flag(request.body, "deletePartitions")
    for topic, partition, epoch, delete in _stopped(request.body):
        yield _event(
            request, origin, "STOP_REPLICA", sender=sender, topic=topic, partition=partition, leader_epoch=epoch,
            delete_partition=delete_all if delete is None else delete,
            error_code=errors.get((topic, partition), whole_error),
        )  # fmt: skip


def _stopped(body: Struct) -> Iterator[tuple[str | None, int, int | None, bool | None]]:
    for topic in structs(body, "topicStates"):
        for state in structs(topic, "partitionStates"):
            number = partition_number(state, "partitionIndex")
            yield named(topic)["topic"], number, i32(state, "leaderEpoch"), flag(state, "deletePartition")
    for topic in structs(body, "ungroupedPartitions", "partitions"):
        yield named(topic)["topic"], partition_number(topic, *_NUMBER), None, None
    for topic in structs(body, "topics"):
        for number in integers(topic, "partitionIndexes") or ():
            yield named(topic)["topic"], number, None, None


def controlled_shutdown(request: Request, origin: Origin) -> Iterator[RequestEvent]:
    """CONTROLLED_SHUTDOWN: a row for the broker, and one for each partition that it still leads."""
    sender, epoch = i32(request.body, "brokerId"), i64(request.body, "brokerEpoch")
    error = i16(request.answer or _NONE, "errorCode")
    yield _event(request, origin, "CONTROLLED_SHUTDOWN", sender=sender, broker_epoch=epoch, error_code=error)
    for left in structs(request.answer or _NONE, "remainingPartitions", "partitionsRemaining"):
        number = partition_number(left, *_NUMBER)
        yield _event(
            request, origin, "CONTROLLED_SHUTDOWN", sender=sender, topic=named(left)["topic"], partition=number,
            broker_epoch=epoch, error_code=error,
        )  # fmt: skip


def broker_registration(request: Request, origin: Origin) -> Iterator[RequestEvent]:
    """BROKER_REGISTRATION: previous epoch -1 on a restart tells an unclean shutdown."""
    answer = request.answer or _NONE
    yield _event(
        request, origin, "BROKER_REGISTRATION", sender=i32(request.body, "brokerId"),
        broker_epoch=i64(answer, "brokerEpoch"),
        previous_broker_epoch=i64(request.body, "previousBrokerEpoch"), error_code=i16(answer, "errorCode"),
    )  # fmt: skip


def transaction_markers(request: Request, origin: Origin) -> Iterator[RequestEvent]:
    """WRITE_TXN_MARKERS: one row a marker and partition; the only trace of their appends."""
    errors = {
        (i64(marker, "producerId"), named(topic)["topic"], partition_number(state, *_NUMBER)): i16(state, "errorCode")
        for marker in structs(request.answer or _NONE, "markers", "transactionMarkers")
        for topic in structs(marker, "topics")
        for state in structs(topic, "partitions")
    }
    for marker in structs(request.body, "markers", "transactionMarkers"):
        producer = i64(marker, "producerId")
        for topic in structs(marker, "topics"):
            for number in integers(topic, "partitionIndexes", "partitions") or ():
                name = named(topic)["topic"]
                yield _event(
                    request, origin, "WRITE_TXN_MARKERS", topic=name, partition=number, producer_id=producer,
                    producer_epoch=i16(marker, "producerEpoch"), committed=flag(marker, "transactionResult"),
                    coordinator_epoch=i32(marker, "coordinatorEpoch"), error_code=errors.get((producer, name, number)),
                )  # fmt: skip


def delete_records(request: Request, origin: Origin) -> Iterator[RequestEvent]:
    """DELETE_RECORDS: one row a partition."""
    answers = {
        (named(topic)["topic"], partition_number(state, *_NUMBER)): state
        for topic in structs(request.answer or _NONE, "topics")
        for state in structs(topic, "partitions")
    }
    for topic in structs(request.body, "topics"):
        for state in structs(topic, "partitions"):
            name, number = named(topic)["topic"], partition_number(state, *_NUMBER)
            answer = answers.get((name, number), _NONE)
            yield _event(
                request, origin, "DELETE_RECORDS", topic=name, partition=number, offset=i64(state, "offset"),
                low_watermark=i64(answer, "lowWatermark"), error_code=i16(answer, "errorCode"),
            )  # fmt: skip
