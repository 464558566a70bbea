"""The timeline of a partition: expected beside told, and remote log ends on the leader's side."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auditor.config import AuditConfig, ConfigError
from auditor.timeline import Excerpt, evidence_of, run_timeline
from auditor.timeline import timeline as told_of
from auditor.timeline.text import timeline_text
from auditor.timeline.window import window_of
from rules.history.clocks import WANDER_MS
from rules.sketch.notation import read_sketch
from rules.timeline.rows import timeline_of
from rules.timeline.statement_words import words
from tests.replaced import replace
from tests.rules.recast import recast

AS_JSON = AuditConfig(format=("json",))
SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


ANEW = """
broker 1 0000|
broker 2 0000|
t1 leads 1 epoch 0 at 0 hw 0
"""


def timeline(dump: Path, *, config: AuditConfig | None = None, **asked: Any) -> str:  # noqa: ANN401 - words of a command
    return told_of(dump, Excerpt(**asked), config or AuditConfig())


@cache
def document(case: str, topic: str) -> dict[str, Any]:
    text = timeline(SAMPLES / case / "dump", topic=topic, partition=0, config=AS_JSON)
    found: dict[str, Any] = json.loads(text)
    return found


def cell(row: dict[str, Any], broker: int) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in row["replicas"] if c["broker"] == broker)
    return found


def test_the_high_watermark_lags_two_rounds_behind_on_a_follower() -> None:
    rows = [row for row in document("clean_mixed", "orders")["rows"] if row["term"] == 0 and row["kind"] == "fetched"]
    own = [cell(row, 1) for row in rows if row["text"].startswith("1 fetches") and row["error"] == 0]
    lagging = [(c["logEndOffset"]["low"], c["highWatermark"]["high"]) for c in own]
    assert (7, 0) in lagging
    assert (14, 7) in lagging
    assert all(high <= end for end, high in lagging)


OF_ONE_LOSS = [("fast_failover_kip101", "ff"), ("acks_one_lost", "fire"), ("unclean_4x", "pay")]


@pytest.mark.parametrize(("case", "topic"), OF_ONE_LOSS)
def test_no_value_that_is_none_is_written_as_a_number(case: str, topic: str) -> None:
    told = timeline(SAMPLES / case / "dump", topic=topic, partition=0, config=AuditConfig())
    assert ":none.." in told, "a follower that has not fetched"
    assert re.search(r"@None|\bNone\b|:-1\b|-1\.\.|epoch -1", told) is None


def test_a_log_whose_answers_nobody_logged_may_have_grown() -> None:
    """No request log is here: broker 1 opened epoch 0 with an empty log, and held 150 records when it was killed."""
    rows = document("never_rejoined", "pay")["rows"]
    last = cell(rows[-1], 1)
    assert (last["logEndOffset"]["low"], last["logEndOffset"]["high"]) == (0, None)
    bounded = [cell(row, broker) for row in rows if row["term"] in (0, 2) for broker in (1, 2, 3)]
    told = [c for c in bounded if c["toldHighWatermark"] is not None and c["highWatermark"] is not None]
    assert any(c["toldHighWatermark"] == 100 for c in told)
    assert all(c["highWatermark"]["high"] is None or c["toldHighWatermark"] <= c["highWatermark"]["high"] for c in told)


def test_what_a_line_does_not_tell_is_a_question_mark() -> None:
    (moment, *_) = [m for m in read_sketch(ANEW).evidence.moments if m.kind == "leader-starts"]
    untold = recast(moment, "follower-starts", leader=None, offset=None, epoch=None)
    assert words(untold) == f"{moment.broker} follows ? in epoch ? from @?"
    asked = recast(moment, "epoch-asked", leader=3, asked_epoch=-1, answered_epoch=-1, answer_offset=-1)
    assert words(asked) == f"{moment.broker}, without an epoch, asks 3 where it ends: unknown"
    known = replace(asked, asked_epoch=2, answered_epoch=1, answer_offset=21)
    assert words(known) == f"{moment.broker} asks 3 where epoch 2 ends: 1:21"
    assert words(replace(known, answered_epoch=-1)) == f"{moment.broker} asks 3 where epoch 2 ends: 21"


def test_no_row_of_a_healthy_cluster_lies_outside() -> None:
    rows = document("clean_mixed", "orders")["rows"]
    assert not any(c["outside"] for row in rows for c in row["replicas"])
    assert sum(c["toldHighWatermark"] is not None for row in rows for c in row["replicas"]) > 100


def test_epochs_never_go_back_from_row_to_row() -> None:
    rows = document("unclean_rejoined", "pay")["rows"]
    placed = [row["epoch"] for row in rows if row["kind"] == "leadership"]
    assert placed == sorted(placed)
    assert len(placed) > 5


@pytest.mark.parametrize(("case", "topic"), [("unclean_4x", "pay"), ("unclean_rejoined", "pay")])
def test_a_restart_stands_by_its_time_and_between_its_brokers_roles(case: str, topic: str) -> None:
    rows = document(case, topic)["rows"]
    elected = next(place for place, row in enumerate(rows) if row["kind"] == "leadership" and row["epoch"] == 1)
    loads = [(place, row) for place, row in enumerate(rows) if row["kind"] == "log-loaded"]
    assert any(place > elected for place, _ in loads)
    for place, row in loads:
        assert (place > elected) == (row["time"] > rows[elected]["time"])
    for clock in {row["clock"] for _, row in loads}:
        kinds = ("leader-starts", "follower-starts", "log-loaded", "high-watermark-loaded")
        own = [row["clockTime"] for row in rows if row["clock"] == clock and row["kind"] in kinds]
        assert own == sorted(own)


def test_the_cut_and_the_unclean_election_stand_in_it() -> None:
    rows = document("unclean_rejoined", "pay")["rows"]
    cut = next(row for row in rows if row["kind"] == "truncated")
    assert cut["text"] == "1 truncates to @100"
    assert cell(cut, 1)["logEndOffset"]["low"] == 100
    assert any("elects uncleanly 2, epoch 1" in row["text"] for row in rows)
    assert any("error 74 FENCED_LEADER_EPOCH" in row["text"] for row in rows)


def test_the_leader_knows_log_ends_and_no_high_watermark_of_its_followers() -> None:
    rows = document("unclean_rejoined", "pay")["rows"]
    served = [row for row in rows if row["remoteLogEnds"]]
    assert served
    assert all(set(remote) == {"broker", "low", "high"} for row in served for remote in row["remoteLogEnds"])


def test_it_is_the_same_every_time_and_cut_to_a_window() -> None:
    dump = SAMPLES / "unclean_rejoined" / "dump"
    whole = timeline(dump, topic="pay", partition=0)
    assert whole == timeline(dump, topic="pay", partition=0)
    part = timeline(dump, topic="pay", partition=0, since="2026-11-21T05:25:14", until="2026-11-21T05:25:15")
    assert "2 leads epoch 1 from @100" in part
    assert "1 leads epoch 0" not in part
    assert 5 < part.count("\n") < whole.count("\n")
    assert part == timeline(dump, topic="pay", partition=0, since="05:25:14", until="05:25:15.000")


def test_a_time_of_day_needs_its_day_where_the_events_are_of_several() -> None:
    drawing = """
        topic pay
        broker 1 00000|
        broker 2 00000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t200000000 fetch 2@0 from 1 hw=0
    """
    drawn = timeline_of(read_sketch(drawing).evidence)
    with pytest.raises(ConfigError, match=r"expected a time with its day, such as .*T00:00"):
        window_of(drawn, "00:00:01")


def test_a_clock_is_told_with_the_uncertainty_that_judging_allows_it() -> None:
    text = timeline(SAMPLES / "unclean_rejoined" / "dump", topic="pay", partition=0)
    clocks = document("unclean_rejoined", "pay")["clocks"]
    apart = [clock for clock in clocks if clock["bounds"] and clock["atLeast"] is not None]
    assert len(apart) >= 3
    assert all(clock["atLeast"] <= -WANDER_MS and clock["atMost"] >= WANDER_MS for clock in apart)
    told = [f"between {c['atLeast']:+d} and {c['atMost']:+d} ms against {c['reference']}" for c in apart]
    assert all(words in text for words in told)


def test_a_window_takes_milliseconds_too() -> None:
    rows = document("unclean_rejoined", "pay")["rows"]
    times = [row["time"] for row in rows]
    dump = SAMPLES / "unclean_rejoined" / "dump"
    text = timeline(dump, topic="pay", partition=0, config=AS_JSON, since=str(times[0]), until=str(max(times)))
    assert all(times[0] <= row["time"] <= max(times) for row in json.loads(text)["rows"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"topic": "pay", "since": "yesterday"}, r"--from: expected a time such as 2026-11-21T05:[\d:.]{9}, found"),
        ({"topic": "pay", "since": "05:25:15", "until": "05:25:14"}, "--from 05:25:15 is later than --to 05:25:14"),
        ({"topic": "none"}, "none"),
        ({"topic": "pay", "offsets": "all"}, "expected an offset such as 100, or a range such as 100-149; found 'all'"),
        ({"topic": "pay", "offsets": "9-3"}, "--offsets 9-3: expected the lower offset first"),
    ],
)
def test_what_cannot_be_meant_is_said(given: dict[str, str], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        timeline(SAMPLES / "unclean_rejoined" / "dump", partition=0, **given)


def test_a_format_that_it_does_not_have_is_said() -> None:
    given = AuditConfig(format=("postmortem",))
    with pytest.raises(ConfigError, match="expected one of terminal, json, svg, html"):
        timeline(SAMPLES / "unclean_rejoined" / "dump", topic="pay", partition=0, config=given)


def test_it_is_written_beside_the_dump_and_never_into_it(tmp_path: Path) -> None:
    dump = SAMPLES / "unclean_rejoined" / "dump"
    written = tmp_path / "pay-0.txt"
    run_timeline([dump], AuditConfig(output=str(written)), Excerpt(topic="pay", partition=0))
    assert written.read_text() == timeline(dump, topic="pay", partition=0)
    with pytest.raises(ConfigError, match="lies inside the dump"):
        run_timeline([dump], AuditConfig(output=str(dump / "pay-0.txt")), Excerpt(topic="pay", partition=0))


def test_a_folder_is_a_brokers_log_dir_and_its_release_is_what_one_says() -> None:
    dump = SAMPLES / "unclean_rejoined" / "dump"
    given = AuditConfig(log_dir=("7=broker-3/data",), kafka_version=("2.8.2",))
    evidence = evidence_of(dump, "pay", 0, given)
    assert 7 in {replica.broker for replica in evidence.replicas}


def test_a_told_value_outside_its_interval_is_marked_and_hostile_names_are_escaped() -> None:
    drawing = """
        topic \x1b]0;evil
        broker 1 00000|
        broker 2 00000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 fetch 2@0 from 1 hw=0
        t3 fetch 2@3 from 1 hw=5
        t4 fetch 2@5 from 1 hw=5
    """
    text = timeline_text(timeline_of(read_sketch(drawing).evidence))
    assert "\x1b" not in text
    assert "5!" in text


def test_a_row_that_goes_back_in_time_says_so() -> None:
    drawing = """
        broker 1 00000|
        broker 2 00000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t9 fetch 2@0 from 1 hw=0
        t4 follows 2 epoch 1 at 5 hw 5
    """
    text = timeline_text(timeline_of(read_sketch(drawing).evidence))
    assert text.count("~") == 2, "once in the legend, once at the row"
    assert "~00:00:00.004  1970-01-01 00:00:00,004  broker 2  2 follows" in text
    in_step = timeline_text(timeline_of(read_sketch(drawing.replace("t4", "t11")).evidence))
    assert "~" not in in_step


def test_on_a_narrow_terminal_a_row_is_a_paragraph_that_names_its_columns() -> None:
    drawing = "broker 1 00000|\nbroker 2 00000|\nt1 leads 1 epoch 0 at 0 hw 0 isr 1,2\nt2 fetch 2@0 from 1 hw=0"
    drawn = timeline_of(read_sketch(drawing).evidence)
    wide, narrow = timeline_text(drawn), timeline_text(drawn, width=80)
    assert timeline_text(drawn, width=400) == wide
    rows = narrow.partition("\n\n")[2].splitlines()
    assert max(map(len, wide.splitlines())) > 80 >= max(map(len, rows))
    assert "; 1 LEO *0" in " ".join(rows)


def test_an_error_code_has_kafkas_name_where_it_is_known() -> None:
    role = read_sketch("broker 1 0|\nt1 leads 1 epoch 0 at 0 hw 0 isr 1").evidence.moments[0]
    assert words(replace(role, error=11)).endswith(", error 11 STALE_CONTROLLER_EPOCH")
    assert words(replace(role, error=999)).endswith(", error 999")
    assert "error" not in words(replace(role, error=0))


ONCE_MORE = """
    broker 1 0000000000|
    broker 2 0000000000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@0 from 1 hw=0
    t3 fetch 2@5 from 1 hw=0
    t4 fetch 2@5 from 1 hw=5
    t10 loads 1 at 3
    t11 leads 1 epoch 0 at 3 hw 3 isr 1,2
    t12 acks 1 at 3 acks=1
    t13 fetch 2@7 from 1 hw=7 epoch 0
    t14 fetch 2@10 from 1 hw=10 epoch 0
