"""Every declared line is found and read; recorded logs tell what happened; ranges and hostile bytes are lawful."""

from __future__ import annotations

import gzip
import io
import itertools
import re
import tracemalloc
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.broker_log import DEFAULT_PATTERN, EVENTS, GzipText, Reading, parse_layout, read_log
from parsers.broker_log.catalogue import matchers
from parsers.broker_log.entry_blocks import Block
from parsers.broker_log.matched_events import find_lines, text_of
from parsers.broker_log.wording import compile_text
from parsers.provenance import Origin
from parsers.tables import BrokerEvent, BrokerSetting, EventKind, Refusal, from_arrow
from tests.lab.effort import cases, fast_if
from tests.lab.whole_logs import parse_events, parse_settings
from tests.parsers.broker_lines import LINES
from tests.replaced import replace

SAMPLES = Path(__file__).parents[2] / "sample_logs"
SERVER_LOGS = sorted(path for path in SAMPLES.glob("*/dump/*/logs/*.log") if "request" not in path.name)
WORDINGS = [wording for event in EVENTS for wording in event.wordings]
WRITTEN = [pytest.param(kind, *line, id=kind) for kind, lines in LINES.items() for line in lines]


def entry(message: str, level: str = "INFO", logger: str = "kafka.log.Log") -> bytes:
    return f"[2026-11-21 05:25:18,155] {level} {message} ({logger})\n".encode()


def reading(broker: int | None = None, limit: int = 1 << 20) -> Reading:
    return Reading(origin=Origin(source="server.log", broker=broker), line_limit=limit)


def events(data: bytes, broker: int | None = None) -> tuple[BrokerEvent, ...]:
    return parse_events(data, reading(broker)).rows


@cache
def recorded(case: str, node: str, log: str) -> tuple[BrokerEvent, ...]:
    return events((SAMPLES / case / "dump" / node / "logs" / f"{log}.log").read_bytes())


def only(case: str, node: str, log: str, kind: EventKind) -> list[BrokerEvent]:
    return [event for event in recorded(case, node, log) if event.kind == kind]


def test_every_wording_has_a_line() -> None:
    assert {kind: len(lines) for kind, lines in LINES.items()} == {each.kind: len(each.wordings) for each in EVENTS}


@pytest.mark.parametrize(("kind", "message", "expected"), WRITTEN)
def test_every_line_gives_its_event_and_no_other(kind: EventKind, message: str, expected: Mapping[str, object]) -> None:
    line = entry(message)
    (row,) = events(line)
    assert row.kind == kind
    assert {name: getattr(row, name) for name in expected} == dict(expected)
    assert (row.span_start, row.span_end) == (0, len(line) - 1)
    assert (row.time_text, row.level, row.logger) == ("2026-11-21 05:25:18,155", "INFO", "kafka.log.Log")


@pytest.mark.parametrize(("kind", "message", "_"), WRITTEN)
def test_no_line_is_of_two_kinds(kind: EventKind, message: str, _: Mapping[str, object]) -> None:
    """The first wording that fits takes a line: another kind that fits it too would lose it, or win it, unseen."""
    text = text_of(Block(offset=0, data=entry(message)), reading().layout, None)
    fitting = {
        matcher.event.kind
        for lead, lines in find_lines(text).by_lead.items()
        for _, begin, stop in lines
        for matcher in matchers(lead)
        if matcher.pattern.match(text.data, begin, stop)
    }
    assert fitting == {kind}


def test_a_wording_stands_once() -> None:
    texts = Counter((wording.text, wording.items) for wording in WORDINGS)
    assert [text for text, times in texts.items() if times > 1] == []


def test_every_kind_is_declared_once() -> None:
    assert sorted(event.kind for event in EVENTS) == sorted(get_args(EventKind))


