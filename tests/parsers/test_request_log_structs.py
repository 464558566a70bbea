"""Lines read by structs against the grammar: the same is told by recorded lines and by any mutation of them."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.engines.witnesses.fetched import ByColumns
from auditor.engines.witnesses.statements_of_requests import of_trace
from auditor.engines.witnesses.thinned_traces import Thinning
from parsers.provenance import Origin
from parsers.request_log import NOTHING, Again, LineCounts, Other, RequestColumns, SessionState, fetch_columns, join
from parsers.request_log.batches import batches_of
from parsers.request_log.blocks import LineReading
from parsers.request_log.folded import Folded
from parsers.request_log.lines_of_range import blocks_of
from parsers.request_log.trace import read_pieces
from parsers.tables import Fetch, Produce, SessionGap, from_arrow
from rules.history.moments import Moment
from rules.history.repetitions import collapse
from tests.benchmarks.busy_audit import busy_trace
from tests.lab.effort import cases, fast_if
from tests.lab.whole_logs import RequestLog, fold, read_request_lines

SAMPLES = Path(__file__).parents[2] / "sample_logs"
LOGS = sorted(SAMPLES.glob("*/dump/*/logs/kafka-request.log"))
ORIGIN = Origin(source="kafka-request.log", broker=1)
Said = tuple[tuple[str | None, int], Moment]
Read = tuple[dict[str, list[str]], SessionState, LineCounts]


def parts_of(text: bytes, reading: LineReading, folded: Folded) -> list[RequestColumns | Other]:
    return list(read_pieces(blocks_of(io.BytesIO(text), 0, None), reading, folded))


def moments(told: Sequence[Other | ByColumns]) -> list[Said]:
    """Statements without their repetitions, those of each partition together."""
    spoken: dict[tuple[tuple[str | None, int], str | None], list[Moment]] = {}
    for place, _, moment in of_trace(told, ORIGIN, {}):
        spoken.setdefault((place, moment.topic_id if place[0] is None else None), []).append(moment)
    return sorted(((place, one) for (place, _), own in spoken.items() for one in collapse(own)), key=repr)


def by_grammar(text: bytes, before: SessionState = NOTHING) -> Read:
    """Every row of a log, all of whose lines are read by the grammar."""
    log: RequestLog = read_request_lines(io.BytesIO(text), ORIGIN)
    others = (log.epoch_requests, log.offset_requests, log.isr_requests, log.request_events, log.refusals)
    rows = [*log.fetches(ORIGIN, before), *log.produces, *(row for rows in others for row in rows)]
    return sorted_by_kind(rows), fold(log.fetch_calls), log.counts


def by_structs(text: bytes, before: SessionState = NOTHING) -> Read:
    """The same as the trace reads it."""
    counts, folded = LineCounts(), Folded(before, runs=False)
    rows = list[object]()
    for part in parts_of(text, LineReading(ORIGIN, counts, runs=False), folded):
        if isinstance(part, RequestColumns):
            kinds = (Fetch, SessionGap, Produce)
            batches = ((kind, batch) for kind in kinds for batch in batches_of(part, ORIGIN, kind))
            rows += (row for kind, batch in batches for row in from_arrow(batch, kind))
        else:
            rows.append(part)
    return sorted_by_kind(rows), folded.sessions(), counts


def sorted_by_kind(rows: Sequence[object]) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(type(row).__name__, []).append(repr(row))
    return {kind: sorted(own) for kind, own in kinds.items()}


def same(text: bytes) -> None:
    assert by_structs(text) == by_grammar(text)


def statements(text: bytes) -> list[Said]:
    return moments(list(Thinning().passing(parts_of(text, LineReading(ORIGIN, LineCounts()), Folded()))))


@cache
def recorded() -> tuple[bytes, ...]:
    """Fetches and produces of every release, and of every length."""
    found: dict[tuple[int, bytes], bytes] = {}
    for case in ("clean_1_1", "clean_2_8", "clean_mixed", "clean_4x", "acks_one_lost"):
        for log in sorted((SAMPLES / case).glob("dump/*/logs/kafka-request.log")):
            for line in log.read_bytes().split(b"\n"):
                if b"FETCH" in line[:200] or b"PRODUCE" in line[:200]:
                    found.setdefault((len(line) // 20, line[60:110]), line)
    return tuple(found.values())


# As 2.3 and 2.7 write it: record sets with their sizes, a flattened answer, and clients with odd names.
TEXTS = [
    b"[2024-10-25 03:33:01,123] DEBUG Completed request:RequestHeader(apiKey=FETCH, apiVersion=11, "
    b"clientId=broker-2, x=y, correlationId=991) -- {replica_id=2,max_wait_time=500,min_bytes=1,max_bytes=10485760,"
    b"isolation_level=0,session_id=1834,session_epoch=57,topics=[{topic=t,partitions=[{partition=0,"
    b"current_leader_epoch=3,fetch_offset=21,log_start_offset=0,partition_max_bytes=1048576}]}],"
    b"forgotten_topics_data=[{topic=u,partitions=[1,2]}],rack_id=},response:{throttle_time_ms=0,error_code=0,"
    b"session_id=1834,responses=[{topic=t,partition_responses=[" + answer + b"]}]} from connection "
    b"10.0.0.1:9093-10.0.0.2:51544-3;totalTime:12.3,requestQueueTime:0.05,localTime:0.4,remoteTime:11.7,"
    b"throttleTime:0.1,responseQueueTime:0.06,sendTime:0.05,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,"
    b"listener:INTERNAL,clientInformation:ClientInformation(softwareName=unknown, softwareVersion=unknown) "
    b"(kafka.request.logger)"
    for answer in (
        (b"{partition_header={partition=0,error_code=0,high_watermark=21,last_stable_offset=21,log_start_offset=0},"
         b"record_set=FileRecords(size=733, file=/d/t-0/0.log, start=5120, end=5853)}"),
        (b"{partition_header={partition=0,error_code=0,high_watermark=21,aborted_transactions=[]},"
         b"record_set=FileRecords(file= /d/t-0/0.log, start=5120, end=5853)}"),
        (b"{partition=0,error_code=1,high_watermark=-1,diverging_epoch={epoch=1,end_offset=7,_tagged_fields={}},"
         b"current_leader={leader_id=2,leader_epoch=4},record_set=MemoryRecords(size=9, buffer=[pos=0 lim=9])}"),
    )
]  # fmt: skip


PUTS = [
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"0", b"-", b"1.5", b"9" * 20, b"\\", b"\xe9", b" ",
    b'"sessionId":5,', b'"topics":[],', b'"response":"",', b'"partitions":[{"partition":1}],', b'"new":{"a":[1,{}]},',
    b'"records":null,', b'"partition":null,', b"99999", b"-5", b"=", b"(", b")", b"_", b"session_id=5,", b"topics=[],",
    b"partitions=[{partition=1}],", b"epoch=3,", b"partition=1,", b"record_set=[],", b"topic=7,", b"sessionId=1,",
    b'"requestApiKey":3,', b"\\u0046", b"METADATA", b"NaN", b"1e3", b"\xd9\xa3",
    b"18446744073709551616", b'"sessionEpoch":1,', b'"fetch\\u004fffset":3,', b"-9223372036854775808",
    b'"transactionalId":null,', b"totalTime:5,", b"new={a=[1,{}]},", b'"name":"x",', b"(size=5)",
]  # fmt: skip


@given(st.data())
@settings(max_examples=cases(300), deadline=None)
def test_any_mutation_tells_the_same(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from((*recorded(), *TEXTS)))
    for _ in range(data.draw(st.integers(1, 2))):
        at, gone = data.draw(st.integers(0, len(line))), data.draw(st.integers(0, 6))
        line = line[:at] + data.draw(st.sampled_from(PUTS)) + line[at + gone :]
    text = recorded()[0] + b"\n" + line + b"\n" + recorded()[1] + b"\n"
    same(text)


@given(st.data())
@settings(max_examples=cases(100), deadline=None)
def test_a_line_that_is_shaped_almost_like_those_before_it_tells_the_same(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from((*recorded(), *TEXTS)))
    at, gone = data.draw(st.integers(100, len(line))), data.draw(st.integers(0, 6))
    odd = line[:at] + data.draw(st.sampled_from(PUTS)) + line[at + gone :]
    longer = re.sub(rb"(?<=[:=])\d(?=[,}])", b"17", line)
    text = b"\n".join([line, shifted(line, 4), odd, shifted(odd, 5), longer, odd, line, b""])
    same(text)


@given(st.lists(st.sampled_from([b"", b"\n", b"[", *PUTS]), max_size=60))
@settings(max_examples=cases(100), deadline=None)
def test_any_bytes_tell_the_same(pieces: list[bytes]) -> None:
    text = b"".join(pieces) + b"\n"
    same(text)


SESSION = (
    b'[2026-11-21 05:40:00,%03d] DEBUG Completed request:{"requestHeader":{"requestApiKey":1,"requestApiVersion":12,'
    b'"correlationId":1,"clientId":"c","requestApiKeyName":"FETCH"},"request":{"replicaId":%d,"sessionId":%d,'
    b'"sessionEpoch":%d,"topics":[{"topic":"t","partitions":[%s]}],"forgottenTopicsData":[{"topic":"t","partitions":'
    b'[%s]}]},"response":%s,"connection":"h:1-h:2-0","totalTimeMs":1}'
)
ANSWER = b'{"errorCode":%d,"sessionId":%d,"responses":[{"topic":"t","partitions":[%s]}]}'
ASK = b'{"partition":%d,"fetchOffset":%d,"currentLeaderEpoch":1}'
TELL = b'{"partitionIndex":%d,"errorCode":%d,"highWatermark":%d,"logStartOffset":0}'
PARTS = st.integers(0, 3)
OFFSETS = st.integers(0, 2)


@st.composite
def session_lines(draw: st.DrawFn) -> bytes:
    """One fetch of one of two sessions, well behaved or not."""
    session = draw(st.sampled_from([0, 7, 7, 7, 8]))
    asked = b",".join(ASK % pair for pair in draw(st.lists(st.tuples(PARTS, OFFSETS), max_size=2)))
    told = draw(st.lists(st.tuples(PARTS, st.sampled_from([0, 0, 0, 3]), OFFSETS), max_size=2))
    forgotten = b",".join(b"%d" % part for part in draw(st.lists(PARTS, max_size=1)))
    error, opened = draw(st.sampled_from([0] * 8 + [70, 71, -1])), draw(st.sampled_from([7, 7, 7, 8, 0]))
    answer = ANSWER % (error, opened, b",".join(TELL % one for one in told))
    line = SESSION % (
        draw(st.integers(0, 999)), draw(st.sampled_from([2, 2, 2, 3, -1])), session,
        draw(st.sampled_from([-1, 0, 1, 2, 3, 4])), asked, forgotten,
        draw(st.sampled_from([answer] * 5 + [b'""'])),
    )  # fmt: skip
    return line + draw(st.sampled_from([b"", b"", b"", b" \xe9"])) + b"\n"


@given(st.lists(session_lines(), max_size=14), st.data())
@settings(max_examples=cases(300), deadline=None)
def test_any_traffic_tells_the_same_wherever_it_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    text = b"".join(lines)
    whole = by_grammar(text)
    assert by_structs(text) == whole
    cut = data.draw(st.integers(0, len(lines)))
    first, last = b"".join(lines[:cut]), b"".join(lines[cut:])
    before = by_structs(first)[1]
    assert by_structs(last, before)[1] == whole[1] == join(before, by_structs(last)[1])
    assert by_structs(last, before)[0] == by_grammar(last, before)[0]


@pytest.mark.parametrize("named", [b'"FETCH"', b'"F\\u0045TCH"'])
def test_a_fetch_under_another_number_is_read_in_its_place(named: bytes) -> None:
    asks = [SESSION % (epoch, 2, 7, epoch, ASK % (0, epoch), b"", ANSWER % (0, 7, b"")) for epoch in range(1, 5)]
    asks[1] = asks[1].replace(b'"requestApiKey":1,', b'"requestApiKey":3,').replace(b'"FETCH"', named)
    text = b"".join(line + b"\n" for line in asks)
    same(text)
    told = sorted((moment.span.start, moment.offset) for _, moment in statements(text))
    assert [offset for _, offset in told] == [1, 2, 3, 4]


def leaders(case: str) -> list[bytes]:
    """Requests that tell who leads, of one release."""
    logs = sorted((SAMPLES / case).glob("dump/broker-*/logs/kafka-request.log"))
    lines = [line for log in logs for line in log.read_bytes().split(b"\n")]
    names = (b"=METADATA,", b'"METADATA"', b"LEADER_AND_ISR", b"ALTER_PARTITION", b"ALTER_ISR", b"_LEADER_EPOCH")
    return [line for line in lines if any(name in line[:260] for name in names)]


def shifted(line: bytes, turn: int) -> bytes:
    """The same request, later, and of another length."""
    later = re.sub(rb"^(\[[^,]*,)\d{3}", rb"\g<1>%03d" % turn, line)
    later = re.sub(rb'((?:total|local)Time(?:Ms)?"?:)[\d.]+', rb"\g<1>%d.5" % (1000 * turn), later)
    return re.sub(rb'(correlationId"?[=:])-?\d+', rb"\g<1>%d" % turn, later)


@given(st.data())
@settings(max_examples=cases(200), deadline=None)
def test_words_that_only_look_alike_tell_what_they_tell(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from([*leaders("clean_1_1")[:9], *leaders("clean_2_8")[:9]]))
    odd = line
    for _ in range(data.draw(st.integers(1, 2))):
        at, gone = data.draw(st.integers(0, len(odd))), data.draw(st.integers(0, 6))
        odd = odd[:at] + data.draw(st.sampled_from(PUTS)) + odd[at + gone :]
    text = b"\n".join([line, odd, shifted(line, 5), shifted(odd, 7), shifted(odd, 8), line, b""])
    same(text)


ODD_OFFSETS = [
    b"-9223372036854775808", b"-9223372036854775807", b"9223372036854775807", b"9223372036854775808", b"1e1", b"NaN",
    b"-0", b"007", b"1.0", b"\xd9\xa3", b"null", b'"3"', b"Infinity", b"18446744073709551615", b"true",
    b'1,"fetchOffset":2', b'1,"fetch\\u004fffset":2', b'1,"FetchOffset":2', b"[1]", b"{}",
]  # fmt: skip


@pytest.mark.parametrize("offset", ODD_OFFSETS)
def test_odd_numbers_tell_the_same(offset: bytes) -> None:
    line = SESSION % (1, 2, 7, 1, ASK % (0, 4242), b"", ANSWER % (0, 7, TELL % (0, 0, 4243))) + b"\n"
    again = SESSION % (2, 2, 7, 2, b"", b"", ANSWER % (0, 7, b"")) + b"\n"
    for value in (b"4242", b"4243"):
        text = line + line.replace(value, offset).replace(b'Epoch":1,"topics', b'Epoch":2,"topics') + again
        same(text)

def is_short(log: Path) -> bool:
    return log.stat().st_size < 300_000


@pytest.mark.parametrize("log", fast_if(is_short, LOGS), ids=lambda log: f"{log.parents[3].name}-{log.parents[1].name}")
def test_recorded_logs_tell_the_same(log: Path) -> None:
    same(log.read_bytes())


def test_every_recorded_fetch_and_produce_fits_a_struct(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> list[object]:
        raise AssertionError("a recorded line is left to the grammar")

    monkeypatch.setattr("parsers.request_log.blocks.line_events", none_left)
    # A list of numbers alone is not spelt.
    texts = (line.replace(b"[1,2]", b"[1]") for line in TEXTS[:2])
    text = b"".join(line + b"\n" for line in (*recorded(), *texts))
    assert len(recorded()) >= 80
    parts = parts_of(text, LineReading(ORIGIN, counts := LineCounts()), Folded())
    assert counts.fetches + counts.requests + counts.unread == counts.lines == text.count(b"\n")
    assert any(isinstance(part, RequestColumns) and part.produces is not None for part in parts)


@pytest.mark.parametrize("unit", [b"{{{*", b"{", b"[", b"(", b",a=(", b"a=x,", b'"a":[', b'","', b"\\", b"9", b",9"])
def test_the_time_of_a_hostile_line_grows_as_its_length(unit: bytes) -> None:
    opened = SESSION % (1, 2, 7, 1, ASK % (0, 4242), b"", ANSWER % (0, 7, TELL % (0, 0, 4243)))
    line = TEXTS[0] + b"\n" + opened + b"\n"
    starts = (b"max_bytes=", b"epoch=", b"fetch_offset=", b'"fetchOffset":', b'"sessionEpoch":', b"connection ")
    took = []
    for size in (1 << 14, 1 << 18):
        text = b"".join(line + line.replace(start, start + unit * (size // len(unit)), 1) for start in starts)
        began = time.process_time()
        parts_of(text, LineReading(ORIGIN, LineCounts()), Folded())
        took.append(time.process_time() - began)
    # Sixteen times as long; what grew as the square would take 256 times as long.
    assert took[1] < 80 * max(took[0], 0.02)


@given(st.lists(session_lines(), max_size=14))
@settings(max_examples=cases(200), deadline=None)
def test_what_is_told_again_is_told_with_a_count(lines: list[bytes]) -> None:
    twice = b"".join(line for each in lines for line in (each, each))
    parts = parts_of(twice, LineReading(ORIGIN, LineCounts()), Folded())
    rows = [
        ByColumns(fetch_columns(part.fetches, part), {})
        for part in parts
        if isinstance(part, RequestColumns) and part.fetches is not None
    ]
    others = (part for part in parts if not isinstance(part, RequestColumns))
    assert moments([*Thinning().passing(parts)]) == moments([*rows, *others])


def test_of_fetches_without_sessions_only_what_moves_makes_statements() -> None:
    offsets, lines = [5] * 40, list[bytes]()
    for number in range(200):
        offsets[number % 40 // 20] += 1
        asked = b",".join(ASK % (part, offset) for part, offset in enumerate(offsets))
        told = b",".join(TELL % (part, 0, offset) for part, offset in enumerate(offsets))
        lines.append(SESSION % (number, 2, 0, -1, asked, b"", ANSWER % (0, 0, told)) + b"\n")
    parts = parts_of(b"".join(lines), LineReading(ORIGIN, LineCounts()), Folded())
    said = [moment for _, _, moment in of_trace(Thinning().passing(parts), ORIGIN, {})]
    assert len(said) < 300
    assert sum(moment.count for moment in said) == 40 * 200


@pytest.mark.parametrize("form", ["JSON", "text"])
def test_a_busy_log_is_thinned_and_what_is_left_stands_in_the_whole(form: str) -> None:
    text = busy_trace(form, 7, 6_000_000)
    every = parts_of(text, LineReading(ORIGIN, LineCounts()), Folded())
    parts = [part for part in every if isinstance(part, RequestColumns)]
    rows = sum(len(side) for part in parts for side in (part.fetches, part.produces) if side is not None)
    few = statements(text)
    assert 4 * len(few) < rows
    spans = [(m.span.start, m.span.end) for _, m in few]
    assert all(text[start : start + 1] == b"[" and text[end : end + 1] == b"\n" for start, end in spans)


def test_a_fetch_that_is_repeated_at_no_readable_time_is_told_with_its_count() -> None:
    lines = [SESSION % (epoch, 2, 7, epoch, ASK % (0, 5), b"", ANSWER % (0, 7, b"")) + b"\n" for epoch in range(1, 6)]
    for unread in ([2], [1, 2], [0], [4], [1, 3]):
        odd = [line.replace(b"2026-11-21", b"2026-13-45") if n in unread else line for n, line in enumerate(lines)]
        ((_, told),) = statements(b"".join(odd))
        assert (told.count, told.last_time is None, told.time is None) == (5, 4 in unread, 0 in unread)


def test_many_resting_partitions_are_told_a_bounded_number_at_a_time() -> None:
    asked = b",".join(ASK % (part, 5) for part in range(5000))
    told = b",".join(TELL % (part, 0, 5) for part in range(5000))
    opened = SESSION % (1, 2, 0, 0, asked, b"", ANSWER % (0, 7, told)) + b"\n"
    waits = b"".join(SESSION % (2, 2, 7, epoch, b"", b"", ANSWER % (0, 7, b"")) + b"\n" for epoch in range(1, 101))
    parts = parts_of(opened + waits, LineReading(ORIGIN, LineCounts(), runs=False), Folded(runs=False))
    sizes = [len(part.fetches) for part in parts if isinstance(part, RequestColumns) and part.fetches is not None]
    assert sum(sizes) == 5000 * 101
    assert max(sizes) < 300_000
    # What rests is told once where a count will do.
    runs = parts_of(opened + waits, LineReading(ORIGIN, LineCounts()), Folded())
    columns = (part for part in runs if isinstance(part, RequestColumns))
    assert sum(len(part.fetches) for part in columns if part.fetches is not None) == 10_000


@pytest.mark.parametrize("case", ["clean_1_1", "clean_2_8", "clean_mixed", "clean_4x"])
def test_requests_in_words_of_others_tell_the_same(case: str) -> None:
    lines = leaders(case)[:40]
    text = b"".join(shifted(line, turn) + b"\n" for turn in range(1, 13) for line in lines[turn % 3 :])
    parts = parts_of(text, LineReading(ORIGIN, LineCounts()), Folded())
    assert 4 * sum(isinstance(part, Again) for part in parts) > len(text.splitlines())
    rows = parts_of(text, LineReading(ORIGIN, LineCounts(), runs=False), Folded())
    assert not any(isinstance(part, Again) for part in rows)
    assert moments(list(Thinning().passing(parts))) == moments(list(Thinning().passing(rows)))