"""
ANEW = """
    broker 1 0000000000|
    broker 2 0000000000|
    t1 leads 1 epoch 1 at 0 hw 0
    t2 leads 1 epoch 0 at 3 hw 3
    t12 acks 1 at 3 acks=1
    t13 fetch 2@7 from 1 hw=7 epoch 0
"""


@pytest.mark.parametrize(
    ("drawing", "why"), [(ONCE_MORE, "a replay of 3 answers of broker 1 in epoch 0"), (ANEW, "they began again")]
)
def test_answers_that_no_term_holds_leave_open_what_their_leader_held(drawing: str, why: str) -> None:
    drawn = timeline_of(read_sketch(drawing).evidence)
    rows = [row for row in drawn.rows if row.time is not None and row.time >= 12]
    assert len(rows) >= 2
    for row in rows:
        leader, asker = row.cells
        assert {leader.log_end.interval.high, leader.high_watermark.interval.high} == {None}, row.text
        assert {leader.log_end.low, leader.high_watermark.low} == {None}
        if row.moment.kind == "fetched":
            assert asker.log_end.interval.low == asker.log_end.interval.high == row.moment.offset
            assert leader.told_high_watermark == row.moment.high_watermark
    text = timeline_text(drawn)
    assert why in text
    assert "*?  " in text


def test_a_log_that_is_loaded_anew_keeps_no_high_watermark_of_before() -> None:
    rows = timeline_of(read_sketch(ONCE_MORE).evidence).rows
    loaded = next(row.cells[0] for row in rows if row.moment.kind == "log-loaded")
    opened = next(row.cells[0] for row in rows if row.time == 11)
    for held in (loaded, opened):
        assert (held.log_end.interval.low, held.high_watermark.interval.high) == (3, 3)
        assert held.high_watermark.interval.low == 0


def test_a_call_without_an_epoch_names_none_and_a_partition_without_a_leader_is_no_election() -> None:
    role = read_sketch(ONCE_MORE).evidence.moments[0]
    call = recast(role, "unclean-election", leader=2, epoch=None)
    assert words(call) == "controller calls the election of 2 unclean"
    assert words(replace(call, leader=-1, epoch=3)) == "controller leaves the partition without a leader, epoch 3"


def test_what_told_and_expected_mean_beside_each_other_is_said_once_in_text_and_document() -> None:
    said = "n answer tells what was read before it"
    assert timeline(SAMPLES / "unclean_rejoined" / "dump", topic="pay", partition=0).count(said) == 1
    assert "What an answer tells was read before it" in document("unclean_rejoined", "pay")["description"]