@pytest.mark.parametrize("told", ["Some(3)", "3"])
def test_a_hole_takes_no_parenthesis_that_it_has_not_opened(told: str) -> None:
    pattern = compile_text("leads {tp} ({topic_id}) after ({previous_leader}) now")
    found = pattern.fullmatch(f"leads pay-0 (xcq385) after ({told}) now".encode())
    assert found is not None
    assert found["topic_id"] == b"xcq385"
    assert found["previous_leader"] == told.encode()


def test_no_pattern_can_go_back() -> None:
    """Fixed text, possessive or atomic pieces, and bounded runs only: nothing for hostile input to multiply."""
    for wording in WORDINGS:
        pieces = re.sub(rb"\\.|\[(?:\\.|[^\]\\])*\]", b"x", compile_text(wording.text).pattern)
        assert not re.search(rb"\*(?!\+)|[^*+?}]\+(?!\+)", pieces)


@pytest.mark.slow
def test_recorded_logs_are_read_without_a_refusal() -> None:
    counts: Counter[str] = Counter()
    for path in SERVER_LOGS:
        parsed = parse_events(path.read_bytes(), reading())
        assert parsed.refusals == ()
        counts.update(row.kind for row in parsed.rows)
    assert counts["truncating"] == sum(path.read_bytes().count(b"] Truncating to offset ") for path in SERVER_LOGS)
    starts = sum(path.read_bytes().lower().count(b"starts at leader epoch") for path in SERVER_LOGS)
    assert counts["leader-starts"] + counts["follower-starts"] == starts
    assert counts["initial-high-watermark"] + counts["replica-loaded"] == sum(
        path.read_bytes().count(b"with initial high watermark") for path in SERVER_LOGS
    )


def test_unclean_election_tells_who_was_cut_from_where_to_where() -> None:
    (follower, *_) = only("unclean_rejoined", "broker-1", "state-change", "follower-starts")
    assert (follower.epoch, follower.offset, follower.leader, follower.partition_epoch) == (1, 150, 2, 4)
    (cut,) = only("unclean_rejoined", "broker-1", "server", "truncating")
    assert (cut.topic, cut.partition, cut.offset) == ("pay", 0, 100)
    (answer,) = only("unclean_rejoined", "broker-1", "server", "truncating-by-epoch-answer")
    assert (answer.epoch, answer.answer_offset, answer.offset, answer.leader) == (0, 100, 100, 2)
    (back,) = only("unclean_rejoined", "broker-1", "server", "non-monotonic-high-watermark")
    assert (back.previous_offset, back.high_watermark) == (150, 100)
    leader = only("unclean_rejoined", "broker-2", "state-change", "leader-starts")[0]
    assert (leader.broker, leader.epoch, leader.offset, leader.isr) == (2, 1, 100, "2")
    named = [event for event in only("unclean_rejoined", "controller-100", "server", "unclean-election") if event.topic]
    assert [(e.previous_isr, e.isr, e.previous_leader, e.leader, e.epoch, e.partition_epoch) for e in named] == [
        ("1", "2", 1, 2, 1, 3)
    ]


def test_a_newer_release_says_that_it_cuts_below_the_high_watermark() -> None:
    (warning,) = only("unclean_4x", "broker-1", "server", "truncating-below-high-watermark")
    assert (warning.offset, warning.high_watermark, warning.topic) == (100, 150, "pay")


def test_fast_failovers_differ_by_protocol() -> None:
    (kept,) = only("fast_failover_kip101", "broker-2", "server", "epoch-answer-kept")
    assert (kept.answer_offset, kept.log_end_offset, kept.leader) == (15, 15, 1)
    (cut,) = only("fast_failover_kip279", "broker-2", "server", "truncating-by-epoch-answer")
    assert (cut.epoch, cut.answer_offset, cut.offset) == (0, 15, 10)


