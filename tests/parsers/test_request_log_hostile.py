"""Request logs as they should not be: torn, mutated, overlong, deep, in other encodings, packed badly."""

from __future__ import annotations

import gzip
import io
import json
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.request_log.lines_of_range import Line, blocks_of
from parsers.tables import Fetch, arrow_schema, to_arrow
from tests.lab.effort import cases
from tests.lab.whole_logs import RequestLog, fetch_rows, lines_in, read_request_lines, read_request_log

SAMPLES = Path(__file__).parents[2] / "sample_logs"
ORIGIN = Origin(source="kafka-request.log", broker=1)
TAIL = b" (kafka.request.logger)"
PREFIX = b"[2026-11-21 05:38:21,717] DEBUG "


def recorded(case: str, node: str, *marks: bytes) -> list[bytes]:
    """The first line of a log for each mark."""
    lines = (SAMPLES / case / "dump" / node / "logs" / "kafka-request.log").read_bytes().split(b"\n")
    return [next(line for line in lines if mark in line) for mark in marks]


JSON_LINES = [
    *recorded("clean_4x", "broker-1", b'"FETCH"', b'"partitionIndex":0,"errorCode":0,"high'),
    *recorded("clean_4x", "broker-1", b'"PRODUCE"', b'"METADATA"'),
    *recorded("clean_2_8", "broker-1", b'"LEADER_AND_ISR"', b'"STOP_REPLICA"', b'"CONTROLLED_SHUTDOWN"'),
    *recorded("clean_mixed", "controller-100", b'"ALTER_PARTITION"', b'"BROKER_REGISTRATION"'),
]
TEXT_LINES = recorded(
    "clean_1_1", "broker-1", b"apiKey=FETCH", b"FileRecords@", b"OFFSET_FOR_LEADER_EPOCH", b"LEADER_AND_ISR",
    b"PRODUCE", b"STOP_REPLICA", b"WRITE_TXN_MARKERS", b"METADATA", b"CONTROLLED_SHUTDOWN",
)  # fmt: skip


def read(text: bytes) -> RequestLog:
    return read_request_lines(io.BytesIO(text), ORIGIN)


def every_row_travels(log: RequestLog) -> None:
    fetches = [row for row in fetch_rows(log.fetch_calls, ORIGIN) if isinstance(row, Fetch)]
    for rows in (fetches, log.produces, log.epoch_requests, log.isr_requests, log.request_events, log.refusals):
        if rows:
            to_arrow(rows, type(rows[0]))
    assert arrow_schema(Fetch) is not None


PUTS = [b"{", b"}", b"]", b"null", b"-1", b'"', b"1e9", b"9" * 25, b"\\ud800"]


