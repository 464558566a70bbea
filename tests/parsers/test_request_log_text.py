"""Struct text of Kafka 1.0 to 2.7: shapes that were recorded, and shapes that releases between them wrote."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.request_log.fields import WrongShape
from parsers.request_log.positions import times_of
from parsers.request_log.struct_text import parse_struct
from parsers.request_log.typed import (
    NULL,
    AnsweredTopic,
    AskedTopic,
    FetchAnswered,
    FetchedPartition,
    FetchHeader,
    FetchLine,
    FetchPartition,
    ForgottenTopic,
)
from parsers.tables.requests import Fetch
from tests.lab.effort import cases
from tests.lab.whole_logs import RequestLog, read_request_lines

ORIGIN = Origin(source="kafka-request.log", broker=1)
TIMES = (
    "totalTime:12.3,requestQueueTime:0.05,localTime:0.4,remoteTime:11.7,throttleTime:0.1,responseQueueTime:0.06,"
    "sendTime:0.05"
)
TAIL = f" from connection h:9093-h:51544-3;{TIMES},securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,listener:I"


def read(api: str, version: int, request: str, response: str, client: str = "broker-2-fetcher-0") -> RequestLog:
    header = f"RequestHeader(apiKey={api}, apiVersion={version}, clientId={client}, correlationId=991)"
    line = f"[2020-01-02 03:04:05,678] DEBUG Completed request:{header} -- {request},response:{response}{TAIL}"
    return read_request_lines(io.BytesIO(f"{line} (kafka.request.logger)\n".encode()), ORIGIN)


@pytest.mark.parametrize(
    ("records", "size"),
    [
        ("FileRecords(size=733, file=/data/t-0/00000000000000000000.log, start=5120, end=5853)", 733),
        ("FileRecords(file= /data/t-0/00000000000000000000.log, start=5120, end=5853)", 733),
        ("MemoryRecords(size=0, buffer=java.nio.HeapByteBuffer[pos=0 lim=0 cap=0])", 0),
        ("LazyDownConversionRecords(size=90, minimumSize=80)", 90),
        ("org.apache.kafka.common.record.FileRecords@2295068e", None),
        ("[]", 0),
        ("null", 0),
    ],
)
def test_records_are_sized_where_their_text_tells(records: str, size: int | None) -> None:
    request = (
        "{replica_id=2,max_wait_time=500,min_bytes=1,max_bytes=10485760,isolation_level=0,session_id=1834,session_epoch=57,"
        "topics=[{topic=t,partitions=[{partition=0,current_leader_epoch=3,fetch_offset=21,log_start_offset=0,"
        "partition_max_bytes=1048576}]}],forgotten_topics_data=[{topic=u,partitions=[4,5]}],rack_id=a,b}"
    )
    header = "{partition=0,error_code=0,high_watermark=21,last_stable_offset=20,log_start_offset=1,aborted=null}"
    response = (
        "{throttle_time_ms=0,error_code=0,session_id=1834,responses=[{topic=t,partition_responses="
        f"[{{partition_header={header},record_set={records}}}]}}]}}"
    )
    log = read("FETCH", 11, request, response)
    assert log.refusals == ()
    (call,) = log.fetch_calls
    assert isinstance(call.line, FetchLine)
    asked, answered = call.line.request, call.line.response
    assert (asked.replicaId, asked.sessionId, asked.sessionEpoch) == (2, 1834, 57)
    assert call.line.requestHeader == FetchHeader(11, "FETCH", 991, "broker-2-fetcher-0")
    assert asked.topics == [AskedTopic("t", [FetchPartition(0, 3, 21, logStartOffset=0)])]
    assert asked.forgottenTopicsData == [ForgottenTopic("u", partitions=(4, 5))]
    partition = FetchedPartition(0, 0, 21, 20, 1, NULL if size is None else size)
    assert answered == FetchAnswered(0, 1834, [AnsweredTopic("t", partitions=[partition])])
    (row,) = (row for row in log.fetches(ORIGIN) if isinstance(row, Fetch) and row.topic == "t")
    assert times_of(row) == (12300, 50, 400, 11700, 60, 50)


def test_flattened_answers_of_2_7_with_tagged_fields() -> None:
    partition = (
        "{partition=0,error_code=0,high_watermark=7,last_stable_offset=7,log_start_offset=0,"
        "diverging_epoch={epoch=-1,end_offset=-1,_tagged_fields={}},aborted_transactions=null,preferred_read_replica=-1,"
        "record_set=MemoryRecords(size=11, buffer=java.nio.HeapByteBuffer[pos=0 lim=0 cap=3]),_tagged_fields={}}"
    )
    log = read(
        "FETCH",
        12,
        "{replica_id=2,session_id=0,session_epoch=0,topics=[],forgotten_topics_data=[],rack_id=,_tagged_fields={}}",
        f"{{throttle_time_ms=0,error_code=0,session_id=9,responses=[{{topic=t,partition_responses=[{partition}]}}]}}",
    )
    rows = [row for row in log.fetches(ORIGIN) if isinstance(row, Fetch)]
    assert [(row.high_watermark, row.records_size) for row in rows] == [(7, 11)]


def test_a_diverging_answer_of_2_7_names_its_tagged_fields_by_number() -> None:
    asked = "{partition=0,current_leader_epoch=5,fetch_offset=999,last_fetched_epoch=4,log_start_offset=0}"
    answered = (
        "{partition=0,error_code=0,high_watermark=1607,last_stable_offset=1607,log_start_offset=0,"
        "record_set=MemoryRecords(size=0, buffer=java.nio.HeapByteBuffer[pos=0 lim=0 cap=0]),_tagged_fields={"
        "0={epoch=4,end_offset=971,_tagged_fields={}}, 1={leader_id=2,leader_epoch=5,_tagged_fields={}}}}"
    )
    request = f"{{replica_id=1,session_id=0,session_epoch=0,topics=[{{topic=w,partitions=[{asked}]}}]}}"
    log = read(
        "FETCH",
        12,
        request,
        f"{{error_code=0,session_id=9,responses=[{{topic=w,partition_responses=[{answered}]}}],_tagged_fields={{}}}}",
    )
    assert log.refusals == ()
    (row,) = (row for row in log.fetches(ORIGIN) if isinstance(row, Fetch))
    assert (row.diverging_epoch, row.diverging_end_offset, row.fetch_offset) == (4, 971, 999)
    assert (row.answer_leader, row.answer_leader_epoch) == (2, 5)


def test_camel_case_text_is_read_too() -> None:
    log = read(
        "OFFSET_FOR_LEADER_EPOCH",
        3,
        "{replicaId=2,topics=[{topic=t,partitions=[{partition=0,currentLeaderEpoch=3,leaderEpoch=2}]}]}",
        "{throttleTimeMs=0,topics=[{topic=t,partitions=[{errorCode=0,partition=0,leaderEpoch=1,endOffset=21}]}]}",
    )
    assert [(row.replica, row.asked_epoch, row.answered_epoch, row.end_offset) for row in log.epoch_requests] == [
        (2, 2, 1, 21)
    ]


def test_orders_by_topic_of_2_4_and_list_offsets_of_a_replica() -> None:
    state = (
        "{partition_index=0,controller_epoch=7,leader=1,leader_epoch=3,isr=[1,2],zk_version=9,replicas=[1,2,3],"
        "adding_replicas=[],removing_replicas=[],is_new=false,_tagged_fields={}}"
    )
    order = read(
        "LEADER_AND_ISR",
        4,
        f"{{controller_id=1,controller_epoch=7,topic_states=[{{topic_name=t,partition_states=[{state}]}}],live_leaders=[]}}",
        "{error_code=0,partition_errors=[{topic_name=t,partition_index=0,error_code=11}]}",
    ).isr_requests
    assert [(row.topic, row.leader, row.isr, row.replicas, row.partition_epoch, row.error_code) for row in order] == [
        ("t", 1, "1,2", "1,2,3", 9, 11)
    ]
    offsets = read(
        "LIST_OFFSETS",
        5,
        "{replica_id=2,isolation_level=0,topics=[{topic=t,partitions=[{partition=0,current_leader_epoch=3,timestamp=-2}]}]}",
        "{responses=[{topic=t,partition_responses=[{partition=0,error_code=0,timestamp=-1,offset=5,leader_epoch=1}]}]}",
    ).offset_requests
    assert [(row.replica, row.timestamp, row.offset, row.leader_epoch) for row in offsets] == [(2, -2, 5, 1)]


@pytest.mark.parametrize(
    ("tail", "times"),
    [
        (f"{TIMES},principal:User:a", (12300, 50, 400, 11700, 60, 50)),
        (f"{TIMES},principal:User:a,localTime:7,b", (12300, 50, 7000, 11700, 60, 50)),
        (f"{TIMES},principal:User:xlocalTime:7,b", (12300, 50, 400, 11700, 60, 50)),
        ("localTime:2,totalTime:12,remoteTime:1.5,", (12000, None, 2000, 1500, None, None)),
        ("sendTime:1,requestQueueTime:2,responseQueueTime:3,remoteTime:4;", (None, 2000, None, None, 3000, 1000)),
        ("totalTime:1,requestQueueTime:2,localTime:3,remoteTime:4;", (1000, 2000, 3000, None, None, None)),
        ("principal:User:a", (None,) * 6),
    ],
)
def test_times_are_found_wherever_they_stand_and_the_last_of_a_name_counts(
    tail: str, times: tuple[int | None, ...]
) -> None:
    header = "RequestHeader(apiKey=FETCH, apiVersion=4, clientId=c, correlationId=9)"
    named = "{topics=[{topic=t,partitions=[{partition=0}]}]}"
    line = f"[2020-01-02 03:04:05,678] DEBUG Completed request:{header} -- {named},response:{{}}"
    text = f"{line} from connection h:1-h:2-0;{tail} (kafka.request.logger)\n"
    (row,) = read_request_lines(io.BytesIO(text.encode()), ORIGIN).fetches(ORIGIN)
    assert isinstance(row, Fetch)
    assert times_of(row) == times


def test_unanswered_produce_keeps_what_was_sent() -> None:
    log = read("PRODUCE", 5, "{acks=0,timeout=30000,numPartitions=1}", "")
    assert log.refusals == ()
    assert log.produces == ()


@pytest.mark.parametrize("client", ["a, correlationId=7) -- {x=1}", "b) -- {", "", "c,d=e"])
def test_client_names_with_the_grammars_own_marks_end_where_the_header_ends(client: str) -> None:
    log = read("FETCH", 7, "{replica_id=2,session_id=0,epoch=0,topics=[]}", "{error_code=0,session_id=9}", client)
    read_names = [call.line.requestHeader.clientId for call in log.fetch_calls]
    assert read_names == ([client] if "correlationId" not in client else [])
    assert bool(log.refusals) == (not read_names)


BEHIND = ",response:"
NAMES = st.sampled_from(["a", "topic", "log_start_offset", "error_code", "x_y"])
WORDS = st.text("abcxyz. ", min_size=1, max_size=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(1 << 62), 1 << 62), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=12,
)


def printed(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}={printed(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(printed, value)) + "]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def camel(value: object) -> object:
    if isinstance(value, dict):
        names = ((name.split("_"), inner) for name, inner in value.items())
        return {head + "".join(part.title() for part in tail): camel(inner) for (head, *tail), inner in names}
    return [camel(item) for item in value] if isinstance(value, list) else value


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_was_printed_is_read_back(struct: dict[str, object]) -> None:
    text = printed(struct)
    assert parse_struct(text + BEHIND, 0, BEHIND) == (camel(struct), len(text))


PIECES = st.sampled_from([
    *"{}[],=-.0195aZ_:(", "null", "true", "{}", "[]", "a=b", "a=1,", "=,", "[{a=1}]", "{b=x,c=[1,2]}", "007", "1.5",
    "-0", "9" * 20, "9" * 21, ",,", "x,y", "a_b=3,aB=4,", "topic=t-1,", "_" * 70, ",a=", "=null,",
])  # fmt: skip


@given(st.lists(PIECES, max_size=8))
@settings(max_examples=cases(500))
def test_everyday_structs_say_what_a_walk_finds(pieces: list[str]) -> None:
    text = "{" + "".join(pieces) + "}"
    read = []
    for behind in (BEHIND, "what stands nowhere"):
        try:
            read.append(parse_struct(text + BEHIND, 0, behind))
        except WrongShape:
            read.append(None)
    assert repr(read[0]) == repr(read[1])


DEEP = "{a=" * 40 + "1" + "}" * 40


@pytest.mark.parametrize("text", ["", "a", "{a", "{a=", "{a=1", "{a=[1", "{a=(}", "{=1}", "{a={}b=1}", DEEP])
def test_broken_structs_are_refused(text: str) -> None:
    with pytest.raises(WrongShape):
        parse_struct(text, 0, BEHIND)