def test_truncation_by_high_watermark_cuts_nothing_after_lost_pages() -> None:
    (nothing,) = only("lost_pages_hw", "broker-1", "server", "truncation-no-effect")
    assert (nothing.offset, nothing.log_end_offset) == (60, 60)
    assert [
        e.log_end_offset for e in only("lost_pages_hw", "broker-2", "server", "log-loaded") if e.log_end_offset
    ] == [40]


def test_a_line_that_lists_partitions_gives_a_row_each() -> None:
    added = [
        e
        for e in only("clean_mixed", "broker-3", "server", "fetcher-added")
        if (e.time_text or "").endswith("05:50:30,746")
    ]
    assert {(e.topic, e.partition, e.epoch, e.offset, e.leader) for e in added} == {
        ("short", 0, 5, 150, 2),
        ("orders", 2, 5, 400, 2),
        ("state", 1, 5, 400, 2),
    }
    assert len({(e.span_start, e.span_end) for e in added}) == 1


def test_spans_lead_back_to_the_line() -> None:
    path = SAMPLES / "clean_2_8/dump/broker-1/logs/state-change.log"
    data = path.read_bytes()
    for event in events(data):
        line = data[event.span_start : event.span_end]
        assert line.startswith(b"[")
        assert b"\n" not in line
        assert (event.time_text or "").encode() in line


def test_the_reason_of_a_failed_fetch_is_on_its_line_or_the_next() -> None:
    old = only("clean_1_1", "broker-2", "server", "fetch-session-ended")[0]
    assert old.detail == "sessionId=1625389426, epoch=66; java.nio.channels.ClosedSelectorException."
    new = only("unclean_4x", "broker-1", "server", "fetch-session-ended")[-1]
    assert (new.detail or "").endswith("; java.io.IOException: Client was shutdown before response was read")


def test_each_line_of_a_mixed_file_goes_to_its_own_broker() -> None:
    lines = [
        "[Partition t-0 broker=1] ISR updated to 1,2 and version updated to [4]",
        "[Broker id=2] Creating new partition t-0 with topic id xcq385rNTkaYtHO3h4VBjA.",
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Partition t-0 marked as failed",
        "Kafka version: 3.9.1",
    ]
    assert [row.broker for row in events(b"".join(map(entry, lines)), broker=9)] == [1, 2, 3, 9]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_line_ends_are_no_part_of_the_span(ending: bytes) -> None:
    line = entry("[Log partition=t-0, dir=/d] Truncating to offset 7").rstrip(b"\n")
    (row,) = events(line + ending)
    assert (row.offset, row.span_end, row.logger) == (7, len(line), "kafka.log.Log")


def test_a_last_line_that_stops_inside_is_refused_and_a_whole_one_is_not() -> None:
    line = entry("[Log partition=t-0, dir=/d] Truncating to offset 100").rstrip(b"\n")
    assert [row.offset for row in events(line)] == [100]
    torn = parse_events(line[: line.index(b"00 (")], reading())
    assert torn.rows == ()
    assert [refusal.kind for refusal in torn.refusals] == ["truncated_line"]


def test_a_line_that_only_begins_like_an_event_is_no_damage() -> None:
    parsed = parse_events(entry("Truncating the branches of the tree") + entry("Leader of the pack"), reading())
    assert (parsed.rows, parsed.refusals) == ((), ())


@pytest.mark.parametrize("number", [str(2**63), "9" * 19])
def test_numbers_beyond_kafka_are_refused_and_their_neighbours_are_not(number: str) -> None:
    data = entry("Truncating to offset 1") + entry(f"Truncating to offset {number}") + entry("Truncating to offset 3")
    parsed = parse_events(data, reading())
    assert [row.offset for row in parsed.rows] == [1, 3]
    assert [(refusal.kind, refusal.span_start) for refusal in parsed.refusals] == [
        ("malformed", len(entry("Truncating to offset 1")))
    ]


