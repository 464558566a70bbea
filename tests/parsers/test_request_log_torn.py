"""Lines with holes, and lines of which two were written into each other: structs tell of them what the grammar does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.effort import cases
from tests.parsers.test_request_log_structs import TEXTS, by_structs, recorded, same

FETCH = (
    b"[2026-11-21 05:40:40,949] DEBUG Completed request:RequestHeader(apiKey=FETCH, apiVersion=7, clientId=c, "
    b"correlationId=3) -- {replica_id=2,session_id=0,epoch=-1,topics=[]},response:{error_code=0,session_id=0,responses="
    b"[{topic=orders,partition_responses=[%s]}]} from connection h:1-h:2-0;totalTime:1.0,requestQueueTime:0.1,"
    b"localTime:0.1,remoteTime:0.1,throttleTime:0.0,responseQueueTime:0.1,sendTime:0.1,securityProtocol:P "
    b"(kafka.request.logger)\n"
)
WHOLE = b"{partition_header={partition=0,high_watermark=365},record_set=[]}"
TORN = (
    (b"{partition_header={partition=0,high_watermark=365},record_set=org.apache.kafkrror_code=0,high_watermark=320},"
    b"record_set=[]}"),
    b"{partition_header={partition=0,high_watermark=365},{partition_header={partition=1,high_watermark=5},record_set=[]}",
    b"{partition=0,high_watermark=365},record_set=[]}",
    b"{partition_header={partition=0,high_watermark=365},record_set=[],high_watermark=320}",
    b"{partition_header={partition=0,high_watermark=1},record_set=[]},record_set=[]},{partition_header={partition=1}",
    b"{partition_header={partition=0,high_watermark=1}},{partition=1,high_watermark=2},record_set=[]}",
)
OBJECT = (
    b'{"requestHeader":{"requestApiKey":1,"requestApiVersion":12,"correlationId":%d,"requestApiKeyName":"FETCH"},'
    b'"request":{"replicaId":3,"sessionId":0,"sessionEpoch":-1,"topics":[{"topic":"a","partitions":[{"partition":0,'
    b'"fetchOffset":%d}]}]%s},"response":{"errorCode":0,"sessionId":%d,"responses":[]},"connection":"h:1-h:2-0",'
    b'"totalTimeMs":1}'
)
PREFIX = b"[2026-11-21 05:38:21,717] DEBUG Completed request:"


@given(st.data())
@settings(max_examples=cases(200), deadline=None)
def test_a_hole_tells_the_same(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from((*recorded(), *TEXTS)))
    at, gone = data.draw(st.integers(0, len(line))), data.draw(st.integers(1, 400))
    same(recorded()[0] + b"\n" + line[:at] + line[at + gone :] + b"\n" + recorded()[1] + b"\n")


@given(st.data())
@settings(max_examples=cases(200), deadline=None)
def test_two_lines_in_each_other_tell_the_same(data: st.DataObject) -> None:
    lines = st.sampled_from((*recorded(), *TEXTS))
    one, other = data.draw(lines), data.draw(lines)
    at, start = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(other)))
    middle = other[start : start + data.draw(st.integers(0, 400))]
    rest = one[at:] if data.draw(st.booleans()) else other[start:]
    same(one[:at] + middle + rest + b"\n" + other + b"\n")


@pytest.mark.parametrize("partition", [WHOLE, *TORN])
def test_a_partition_without_its_header_or_records_is_no_row_of_a_neighbour(partition: bytes) -> None:
    same(FETCH % partition)
    same(FETCH % (WHOLE + b"," + partition) + FETCH % WHOLE)
    watermarks = re.findall(r"high_watermark=(\d+)", "".join(by_structs(FETCH % partition)[0].get("Fetch", [])))
    assert watermarks in ([], ["365"])


def test_no_client_is_called_after_a_header_that_was_written_into_its_own() -> None:
    whole = FETCH % WHOLE
    head = whole[: whole.index(b"{")]
    same(head + whole[1:] + whole)


def test_two_objects_on_one_line_do_not_stand_for_a_torn_line_before_them() -> None:
    torn = PREFIX + b'{"requestHeader":{"requestApiKey":1,"requestApi\n'
    same(torn + PREFIX + OBJECT % (1, 11, b"", 0) + OBJECT % (2, 22, b"", 0) + b" (k)\n")


def test_what_is_torn_behind_its_last_brace_is_read_by_the_grammar() -> None:
    same(PREFIX + OBJECT % (1, 11, b"", 0) + b' "request":{ (k)\n' + PREFIX + OBJECT % (2, 12, b"", 0) + b" (k)\n")


def test_a_number_below_zero_is_no_partition_of_another_topic() -> None:
    asked = b',"forgottenTopicsData":[{"topic":"x","partitions":[0]},{"topic":"b","partitions":[-1]}]'
    line = PREFIX + OBJECT % (1, 11, asked, 7) + b" (k)\n"
    text = line.replace(b'"sessionId":0', b'"sessionId":7').replace(b'"sessionEpoch":-1', b'"sessionEpoch":1')
    _, sessions, _ = by_structs(text)
    assert {key.partition for session in sessions.sessions.values() for key in session.partitions} == {0}