@given(st.sampled_from(JSON_LINES + TEXT_LINES), st.data())
@settings(max_examples=cases(150), deadline=None)
def test_a_mutated_line_is_read_or_refused_but_never_raises(line: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    gone = data.draw(st.integers(0, 12))
    put = data.draw(st.one_of(st.binary(max_size=6), st.sampled_from(PUTS)))
    log = read(line[:at] + put + line[at + gone :] + b"\n")
    counts = log.counts
    # A torn line may be refused and the one behind it read, so a line can count twice, but none can vanish.
    assert counts.fetches + counts.requests + counts.unread + counts.other + counts.refused >= counts.lines
    assert len(log.refusals) == counts.refused
    every_row_travels(log)


@pytest.mark.parametrize("line", [JSON_LINES[1], TEXT_LINES[1], JSON_LINES[4], TEXT_LINES[3]])
def test_a_line_cut_short_at_the_end_of_the_file_is_refused_as_truncated(line: bytes) -> None:
    for cut in range(60, len(line) - 400, 97):
        log = read(line[:cut])
        assert [(refusal.kind, refusal.span_start, refusal.span_end) for refusal in log.refusals] == [
            ("truncated_line", 0, cut)
        ]


def test_a_torn_line_gives_up_only_itself_where_the_next_one_was_written_behind_it() -> None:
    torn, whole = JSON_LINES[0][:500], JSON_LINES[1]
    log = read(torn + whole + b"\n")
    assert [(refusal.kind, refusal.span_start, refusal.span_end) for refusal in log.refusals] == [
        ("truncated_line", 0, 500)
    ]
    assert [(call.start, call.end) for call in log.fetch_calls] == [(500, 500 + len(whole))]


def test_zeros_of_lost_pages_before_a_line_are_refused_alone() -> None:
    log = read(b"\0" * 40 + JSON_LINES[0] + b"\n")
    assert [(refusal.span_start, refusal.span_end) for refusal in log.refusals] == [(0, 40)]
    assert [call.start for call in log.fetch_calls] == [40]


def test_other_loggers_are_passed_over_and_garbage_is_refused() -> None:
    log = read(PREFIX + b"preRegister called. Server=x" + TAIL + b"\n\n\tat kafka.Kafka\n" + JSON_LINES[0] + b"\r\n")
    assert (log.counts.other, log.counts.refused, log.counts.fetches) == (2, 1, 1)
    assert [refusal.kind for refusal in log.refusals] == ["malformed"]


def test_a_client_cannot_forge_a_line_through_its_name() -> None:
    line = json.loads(JSON_LINES[1][JSON_LINES[1].index(b"{") : JSON_LINES[1].rindex(b"}") + 1])
    line["requestHeader"]["clientId"] = (PREFIX + b"Completed request:{}").decode()
    log = read(PREFIX + b"Completed request:" + json.dumps(line).encode() + TAIL + b"\n")
    assert log.refusals == ()
    assert [call.line.requestHeader.clientId for call in log.fetch_calls] == [line["requestHeader"]["clientId"]]


def test_client_names_in_another_encoding_are_escaped_and_nothing_else_is_lost() -> None:
    line = JSON_LINES[1].replace(b'"clientId":"', b'"clientId":"caf\xe9-')
    plain, odd = read(JSON_LINES[1] + b"\n").fetch_calls[0], read(line + b"\n").fetch_calls[0]
    assert odd.line.requestHeader.clientId == "caf\\xe9-" + (plain.line.requestHeader.clientId or "")
    assert odd.line.request == plain.line.request
    every_row_travels(read(line + b"\n"))
    assert read(JSON_LINES[1].decode().encode("utf-16")).fetch_calls == ()


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"requestHeader":{"requestApiKey":1,"requestApiVersion":' + b"9" * 100_000,
        b"RequestHeader(apiKey=FETCH, apiVersion=7, clientId=a, correlationId=1) -- " + b"{a=" * 100_000,
        b"RequestHeader(apiKey=FETCH, apiVersion=7, clientId=a, correlationId=1) -- {a=" + b"(" * 100_000,
        b"RequestHeader(apiKey=FETCH, apiVersion=7, clientId=" + b", correlationId=1" * 20_000,
        b"Completed request:" * 20_000,
    ],
)
def test_deep_and_endless_structures_are_refused(body: bytes) -> None:
    log = read(PREFIX + b"Completed request:" + body + TAIL + b"\n")
    assert log.counts.lines == 1
    assert log.refusals
    assert log.fetch_calls == ()


def test_a_line_beyond_the_limit_is_refused_and_its_neighbours_are_read(tmp_path: Path) -> None:
    path = tmp_path / "kafka-request.log"
    path.write_bytes(JSON_LINES[0] + b"\n" + b"x" * 3_000_000 + b"\n" + JSON_LINES[1] + b"\n")
    log = read_request_log(path, ORIGIN, line_limit=100_000)
    start = len(JSON_LINES[0]) + 1
    refused = [(row.kind, row.span_start, row.span_end) for row in log.refusals]
    assert refused == [("too_large", start, start + 3_000_000)]
    assert len(log.fetch_calls) == 2


def test_a_line_of_millions_of_values_is_refused_before_any_of_them_is_made() -> None:
    crowded = b"Completed request:" + b'{"requestHeader":{"requestApiKey":1},"request":[' + b"{}," * 1_100_000 + b"0]}"
    text = b"".join(PREFIX + line + TAIL + b"\n" for line in (crowded, b"Completed request:" + b"{" * 1000))
    tracemalloc.start()
    log = read(JSON_LINES[0] + b"\n" + text + JSON_LINES[1] + b"\n")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [row.kind for row in log.refusals] == ["too_large", "malformed"]
    assert (len(log.fetch_calls), peak < 6 * len(text)) == (2, True)


@given(st.lists(st.binary(max_size=12), max_size=8), st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=cases(150), deadline=None)
def test_ranges_share_out_the_lines(pieces: list[bytes], first: int, second: int) -> None:
    text = b"\n".join(pieces)
    borders = sorted((min(first, len(text)), min(second, len(text))))
    cuts = [(0, borders[0]), (borders[0], borders[1]), (borders[1], None)]

    def lines(start: int, end: int | None) -> list[Line]:
        return [line for piece in blocks_of(io.BytesIO(text), start, end, 8) for line in lines_in(piece, 8)]

    assert [line for cut in cuts for line in lines(*cut)] == lines(0, None)
    assert all(text[line.start : line.end].startswith(line.data) for line in lines(0, None))
    assert sum(line.end - line.start + 1 for line in lines(0, None)) in (len(text), len(text) + 1)