def test_undecodable_bytes_keep_the_spans_exact() -> None:
    garbled = b"\xff\xfe caf\xe9 \xf0\x28\n"
    line = b"[2026-11-21 05:25:18,155] WARN Log for partition t-0"
    line += b" is renamed to /d/\xe9\xff and is scheduled for deletion\n"
    (row,) = events(garbled + line)
    assert (row.detail, row.span_start) == ("/d/\ufffd\ufffd", len(garbled))


def parts(
    data: bytes, cuts: list[int], limit: int = 1 << 20
) -> tuple[list[BrokerEvent], list[BrokerSetting], list[Refusal]]:
    bounds = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    rows: list[BrokerEvent] = []
    printed: list[BrokerSetting] = []
    refusals: list[Refusal] = []
    for start, end in itertools.pairwise(bounds):
        for part in read_log(io.BytesIO(data), reading(limit=limit), start=start, end=end):
            rows += from_arrow(part.events, BrokerEvent)
            printed += from_arrow(part.settings, BrokerSetting)
            refusals += part.refusals
    return rows, printed, refusals


MIXED = b"".join(
    [
        entry("[Log partition=t-0, dir=/d] Truncating to offset 7"),
        entry("[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Error for partition t-1 at offset 0", "ERROR"),
        b"org.apache.kafka.common.errors.X: gone\n\tat some.Where(X.java:1)\n",
        b"[2026-11-21 05:25:18,155] INFO KafkaConfig values: \n\tbroker.id = 1\n\tlog.dirs = null\n (kafka.server.X)\n",
        b"x" * 700 + b"\n",
        entry("[ReplicaFetcherManager on broker 2] Removed fetcher for partitions Set(a-0, b-1)"),
        b"\n\n[not an entry\n",
        entry("Kafka version: 3.9.1"),
    ]
)


@settings(max_examples=cases(60), deadline=None)
@given(st.lists(st.integers(0, len(MIXED)), max_size=6))
def test_ranges_that_meet_give_what_the_whole_gives(cuts: list[int]) -> None:
    assert parts(MIXED, cuts, limit=512) == parts(MIXED, [], limit=512)


@settings(max_examples=cases(10), deadline=None)
@given(st.lists(st.integers(0, 1 << 30), max_size=4))
def test_ranges_of_a_recorded_log_give_what_the_whole_gives(cuts: list[int]) -> None:
    data = (SAMPLES / "fast_failover_kip101/dump/broker-1/logs/server.log").read_bytes()
    assert parts(data, cuts) == parts(data, [])


@settings(max_examples=cases(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1 << 30), st.binary(max_size=4)), min_size=1, max_size=12))
def test_mutated_logs_never_raise(edits: list[tuple[int, bytes]]) -> None:
    data = bytearray(b"".join(entry(message) for lines in LINES.values() for message, _ in lines[::7]))
    for place, patch in edits:
        at = place % len(data)
        data[at : at + 2] = patch
    parsed = parse_events(bytes(data), reading())
    spans = [(row.span_start, row.span_end) for row in parsed.rows] + [
        (r.span_start, r.span_end) for r in parsed.refusals
    ]
    assert all(0 <= start < end <= len(data) for start, end in spans)


def test_long_lines_are_refused_with_their_place() -> None:
    before, after = entry("Truncating to offset 1"), entry("Truncating to offset 2")
    parsed = parse_events(before + b"y" * 5000 + b"\n" + after, reading(limit=1000))
    assert [row.offset for row in parsed.rows] == [1, 2]
    assert [(r.kind, r.span_start, r.span_end) for r in parsed.refusals] == [
        ("too_large", len(before), len(before) + 5001)
    ]


