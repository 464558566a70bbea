"""Fetches and produces as the grammar reads them, into the structs in which all others are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from parsers.request_log.fields import (
    Numbers,
    Struct,
    WrongShape,
    i16,
    i64,
    integers,
    partition_number,
    struct_at,
    structs,
    text,
)
from parsers.request_log.head import named
from parsers.request_log.request import Request
from parsers.request_log.typed import (
    NULL,
    UNDIVERGED,
    UNKNOWN,
    UNLED,
    AnsweredTopic,
    AskedTopic,
    Diverging,
    FetchAnswered,
    FetchAsked,
    FetchedPartition,
    FetchHeader,
    FetchLine,
    FetchPartition,
    ForgottenTopic,
    Leader,
    ProduceAnswered,
    ProduceAsked,
    ProduceHeader,
    ProduceLine,
    ReplicaState,
    SentPartition,
    SentTopic,
    WrittenPartition,
    WrittenTopic,
)

# Each in the order of the struct's own fields.
_ASKS: Final = Numbers((32, ("replicaId",)), (32, ("minBytes",)), (32, ("sessionId",)), (32, ("sessionEpoch", "epoch")))
_STATE: Final = Numbers((32, ("replicaId",)), (64, ("replicaEpoch",)))
_ASKED: Final = Numbers(
    (32, ("partition",)), (32, ("currentLeaderEpoch",)), (64, ("fetchOffset",)), (32, ("lastFetchedEpoch",)),
    (64, ("logStartOffset",)), (64, ("highWatermark",)),
)  # fmt: skip
_ANSWERS: Final = Numbers((16, ("errorCode",)), (32, ("sessionId",)))
_ANSWERED: Final = Numbers(
    (32, ("partitionIndex", "partition")), (16, ("errorCode",)), (64, ("highWatermark",)), (64, ("lastStableOffset",)),
    (64, ("logStartOffset",)),
)  # fmt: skip
_DIVERGING: Final = Numbers((32, ("epoch",)), (64, ("endOffset",)))
_LEADER: Final = Numbers((32, ("leaderId",)), (32, ("leaderEpoch",)))
_WRITTEN: Final = Numbers((16, ("errorCode",)), (64, ("baseOffset",)), (64, ("logStartOffset",)))

_SIZE: Final = re.compile(r"\(size=(\d{1,18})[,)]", re.ASCII)
_EXTENT: Final = re.compile(r", start=(\d{1,18}), end=(\d{1,18})\)\Z", re.ASCII)


def fetch_line(request: Request) -> FetchLine:
    """A FETCH request; raises WrongShape where a field is not what a fetch has."""
    header = FetchHeader(request.version, "FETCH", _number(request.correlation_id), request.client_id)
    answer = None if request.answer is None else _fetch_answered(request.answer)
    asked = _fetch_asked(request.body)
    return FetchLine(request.endpoint, *_times(request), requestHeader=header, request=asked, response=answer)


def produce_line(request: Request) -> ProduceLine:
    """The same of a PRODUCE request; the text of old releases names partitions in the answer only."""
    header = ProduceHeader(request.version, "PRODUCE", _number(request.correlation_id), request.client_id)
    answer = None if request.answer is None else ProduceAnswered(_written(request.answer))
    return ProduceLine(
        request.endpoint, *_times(request), requestHeader=header, request=_produce_asked(request.body), response=answer
    )


def _times(request: Request) -> Iterator[float]:
    return (UNKNOWN if time is None else time / 1000 for time in request.times)


def _number(value: int | None) -> int:
    return NULL if value is None else value


def _numbers(read: Numbers, struct: Struct) -> Iterator[int]:
    return map(_number, read.of(struct))


def _of_partition(read: Numbers, struct: Struct) -> Iterator[int]:
    """The numbers that are told of a partition, its own the first."""
    number, *others = read.of(struct)
    if number is None or number < 0:
        raise WrongShape("a partition number")
    return map(_number, (number, *others))


def _topics(struct: Struct, name: str, *lists: str) -> Iterator[tuple[str, str, Sequence[Struct]]]:
    """Each topic of a fetch with its id and its partitions, if it has any."""
    for topic in structs(struct, name):
        if partitions := structs(topic, *lists):
            yield text(topic, "topic") or "", text(topic, "topicId") or "", partitions


def _fetch_asked(body: Struct) -> FetchAsked:
    state = struct_at(body, "replicaState")
    topics = [
        AskedTopic(topic, [FetchPartition(*_of_partition(_ASKED, each)) for each in partitions], topic_id)
        for topic, topic_id, partitions in _topics(body, "topics", "partitions")
    ]
    asker = None if state is None else ReplicaState(*_numbers(_STATE, state))
    replica, least, session, epoch = _numbers(_ASKS, body)
    return FetchAsked(replica, least, session, epoch, topics, list(_forgotten(body)), asker)


def _forgotten(body: Struct) -> Iterator[ForgottenTopic]:
    for topic in structs(body, "forgottenTopicsData", "forgettenTopicsData"):
        if numbers := integers(topic, "partitions"):
            yield ForgottenTopic(text(topic, "topic") or "", text(topic, "topicId") or "", numbers)


def _fetch_answered(answer: Struct) -> FetchAnswered:
    topics = [
        AnsweredTopic(topic, topicId=topic_id, partitions=[*map(_answered, partitions)])
        for topic, topic_id, partitions in _topics(answer, "responses", "partitions", "partitionResponses")
    ]
    error, session = _numbers(_ANSWERS, answer)
    return FetchAnswered(error, session, topics)


def _answered(partition: Struct) -> FetchedPartition:
    header = struct_at(partition, "partitionHeader") or partition
    diverging, leader = _tagged(header, "divergingEpoch", 0), _tagged(header, "currentLeader", 1)
    number, error, watermark, stable, start = _of_partition(_ANSWERED, header)
    return FetchedPartition(
        number, error, watermark, stable, start, _number(_records_size(partition)),
        UNDIVERGED if diverging is None else Diverging(*_numbers(_DIVERGING, diverging)),
        UNLED if leader is None else Leader(*_numbers(_LEADER, leader)),
    )  # fmt: skip


def _tagged(header: Struct, name: str, tag: int) -> Struct | None:
    """A tagged field of a partition's answer, which 2.7 printed by its number."""
    by_name = struct_at(header, name)
    tags = struct_at(header, "TaggedFields") if by_name is None else None
    return struct_at(tags, str(tag)) if tags is not None else by_name


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


def _produce_asked(body: Struct) -> ProduceAsked:
    transactional = text(body, "transactionalId") if "transactionalId" in body else UNSET
    topics = []
    for topic in structs(body, "topicData"):
        parts, name = [*map(_sent, structs(topic, "partitionData"))], named(topic)
        topics.append(SentTopic(name["topic"] or "", name["topic_id"] or "", parts))
    return ProduceAsked(_number(i16(body, "acks")), transactional, topics)


def _sent(partition: Struct) -> SentPartition:
    empty = "records" in partition and partition["records"] is None
    return SentPartition(_index(partition), 0 if empty else _number(i64(partition, "recordsSizeInBytes")))


def _written(answer: Struct) -> list[WrittenTopic]:
    topics = []
    for topic in structs(answer, "responses"):
        parts, name = structs(topic, "partitionResponses"), named(topic)
        written = [WrittenPartition(_index(part), *_numbers(_WRITTEN, part)) for part in parts]
        topics.append(WrittenTopic(name["topic"] or "", name["topic_id"] or "", written))
    return topics


def _index(partition: Struct) -> int:
    return partition_number(partition, "partitionIndex", "index", "partition")
