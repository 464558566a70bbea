"""Lines of a request log as its release prints them, from the rows that they are read into.

Up to 2.7 a request is text, `{name=value,…}`; since 2.8 it is JSON. What a session leaves unsaid is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from parsers.tables.metadata import replica_ids
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, OffsetRequest, Produce, RequestEvent

Release = tuple[int, ...]
Struct = dict[str, object]
Row = Fetch | Produce | EpochRequest | OffsetRequest | IsrRequest | RequestEvent
JSON_SINCE: Final = (2, 8)
KEYS: Final[Mapping[str, int]] = {
    "PRODUCE": 0, "FETCH": 1, "LIST_OFFSETS": 2, "LEADER_AND_ISR": 4, "OFFSET_FOR_LEADER_EPOCH": 23,
    "ALTER_PARTITION": 56, "ALTER_ISR": 56, "DELETE_RECORDS": 21,
}  # fmt: skip
FILE_RECORDS: Final = "org.apache.kafka.common.record.FileRecords@1b2c3d4e"
_UNKNOWN_CLIENT: Final = dict.fromkeys(("softwareName", "softwareVersion"), "unknown")
PREFERRED_SINCE: Final = 11
_SNAKE: Final = {
    "forgottenTopicsData": "forgetten_topics_data", "sessionEpoch": "epoch", "maxWaitMs": "max_wait_time",
    "partitionMaxBytes": "max_bytes",
}  # fmt: skip
"""Fields of the text whose names are not those of the JSON; Kafka misspelt one of them."""


def request_line(rows: Sequence[Row], release: Release) -> bytes:
    """One line; a change of the ISR is a proposal and its answer, any other request one row."""
    row = rows[0]
    api, asked, answered = _parts(rows)
    if release >= JSON_SINCE:
        return _json_line(row, api, asked, answered)
    return _text_line(row, api, asked, answered)


def _parts(rows: Sequence[Row]) -> tuple[str, Struct, Struct | None]:
    row = rows[0]
    match row:
        case Fetch():
            return "FETCH", _fetch_request(row), _fetch_answer(row)
        case Produce():
            return "PRODUCE", _produce_request(row), _produce_answer(row)
        case EpochRequest():
            return "OFFSET_FOR_LEADER_EPOCH", _epoch_request(row), _epoch_answer(row)
        case OffsetRequest():
            return "LIST_OFFSETS", _offset_request(row), _offset_answer(row)
        case IsrRequest():
            return _isr_parts(row, rows[-1])
        case RequestEvent():
            return "DELETE_RECORDS", *_deletion(row)
    raise ValueError(type(row).__name__)


def _isr_parts(row: IsrRequest, answer: Row) -> tuple[str, Struct, Struct]:
    if row.api == "LEADER_AND_ISR":
        return "LEADER_AND_ISR", _order(row), _order_answer(row)
    if not isinstance(answer, IsrRequest):
        raise TypeError("expected the answer to a change of the ISR")
    name = "ALTER_PARTITION" if row.leader_recovery_state is not None else "ALTER_ISR"
    return name, _proposal(row), _proposal_answer(answer)


def _known(**fields: object) -> Struct:
    return {name: value for name, value in fields.items() if value is not None}


def _topic(row: Row, **fields: object) -> Struct:
    """A topic by its id where the request has one, else by its name."""
    return {"topicId": row.topic_id, **fields} if row.topic_id is not None else {"topic": row.topic, **fields}


def _fetch_request(row: Fetch) -> Struct:
    partition = _known(
        partition=row.partition, currentLeaderEpoch=row.current_leader_epoch, fetchOffset=row.fetch_offset,
        lastFetchedEpoch=row.last_fetched_epoch, logStartOffset=row.log_start_offset, partitionMaxBytes=1048576,
    )  # fmt: skip
    replica: Struct = {"replicaId": row.replica}
    if row.replica_epoch is not None:
        replica = {"replicaState": {"replicaId": row.replica, "replicaEpoch": row.replica_epoch}}
    sessions = {} if row.session_id is None else {"sessionId": row.session_id, "sessionEpoch": row.session_epoch}
    topics = [] if row.implied else [_topic(row, partitions=[partition])]
    request = {
        **replica, "maxWaitMs": 500, "minBytes": row.min_bytes, "maxBytes": 10485760, "isolationLevel": 0, **sessions,
        "topics": topics,
    }  # fmt: skip
    return request if row.session_id is None else {**request, "forgottenTopicsData": []}


def _fetch_answer(row: Fetch) -> Struct:
    header = _known(
        partition=row.partition, errorCode=row.error_code, highWatermark=row.high_watermark,
        lastStableOffset=row.last_stable_offset, logStartOffset=row.leader_log_start_offset,
    )  # fmt: skip
    if row.diverging_epoch is not None:
        header["divergingEpoch"] = {"epoch": row.diverging_epoch, "endOffset": row.diverging_end_offset}
    header["abortedTransactions"] = None
    if row.api_version is not None and row.api_version >= PREFERRED_SINCE:
        header["preferredReadReplica"] = -1
    answer: Struct = {"throttleTimeMs": 0}
    if row.session_id is not None:
        answer |= {"errorCode": row.session_error, "sessionId": row.answer_session_id}
    by_id = row.topic_id is not None
    if by_id:
        header = {"partitionIndex": header.pop("partition"), **header}
    header["recordsSizeInBytes" if by_id else "recordSetSizeInBytes"] = row.records_size
    partitions = {"partitions" if by_id else "partitionResponses": [header]}
    return {**answer, "responses": [] if row.answer_implied else [_topic(row, **partitions)]}


def _produce_request(row: Produce) -> Struct:
    data = {"name": row.topic, "partitionData": [{"index": row.partition, "recordsSizeInBytes": row.records_size}]}
    return {"transactionalId": None, "acks": row.acks, "timeoutMs": 30000, "topicData": [data]}


def _produce_answer(row: Produce) -> Struct | None:
    if row.error_code is None:
        return None
    answer: Struct = {
        "index": row.partition, "errorCode": row.error_code, "baseOffset": row.base_offset, "logAppendTimeMs": -1,
    }  # fmt: skip
    if row.log_start_offset is not None:
        answer["logStartOffset"] = row.log_start_offset
    return {"responses": [{"name": row.topic, "partitionResponses": [answer]}], "throttleTimeMs": 0}


def _epoch_request(row: EpochRequest) -> Struct:
    asked = _known(partition=row.partition, currentLeaderEpoch=row.current_leader_epoch, leaderEpoch=row.asked_epoch)
    return {**_known(replicaId=row.replica), "topics": [{"topic": row.topic, "partitions": [asked]}]}


def _epoch_answer(row: EpochRequest) -> Struct:
    end = _known(
        errorCode=row.error_code, partition=row.partition, leaderEpoch=row.answered_epoch, endOffset=row.end_offset
    )
    return {"topics": [{"topic": row.topic, "partitions": [end]}]}


def _offset_request(row: OffsetRequest) -> Struct:
    asked = _known(partitionIndex=row.partition, currentLeaderEpoch=row.current_leader_epoch, timestamp=row.timestamp)
    return {"replicaId": row.replica, "topics": [{"name": row.topic, "partitions": [asked]}]}


def _offset_answer(row: OffsetRequest) -> Struct:
    answer = _known(
        partitionIndex=row.partition, errorCode=row.error_code, timestamp=-1, offset=row.offset,
        leaderEpoch=row.leader_epoch,
    )  # fmt: skip
    return {"topics": [{"name": row.topic, "partitions": [answer]}]}


def _deletion(row: RequestEvent) -> tuple[Struct, Struct]:
    asked = {"partitionIndex": row.partition, "offset": row.offset}
    answer = {"partitionIndex": row.partition, "lowWatermark": row.low_watermark, "errorCode": row.error_code}
    return (
        {"topics": [{"name": row.topic, "partitions": [asked]}], "timeoutMs": 60000},
        {"throttleTimeMs": 0, "topics": [{"name": row.topic, "partitions": [answer]}]},
    )


def _ids(joined: str | None) -> list[int]:
    return list(replica_ids(joined))


def _order(row: IsrRequest) -> Struct:
    state = _known(
        partitionIndex=row.partition, controllerEpoch=row.sender_epoch, leader=row.leader, leaderEpoch=row.leader_epoch,
        isr=_ids(row.isr), zkVersion=row.partition_epoch, replicas=_ids(row.replicas), isNew=row.is_new,
    )  # fmt: skip
    head: Struct = {"controllerId": row.sender, "controllerEpoch": row.sender_epoch}
    if row.topic_id is not None:
        topic = {"topicName": row.topic, "topicId": row.topic_id, "partitionStates": [state]}
        return {**head, "brokerEpoch": 1, "type": 0, "topicStates": [topic], "liveLeaders": []}
    return {**head, "partitionStates": [{"topic": row.topic, **state}], "liveLeaders": []}


def _order_answer(row: IsrRequest) -> Struct:
    error = {"partitionIndex": row.partition, "errorCode": row.error_code}
    if row.topic_id is not None:
        return {"errorCode": 0, "topics": [{"topicId": row.topic_id, "partitionErrors": [error]}]}
    return {"errorCode": 0, "partitions": [{"topic": row.topic, **error}]}


def _alter_topic(row: IsrRequest, state: Struct) -> Struct:
    named: Struct = {"topicId": row.topic_id} if row.topic_id is not None else {"name": row.topic}
    return {**named, "partitions": [state]}


def _epoch_name(row: IsrRequest) -> str:
    return "partitionEpoch" if row.leader_recovery_state is not None else "currentIsrVersion"


def _proposal(row: IsrRequest) -> Struct:
    state: Struct = {"partitionIndex": row.partition, "leaderEpoch": row.leader_epoch, "newIsr": _ids(row.isr)}
    state |= _known(leaderRecoveryState=row.leader_recovery_state)
    state[_epoch_name(row)] = row.partition_epoch
    return {"brokerId": row.sender, "brokerEpoch": row.sender_epoch, "topics": [_alter_topic(row, state)]}


def _proposal_answer(row: IsrRequest) -> Struct:
    state: Struct = {
        "partitionIndex": row.partition, "errorCode": row.error_code, "leaderId": row.leader,
        "leaderEpoch": row.leader_epoch, "isr": _ids(row.isr),
        **_known(leaderRecoveryState=row.leader_recovery_state), _epoch_name(row): row.partition_epoch,
    }  # fmt: skip
    return {"throttleTimeMs": 0, "errorCode": 0, "topics": [_alter_topic(row, state)]}


def _milliseconds(micros: int | None) -> float:
    return (micros or 0) / 1000


def _json_line(row: Row, api: str, asked: Struct, answered: Struct | None) -> bytes:
    line: Struct = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": KEYS[api], "requestApiVersion": row.api_version, "correlationId": row.correlation_id,
            "clientId": row.client_id, "requestApiKeyName": api,
        },
        "request": asked, "response": answered or "", "connection": f"127.0.0.1:9092-127.0.0.1:{_port(row)}-0",
        "totalTimeMs": _milliseconds(row.total_time_us), "requestQueueTimeMs": _milliseconds(row.queue_time_us),
        "localTimeMs": _milliseconds(row.local_time_us), "remoteTimeMs": _milliseconds(row.remote_time_us),
        "throttleTimeMs": 0, "responseQueueTimeMs": _milliseconds(row.response_queue_time_us),
        "sendTimeMs": _milliseconds(row.send_time_us), "securityProtocol": "PLAINTEXT", "principal": "User:ANONYMOUS",
        "listener": "PLAINTEXT", "clientInformation": _UNKNOWN_CLIENT,
    }  # fmt: skip
    text = json.dumps(line, separators=(",", ":"))
    return f"[{row.time_text}] DEBUG Completed request:{text} (kafka.request.logger)\n".encode()


def _port(row: Row) -> int:
    """One connection a client: sessions belong to it."""
    return 40_000 + sum((row.client_id or "").encode())


def _text_line(row: Row, api: str, asked: Struct, answered: Struct | None) -> bytes:
    header = (
        f"RequestHeader(apiKey={api}, apiVersion={row.api_version}, clientId={row.client_id},"
        f" correlationId={row.correlation_id})"
    )
    if isinstance(row, Produce):  # printed without its records, and so without its partitions
        asked = {"acks": row.acks, "timeout": 30000, "numPartitions": 1}
    times = (
        f"totalTime:{_milliseconds(row.total_time_us)},requestQueueTime:{_milliseconds(row.queue_time_us)},"
        f"localTime:{_milliseconds(row.local_time_us)},remoteTime:{_milliseconds(row.remote_time_us)},throttleTime:0.0,"
        f"responseQueueTime:{_milliseconds(row.response_queue_time_us)},sendTime:{_milliseconds(row.send_time_us)},"
        "securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,listener:PLAINTEXT"
    )
    answer = _struct(_as_text(answered)) if answered is not None else ""
    words = f"{header} -- {_struct(_as_text(asked))},response:{answer} from connection 127.0.0.1:9092-127.0.0.1:"
    return f"[{row.time_text}] DEBUG Completed request:{words}{_port(row)}-0;{times} (kafka.request.logger)\n".encode()


def _as_text(struct: Struct) -> Struct:
    """The fields as the text names them: fetched partitions have a header and a set of records."""
    found: Struct = {}
    for name, value in struct.items():
        if name == "partitionResponses" and isinstance(value, list) and "highWatermark" in value[0]:
            found[name] = [_with_records(dict(header)) for header in value]
        elif name == "index" or (name == "partitionIndex" and "currentIsrVersion" not in struct):
            found["partition"] = value
        elif name == "name":
            found["topic"] = value
        else:
            found[name] = value
    return found


def _with_records(header: Struct) -> Struct:
    empty = header.pop("recordSetSizeInBytes") == 0
    return {"partitionHeader": header, "recordSet": [] if empty else FILE_RECORDS}


def _struct(struct: Mapping[str, object]) -> str:
    return "{" + ",".join(f"{_snake(name)}={_value(value)}" for name, value in struct.items()) + "}"


def _value(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return _struct(_as_text(value))
        case list():
            return "[" + ",".join(_value(item) for item in value) + "]"
        case _:
            return str(value)


def _snake(name: str) -> str:
    if name in _SNAKE:
        return _SNAKE[name]
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