HOSTILE = [
    b"[2026-11-21 05:25:18,155] INFO [",
    b"[2026-11-21 05:25:18,155] INFO Removed fetcher for partitions ",
    b"a-",
    b"a.b-1,",
    b"[",
    b" (",
    b"Error in response for fetch request (type=FetchRequest, replicaId=fetchData={",
    b"\n[",
    b"\n",
    b"9",
    b"1, ",
    b"\xff",
    b"[2026-11-21 05:25:18,155] INFO Based on follower's leader epoch, leader replied with an unknown offset in ",
    b"[2026-11-21 05:25:18,155] INFO KafkaConfig values:\n",
]


@pytest.mark.parametrize("lead", fast_if(HOSTILE[1:2].__contains__, HOSTILE[:2] + HOSTILE[6:7] + HOSTILE[12:]))
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_input_takes_steps_in_proportion(lead: bytes, piece: bytes) -> None:
    """Nothing here would end in a test's time if any pattern went back over what it read."""
    data = lead + piece * ((100 << 10) // len(piece)) + b"\n" + entry("Truncating to offset 2")
    last = [part.events for part in read_log(io.BytesIO(data), reading())][-1]
    assert last.column("offset")[-1].as_py() == 2


def test_a_number_that_no_column_holds_is_refused_even_where_nothing_else_is_told() -> None:
    line = entry("Truncating to offset " + "9" * 19)
    parsed = parse_events(line, reading())
    assert parsed.rows == ()
    assert [(refusal.kind, refusal.span_start) for refusal in parsed.refusals] == [("malformed", 0)]


def test_a_line_that_lists_thousands_costs_memory_in_proportion_to_its_length() -> None:
    data = entry("Removed fetcher for partitions Set(" + ", ".join(f"t-{number}" for number in range(20_000)) + ")")
    tracemalloc.start()
    events = [part.events for part in read_log(io.BytesIO(data), reading())]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(map(len, events)) == 20_000
    assert peak < 200 * len(data)


def test_ten_megabytes_on_one_line_are_passed_over() -> None:
    data = entry("Added fetcher to broker 1 for partitions").rstrip() + b"t-0 -> (" * (10 << 17) + b"\n"
    parsed = parse_events(data + entry("Truncating to offset 2"), reading())
    assert [row.offset for row in parsed.rows] == [2]
    assert [(refusal.kind, refusal.span_end) for refusal in parsed.refusals] == [("too_large", len(data))]


def test_a_broker_prints_its_settings_and_release() -> None:
    data = (SAMPLES / "clean_2_8/dump/broker-1/logs/server.log").read_bytes()
    printed = parse_settings(data, reading(broker=1)).rows
    assert {row.detail for row in events(data, broker=1) if row.kind == "kafka-version"} == {"2.8.2"}
    assert {row.value for row in printed if row.name == "inter.broker.protocol.version"} == {"2.8-IV1"}
    setting = next(row for row in printed if row.name == "replica.lag.time.max.ms")
    assert data[setting.span_start : setting.span_end] == f"\treplica.lag.time.max.ms = {setting.value}".encode()
    assert next(row.value for row in printed if row.name == "advertised.listeners") is None


@pytest.mark.parametrize("pattern", [DEFAULT_PATTERN, "%5p [%d] %m (%c)%n"])
def test_a_block_of_settings_ends_where_an_entry_begins(pattern: str) -> None:
    """Lines that are no settings belong to it, also those that begin with a blank; a line without an end does not."""
    head = "[2026-11-21 05:25:18,155] INFO " if pattern == DEFAULT_PATTERN else " INFO [2026-11-21 05:25:18,155] "
    block = f"{head}KafkaConfig values: \n\ta = 1\r\n  odd line\n\tb = null\n\n\td = é\n (k)\n"
    data = (block + f"{head}ProducerConfig values: \n\tc = 3\n" + block + "\te = 5").encode()
    laid_out = replace(reading(), layout=parse_layout(pattern))
    printed = parse_settings(data, laid_out).rows
    assert [(row.name, row.value) for row in printed] == [("a", "1"), ("b", None), ("d", "é")] * 2
    assert {data[row.span_start : row.span_end].strip() for row in printed} == {b"a = 1", b"b = null", "d = é".encode()}
    assert {row.time_text for row in printed} == {"2026-11-21 05:25:18,155"}


def test_a_broker_tells_its_metadata_version() -> None:
    told = recorded("clean_4x", "broker-1", "server")
    assert {row.detail for row in told if row.kind == "metadata-version"} == {"4.3-IV0"}


def test_a_line_is_believed_as_far_as_in_the_release_that_prints_it_worst() -> None:
    moved = "from (offset=75 segment=[0:1]) to (offset=70 segment=[0:1])"
    line = entry(f"[Log partition=t-0, dir=/d] Non-monotonic update of high watermark {moved}")
    (row,) = parse_events(line, reading()).rows
    assert (row.trust, row.doubtful) == ("medium", "previous_offset")


def test_compressed_logs_are_read_as_their_text() -> None:
    data = (SAMPLES / "unclean_rejoined/dump/broker-1/logs/server.log").read_bytes()
    stream = GzipText(io.BytesIO(gzip.compress(data[:40000]) + gzip.compress(data[40000:])))
    rows = [row for part in read_log(stream, reading()) for row in from_arrow(part.events, BrokerEvent)]  # type: ignore[arg-type]
    assert tuple(rows) == events(data)
    assert stream.trouble is None


def test_damaged_and_endless_compressed_logs_end_with_their_trouble() -> None:
    packed = gzip.compress(MIXED * 50)
    for stream in (
        GzipText(io.BytesIO(packed[:-30])),
        GzipText(io.BytesIO(packed), limit=1000),
        GzipText(io.BytesIO(b"no gzip")),
    ):
        list(read_log(stream, reading()))  # type: ignore[arg-type]
        assert stream.trouble is not None


def test_a_text_packed_more_tightly_than_logs_are_ends_where_that_shows() -> None:
    log = GzipText(io.BytesIO(gzip.compress(MIXED * 2000)), freely=1 << 20)
    list(read_log(log, reading()))  # type: ignore[arg-type]
    assert log.trouble is None
    line = entry("Truncating to offset 1")
    bomb = GzipText(io.BytesIO(gzip.compress(line + bytes(64 << 20))), freely=1 << 20)
    parts = list(read_log(bomb, reading()))  # type: ignore[arg-type]
    assert [part.events.num_rows for part in parts][:1] == [1]
    assert "512 times" in (bomb.trouble or "")
    assert sum(refusal.span_end - refusal.span_start for part in parts for refusal in part.refusals) < 48 << 20


def test_lines_tried_together_give_what_each_gives_alone() -> None:
    """Wordings are tried on all lines of a block at once: neighbours, their order and their number do not matter."""
    spoken = [(path.read_bytes(), row) for path in SERVER_LOGS[::6] for row in events(path.read_bytes())[::20]]
    lines = list(dict.fromkeys(data[row.span_start : row.span_end] + b"\n" for data, row in spoken if row.span_end))
    alone = [row for line in lines for row in events(line)]
    assert len({row.kind for row in alone}) > 20
    together = [replace(row, span_start=0, span_end=row.span_end - row.span_start) for row in events(b"".join(lines))]
    assert together == alone


def test_a_number_that_no_column_holds_is_refused_and_its_neighbours_are_read() -> None:
    sound = [entry(f"[UnifiedLog partition=pay-0, dir=/d] Truncating to offset {offset}") for offset in range(40)]
    bad = entry("[UnifiedLog partition=pay-0, dir=/d] Truncating to offset 9999999999999999999")
    parsed = parse_events(b"".join([*sound[:7], bad, *sound[7:]]), reading())
    assert [row.offset for row in parsed.rows] == list(range(40))
    (refusal,) = parsed.refusals
    assert (refusal.span_start, refusal.found) == (sum(map(len, sound[:7])), "'9999999999999999999'")
