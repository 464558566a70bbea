"""Recorded request logs of Kafka 1.1 to 4.3: every line accounted for, ranges equal to the whole, facts kept."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from auditor.engines.witnesses.statements_of_requests import of_fetches
from parsers.provenance import Origin, Span
from parsers.request_log import PartitionKey, join
from parsers.tables import Fetch, arrow_schema, from_arrow, to_arrow
from rules.history.moments import Moment
from rules.history.repetitions import collapse
from rules.history.statements import Fetched
from tests.lab.effort import fast_if
from tests.lab.whole_logs import RequestLog, fold, read_request_log
from tests.replaced import replace

SAMPLES = Path(__file__).parents[2] / "sample_logs"
OPENED = Fetched(kind="fetched", clock="broker 1", broker=2, offset=5, span=Span(source="r", start=0, end=1))
LOGS = sorted(SAMPLES.glob("*/dump/*/logs/kafka-request.log"))
ORIGIN = Origin(source="kafka-request.log", broker=1)
READ = {
    "FETCH", "PRODUCE", "LIST_OFFSETS", "METADATA", "LEADER_AND_ISR", "STOP_REPLICA", "CONTROLLED_SHUTDOWN",
    "DELETE_RECORDS", "OFFSET_FOR_LEADER_EPOCH", "WRITE_TXN_MARKERS", "ALTER_PARTITION", "ALTER_ISR",
    "BROKER_REGISTRATION",
}  # fmt: skip
NAME = re.compile(rb'Completed request:(?:RequestHeader\(apiKey=|\{.*?"requestApiKeyName":")([A-Z_]+)')


def is_small(log: Path) -> bool:
    return log.stat().st_size < 100_000


@cache
def log_of(case: str, node: str) -> RequestLog:
    return read_request_log(SAMPLES / case / "dump" / node / "logs" / "kafka-request.log", ORIGIN)


@cache
def fetches_of(case: str, node: str) -> tuple[Fetch, ...]:
    return tuple(row for row in log_of(case, node).fetches(ORIGIN) if isinstance(row, Fetch))


@pytest.mark.parametrize("log", fast_if(is_small, LOGS), ids=lambda log: f"{log.parents[3].name}-{log.parents[1].name}")
def test_every_line_is_accounted_for(log: Path) -> None:
    text = log.read_bytes()
    read = read_request_log(log, ORIGIN)
    names = [name.decode() for name in NAME.findall(text)]
    counts = read.counts
    assert read.refusals == ()
    assert counts.lines == text.count(b"\n")
    assert counts.fetches == len(read.fetch_calls) == names.count("FETCH")
    assert counts.requests == sum(name in READ for name in names) - counts.fetches
    assert counts.unread == sum(name not in READ for name in names)
    assert counts.other == counts.lines - len(names)
    for call in read.fetch_calls:
        assert text[call.start : call.start + 1] == b"["
        assert text[call.end : call.end + 1] == b"\n"


@pytest.mark.parametrize(
    ("case", "node"),
    [("fast_failover_kip101", "broker-1"), ("lost_pages_hw", "broker-2"), ("acks_one_lost", "broker-3")],
)
def test_ranges_of_any_size_give_the_rows_of_the_whole(case: str, node: str) -> None:
    path = SAMPLES / case / "dump" / node / "logs" / "kafka-request.log"
    whole = log_of(case, node)
    size = path.stat().st_size
    for step in (1009, 12345, size // 2, size + 1):
        borders = [*range(0, size, step), size]
        parts = [read_request_log(path, ORIGIN, *cut) for cut in pairwise(borders)]
        assert tuple(call for part in parts for call in part.fetch_calls) == whole.fetch_calls
        assert tuple(row for part in parts for row in part.produces) == whole.produces
        assert tuple(row for part in parts for row in part.isr_requests) == whole.isr_requests
        assert sum(part.counts.lines for part in parts) == whole.counts.lines
        state = fold(())
        for part in parts:
            state = join(state, fold(part.fetch_calls))
        assert state == fold(whole.fetch_calls)


def test_a_cut_at_every_byte_of_two_lines_loses_and_doubles_nothing(tmp_path: Path) -> None:
    lines = (SAMPLES / "clean_2_8/dump/broker-1/logs/kafka-request.log").read_bytes().split(b"\n")
    path = tmp_path / "kafka-request.log"
    path.write_bytes(b"\n".join(line for line in lines if b'"FETCH"' in line)[:2000])
    whole = read_request_log(path, ORIGIN)
    assert len(whole.fetch_calls) == 1
    assert [refusal.kind for refusal in whole.refusals] == ["truncated_line"]
    for cut in range(0, 2001, 3):
        parts = [read_request_log(path, ORIGIN, 0, cut), read_request_log(path, ORIGIN, cut, None)]
        assert tuple(call for part in parts for call in part.fetch_calls) == whole.fetch_calls
        assert tuple(refusal for part in parts for refusal in part.refusals) == whole.refusals


@pytest.mark.parametrize("case", fast_if("clean_4x".__ne__, ["clean_1_1", "clean_2_8", "clean_4x"]))
def test_rows_survive_arrow(case: str) -> None:
    log = log_of(case, "broker-1")
    for rows in (fetches_of(case, "broker-1")[:100], log.produces[:50], log.isr_requests[:50]):
        assert rows
        assert from_arrow(to_arrow(rows, type(rows[0])), type(rows[0])) == list(rows)
    assert arrow_schema(Fetch).names[-3:] == ["source", "span_start", "span_end"]


def test_a_diverging_answer_of_kafka_3_is_kept() -> None:
    rows = [row for row in fetches_of("acks_one_lost", "broker-2") if row.diverging_epoch is not None]
    assert [(row.replica, row.fetch_offset, row.diverging_epoch, row.diverging_end_offset) for row in rows] == [
        (1, 70, 0, 50)
    ]
    assert (rows[0].high_watermark, rows[0].records_size, rows[0].possibly_stale) == (60, 0, False)


def test_the_epoch_answer_that_misled_kafka_1_1_is_kept() -> None:
    rows = [row for node in ("broker-1", "broker-2") for row in log_of("fast_failover_kip101", node).epoch_requests]
    assert (1, 15) in {(row.asked_epoch, row.end_offset) for row in rows}
    assert all(row.answered_epoch is None and row.replica is None for row in rows)


def test_text_of_kafka_1_1_reads_like_json() -> None:
    rows = fetches_of("clean_1_1", "broker-1")
    named = [row for row in rows if row.session_epoch and not row.implied and row.error_code == 0]
    assert {row.replica for row in named} >= {2, 3}
    assert all(row.fetch_offset is not None and row.high_watermark is not None for row in named)
    assert {row.records_size for row in named} <= {0, None}
    assert all(row.total_time_us is not None and row.local_time_us is not None for row in rows)


@pytest.mark.parametrize(("case", "newest"), [("clean_2_8", "2.8"), ("clean_mixed", "3.9"), ("clean_4x", "4.3")])
def test_errors_beside_answers_stay_facts(case: str, newest: str) -> None:
    rows = [row for node in ("broker-1", "broker-2", "broker-3") for row in fetches_of(case, node)]
    failed = [row for row in rows if row.error_code in (6, 74, 75)]
    assert failed, newest
    assert all(row.high_watermark == -1 for row in failed)


def test_zeros_beside_a_refused_isr_change_are_no_state(tmp_path: Path) -> None:
    recorded = (SAMPLES / "clean_mixed/dump/controller-100/logs/kafka-request.log").read_bytes().split(b"\n")
    line = next(line for line in recorded if b'"ALTER_PARTITION"' in line)
    answer = rb'"errorCode":108,"leaderId":0,"leaderEpoch":0,"isr":[],"leaderRecoveryState":0,"partitionEpoch":0}'
    path = tmp_path / "kafka-request.log"
    path.write_bytes(line + b"\n" + re.sub(rb'"errorCode":0,"leaderId".*?\}', answer, line) + b"\n")
    asked, accepted, asked_again, refused = read_request_log(path, ORIGIN).isr_requests
    assert (asked.answered, accepted.answered, refused.answered) == (False, True, True)
    assert (asked.error_code, asked_again.error_code, refused.error_code) == (0, 108, 108)
    assert asked.isr == asked_again.isr is not None
    assert accepted.isr is not None
    assert (accepted.partition_epoch or 0) > (asked.partition_epoch or 0)
    assert (refused.leader, refused.leader_epoch, refused.isr, refused.partition_epoch) == (None,) * 4
    assert refused.partition == asked_again.partition


def test_zookeeper_orders_of_both_shapes() -> None:
    for case, epoch_known in (("clean_1_1", True), ("clean_2_8", True)):
        orders = [row for row in log_of(case, "broker-1").isr_requests if row.api == "LEADER_AND_ISR"]
        assert orders
        assert all(row.leader is not None and row.isr and row.replicas and row.error_code is not None for row in orders)
        assert all((row.partition_epoch is not None) == epoch_known for row in orders)


def test_a_restart_after_a_kill_shows_in_the_registration() -> None:
    events = log_of("unclean_rejoined", "controller-100").request_events
    rows = [row for row in events if row.api == "BROKER_REGISTRATION"]
    ever = {row.sender for row in rows if row.error_code == 0}
    unclean = [row for row in rows if row.error_code == 0 and row.previous_broker_epoch == -1]
    assert ever == {1, 2, 3}
    assert len(unclean) > len(ever)


def test_transaction_markers_and_stopped_replicas_of_kafka_1_1_and_2_8() -> None:
    for case in ("clean_1_1", "clean_2_8"):
        rows = [row for node in ("broker-1", "broker-2", "broker-3") for row in log_of(case, node).request_events]
        markers = [row for row in rows if row.api == "WRITE_TXN_MARKERS"]
        assert {row.committed for row in markers} == {True, False}
        assert all(row.producer_id is not None and row.error_code == 0 for row in markers)
        assert any(row.api == "STOP_REPLICA" and row.delete_partition is False for row in rows)
        assert any(row.api == "CONTROLLED_SHUTDOWN" and row.sender is not None for row in rows)


def log_end(case: str, node: str, topic: str, partition: int) -> int | None:
    """End of a log on disk: of its last batch, or the base of an empty last segment; null where there is no replica."""
    ends = []
    for segment in sorted((SAMPLES / case / "dump" / node / "data" / f"{topic}-{partition}").glob("*.log")):
        data, at = segment.read_bytes(), 0
        ends.append(int(segment.stem))
        while at + 61 <= len(data):
            base = int.from_bytes(data[at : at + 8], "big")
            ends.append(base + int.from_bytes(data[at + 23 : at + 27], "big") + 1)
            at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    return ends[-1] if ends else None


@pytest.mark.parametrize("case", ["clean_1_1", "clean_2_8"])
def test_the_last_fetch_position_is_the_followers_log_end(case: str) -> None:
    last: dict[tuple[int, PartitionKey], Fetch] = {}
    nodes = ("broker-1", "broker-2", "broker-3")
    rows = [row for node in nodes for row in fetches_of(case, node) if row.replica is not None and row.replica > 0]
    for row in sorted(rows, key=lambda row: row.time_text):
        if row.error_code == 0:
            last[row.replica or 0, PartitionKey(row.topic or "", "", row.partition or 0)] = row
    stood = {
        (replica, key): (row.fetch_offset, log_end(case, f"broker-{replica}", key.topic, key.partition))
        for (replica, key), row in last.items()
    }
    equal = [place for place, (asked, end) in stood.items() if asked == (end or 0)]
    behind = [place for place, (asked, end) in stood.items() if (asked or 0) > (end or 0)]
    assert len(equal) >= 8
    assert behind == []


@pytest.mark.parametrize("case", ["clean_1_1", "clean_2_8", "clean_4x"])
def test_a_statement_tells_when_its_leader_acted(case: str) -> None:
    rows = [row for row in fetches_of(case, "broker-2") if (row.replica or 0) >= 0]
    assert {row.min_bytes for row in rows} == {1}
    names = {row.topic_id: row.topic_id for row in rows if row.topic_id is not None}
    waited = set[bool]()
    for (_, _, moment), row in zip(of_fetches(rows, names), rows, strict=True):
        total, remote = row.total_time_us, row.remote_time_us
        handled = (row.queue_time_us or 0) + (row.local_time_us or 0)
        assert None not in (total, remote, row.response_queue_time_us, row.send_time_us, moment.time)
        came = (moment.time or 0) * 1000 - (total or 0)
        assert (moment.arrived, moment.taken_in) == (came // 1000, (came + handled) // 1000)
        assert moment.answered == (came + handled + (remote or 0)) // 1000
        assert moment.answered <= (moment.time or 0)
        assert moment.waited == ((remote or 0) > 0)
        assert (moment.min_bytes, moment.records_size) == (1, row.records_size)
        waited.add(moment.waited)
    assert waited == {True, False}


def test_a_run_of_fetches_tells_when_the_last_was_answered_and_whether_all_waited() -> None:
    first, again, hasty = (
        replace(OPENED, time=time, arrived=time - 9, taken_in=time - 8, answered=time - 1, waited=waited)
        for time, waited in ((1000, True), (1500, True), (1700, False))
    )
    (waiting,), (mixed,) = list(collapse([first, again])), list(collapse([first, again, hasty]))
    assert (waiting.arrived, waiting.taken_in, waiting.last_taken_in, waiting.last_answered) == (991, 992, 1492, 1499)
    assert (waiting.count, waiting.waited) == (2, True)
    assert (mixed.count, mixed.last_time, mixed.last_answered, mixed.waited) == (3, 1700, 1699, False)
    assert list(collapse([waiting, hasty])) == list(collapse([first, rest_of([again, hasty])])) == [mixed]


def rest_of(moments: list[Moment]) -> Moment:
    (one,) = collapse(moments)
    return one