def test_packed_logs_are_one_range(tmp_path: Path) -> None:
    path = tmp_path / "kafka-request.log.2026-11-21-05.gz"
    text = b"\n".join([*JSON_LINES, *TEXT_LINES, b""])
    path.write_bytes(gzip.compress(text))
    log = read_request_log(path, ORIGIN)
    assert log == read(text)
    assert read_request_log(path, ORIGIN, 10, 20).counts.lines == 0


def test_a_damaged_pack_keeps_what_stood_before_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "kafka-request.log.1.gz"
    packed = gzip.compress(b"\n".join(JSON_LINES * 200))
    path.write_bytes(packed[: len(packed) // 2])
    log = read_request_log(path, ORIGIN)
    assert [refusal.kind for refusal in log.refusals] == ["damage"]
    path.write_bytes(packed[:-8] + b"\0" * 8)
    log = read_request_log(path, ORIGIN)
    assert log.counts.fetches > 300
    assert [refusal.kind for refusal in log.refusals] == ["damage"]


def test_other_layouts_are_read_by_their_pattern(tmp_path: Path) -> None:
    path = tmp_path / "kafka-request.log"
    message = JSON_LINES[1][len(PREFIX) : -len(TAIL)]
    path.write_bytes(b"2026-11-21T05:38:21.717Z DEBUG [data-plane-kafka-network-thread-1] " + message + b"\n")
    assert read_request_log(path, ORIGIN).fetch_calls == ()
    log = read_request_log(path, ORIGIN, patterns=["%d{ISO8601} %-5p [%t] %m%n"])
    assert [call.time_text for call in log.fetch_calls] == [b"2026-11-21T05:38:21.717Z"]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert [row.kind for row in read_request_log(tmp_path / "none.log", ORIGIN).refusals] == ["unreadable"]


TEXT = PREFIX + b"Completed request:RequestHeader(apiKey=FETCH, apiVersion=4, clientId=c, correlationId=9) -- "
JSON = PREFIX + b'Completed request:{"requestHeader":{"requestApiKey":1},"request":{"maxBytes":'


REPEATED = [b"{", b"{{{*", b"[", b"(", b",a=(", b"{a=[", b"a=x,", b"},response:", PREFIX + b"Completed request:"]


@pytest.mark.parametrize("start", [TEXT + b"{max_bytes=", TEXT + b"{},response:", JSON], ids=["asked", "told", "JSON"])
@pytest.mark.parametrize("unit", REPEATED)
def test_the_time_of_a_hostile_line_grows_as_its_length(start: bytes, unit: bytes) -> None:
    took = []
    for size in (1 << 14, 1 << 18):
        text = start + unit * (size // len(unit)) + b"\n"
        began = time.process_time()
        log = read(text)
        took.append(time.process_time() - began)
        assert log.counts.fetches == 0
        assert log.refusals
    # Sixteen times as long; what grew as the square would take 256 times as long.
    assert took[1] < 80 * max(took[0], 0.005)


def test_a_line_in_which_others_begin_without_end_is_given_up() -> None:
    good = TEXT_LINES[0]
    log = read(good[:200] * 5000 + b"\n" + good + b"\n")
    assert len(log.fetch_calls) == 1
    assert log.refusals[-1].kind == "too_large"
    assert log.counts.refused == len(log.refusals) < 100


@pytest.mark.parametrize("api", [b'"FETCH"', b'"PRODUCE"'])
@pytest.mark.parametrize("mark", [b'"request":{', b'"response":{'])
def test_a_line_that_holds_parts_of_two_requests_is_refused(api: bytes, mark: bytes) -> None:
    """Where what lay between two lines was lost, their halves can make one JSON object."""
    lines = (SAMPLES / "clean_4x" / "dump" / "broker-1" / "logs" / "kafka-request.log").read_bytes().splitlines()
    first, second = [line for line in lines if api in line and b'"response":{' in line][:2]
    head = first[: first.index(b'"response":{') + len(b'"response":{')] + b'"sessionId":0},'
    spliced = head + second[second.index(mark) :]
    assert json.loads(spliced[spliced.index(b"{") : spliced.rindex(b"}") + 1])
    log = read(spliced + b"\n")
    assert not log.fetch_calls
    assert not log.produces
    assert [refusal.expected for refusal in log.refusals] == ["one request and its answer"]
