"""The replay on recorded histories: every high watermark that a real leader told lies in its recomputed interval."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.history.clocks import clocks_of
from rules.history.moments import Moment
from rules.history.statements import times_of
from rules.history.terms import in_terms
from rules.replay import Replay, ToldWatermark
from rules.settings import KAFKA_VERSION, NO_SETTINGS, Setting, settings_of
from rules.sketch.notation import read_sketch
from tests.benchmarks.replay_tightness import markdown_line
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES, histories
from tests.replaced import replace
from tests.rules.recast import untold

CASES = sorted(path.parent.name for path in SAMPLES.glob("*/truth.json"))
TRACED = [case for case in CASES if [*(SAMPLES / case).glob("dump/*/logs/kafka-request.log")]]
FAST = ("clean_mixed", "fast_failover_kip101", "lost_pages_hw", "unclean_4x")
"""One of each: sound, cut by epochs, cut by a high watermark, elected uncleanly."""


def replays(case: str) -> list[tuple[PartitionEvidence, Replay]]:
    found = histories(case).values()
    return [(evidence, evidence.replayed) for evidence in found if evidence.topic != METADATA_TOPIC]


def without(evidence: PartitionEvidence, moments: list[Moment]) -> Replay:
    return replace(evidence, chronicle=Chronicle(in_terms(moments))).replayed


def answers(found: Replay) -> list[ToldWatermark]:
    return [told for told in found.told_watermarks if told.by_leader]


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, TRACED))
def test_every_recorded_high_watermark_lies_in_its_interval(case: str) -> None:
    for _, found in replays(case):
        for told in found.told_watermarks:
            assert told.standing in ("inside", None), (told.moment, told.observed, told.expected)


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, TRACED))
def test_no_told_high_watermark_goes_into_an_interval(case: str) -> None:
    for evidence, found in replays(case):
        blank = tuple(untold(moment, "high_watermark") for moment in evidence.moments)
        unseen = replace(evidence, chronicle=Chronicle(blank)).replayed
        assert [told.expected for told in answers(found)] == [told.expected for told in answers(unseen)]
        assert [(c.start, c.end) for c in found.courses] == [(c.start, c.end) for c in unseen.courses]


@pytest.mark.slow
def test_the_intervals_are_narrow_and_few_are_open() -> None:
    told = [t for case in TRACED for _, found in replays(case) for t in answers(found)]
    widths = [t.expected.interval.width for t in told]
    closed = [width for width in widths if width is not None]
    assert len(told) > 4000
    assert len(closed) >= 0.98 * len(told)
    assert sum(width == 0 for width in closed) >= 0.75 * len(closed)


PAGE = (SAMPLES.parent / "docs" / "tightness.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, TRACED))
def test_the_page_says_how_tight_the_intervals_are(case: str) -> None:
    assert f"\n{markdown_line(case, [found for _, found in replays(case)])}\n" in PAGE


def raised(evidence: PartitionEvidence, chosen: ToldWatermark) -> Replay:
    """The replay of the same statements, one high watermark higher by a record."""
    told = [
        replace(m, high_watermark=(m.high_watermark or 0) + 1) if m is chosen.moment else m for m in evidence.moments
    ]
    return without(evidence, told)


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, ["clean_mixed", "clean_1_1"]))
def test_a_high_watermark_raised_by_a_record_is_noticed_wherever_the_interval_is_exact(case: str) -> None:
    noticed = 0
    for evidence, found in replays(case):
        exact = [t for t in answers(found) if t.expected.interval.width == 0 and t.observed is not None]
        for chosen in [t for t in exact if any(m is t.moment for m in evidence.moments)][:: max(1, len(exact) // 2)]:
            above = [t.moment.span for t in answers(raised(evidence, chosen)) if t.standing == "above"]
            assert above == [chosen.moment.span]
            noticed += 1
    assert noticed > len(replays(case))


def test_a_missing_request_log_is_named_and_leaves_the_high_side_open() -> None:
    evidence = histories("clean_mixed")["orders", 0]
    others = {broker: log for broker, log in evidence.request_logs.items() if broker != 2}
    kept = [m for m in evidence.moments if not (m.kind in ("fetched", "produced") and m.witness == 2)]
    found = without(replace(evidence, request_logs=others), kept)
    named = [missing.evidence for missing in found.missing]
    assert any("broker 2's request log (level DEBUG)" in evidence for evidence in named)
    assert all(told.standing == "inside" for told in found.told_watermarks if told.observed is not None)


def test_a_request_log_that_tells_of_no_fetch_is_not_called_missing() -> None:
    evidence = histories("clean_mixed")["orders", 0]
    found = without(evidence, [m for m in evidence.moments if not (m.kind == "fetched" and m.witness == 2)])
    named = [missing.evidence for missing in found.missing]
    assert any("Its request log here has none" in evidence for evidence in named)
    assert not any("broker 2's request log (level DEBUG)" in evidence for evidence in named)


def test_a_missing_broker_widens_and_never_contradicts() -> None:
    evidence = histories("clean_mixed")["orders", 0]
    kept = [m for m in evidence.moments if m.clock != "broker 2"]
    found = without(evidence, kept)
    assert any("broker 2's state-change.log" in missing.evidence for missing in found.missing)
    assert all(told.standing == "inside" for told in found.told_watermarks if told.observed is not None)


def test_without_the_metadata_log_nobody_is_surely_in_sync() -> None:
    evidence = histories("clean_mixed")["orders", 0]
    kept = [m for m in evidence.moments if m.kind not in ("leadership", "isr", "leader-starts")]
    found = without(evidence, kept)
    assert all(told.standing != "above" for told in found.told_watermarks)
    assert any("the ISR at the beginning" in missing.evidence for missing in found.missing)


def test_a_clock_an_hour_ahead_changes_no_answer_of_its_own_leader() -> None:
    evidence = histories("clean_mixed")["orders", 0]
    late = [replace(m, **{name: at + 3_600_000 for name, at in times_of(m).items()}) for m in evidence.moments]
    moved = [other if m.clock == "broker 2" else m for m, other in zip(evidence.moments, late, strict=True)]
    assert clocks_of(moved).offset("broker 2").stands_apart
    every = without(evidence, moved).told_watermarks
    assert all(told.standing == "inside" for told in every if told.observed is not None)


DRAWING = """
    broker 1 0000000000|
    broker 2 0000000000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 follows 2 epoch 0 at 0 hw 0
    t3 fetch 2@0 from 1 hw=0
    t4 acks 1 at 0 acks=1
    t5 fetch 2@5 from 1 hw=0
    t6 fetch 2@10 from 1 hw=5
"""


def test_the_high_watermark_lags_two_rounds_behind_the_log_end() -> None:
    told = answers(read_sketch(DRAWING).evidence.replayed)
    assert [t.expected.interval.low for t in told] == [0, 0, 5]
    assert [t.expected.interval.high for t in told] == [0, 5, 10]
    assert [t.standing for t in told] == ["inside"] * 3


RUNS = """
    broker 1* 00|
    broker 2  00|
    broker 3  00|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
    t2 fetch 2@1 from 1 hw=0
    t3 fetch 3@1 from 1 hw=1
    t4 fetch 2@2 from 1 hw=2
    t5 fetch 3@2 from 1 hw=2
"""


def test_the_end_of_a_run_of_equal_answers_stands_anywhere_in_its_millisecond() -> None:
    evidence = read_sketch(RUNS).evidence
    # Broker 3 was answered twice for offset 1: once more in the millisecond of broker 2's last answer, and before it.
    moments = [replace(m, count=2, last_time=4) if (m.kind, m.time) == ("fetched", 3) else m for m in evidence.moments]
    assert [told.standing for told in answers(without(evidence, moments))] == ["inside"] * 4


def test_a_proposed_isr_is_not_the_equal_one_that_was_in_force_before() -> None:
    drawing = """
        broker 1 000000|
        broker 2 000000|
        broker 3 0000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
        t2 isr 1 now 1,2 version 1
        t3 isr 1 now 1,2,3 version 2
        t4 fetch 3@4 from 1 hw=0
        t5 fetch 2@4 from 1 hw=0
        t20 shrinks 1 from 1,2,3 to 1,2 at 6
        t21 fetch 2@6 from 1 hw=4
        t22 fetch 2@6 from 1 hw=6
        t60000 fetch 2@6 from 1 hw=6
    """
    assert [told.standing for told in answers(read_sketch(drawing).evidence.replayed)] == ["inside"] * 5


def test_each_side_names_the_fact_that_sets_it() -> None:
    last = answers(read_sketch(DRAWING).evidence.replayed)[-1]
    assert last.expected.because == (
        "every replica that counts (broker 2) had asked for offset 5 or beyond",
        "broker 2, in sync, had asked for no more than offset 10",
    )


@pytest.mark.slow
def test_settings_in_force_narrow_the_replay_and_are_named() -> None:
    evidence = histories("clean_4x")["__transaction_state", 0]
    told, untold = evidence.replayed, replace(evidence, settings=NO_SETTINGS).replayed
    assert {course.rank.lag_time_max_ms for course in told.courses} == {4000}
    assert {course.rank.min_in_sync.between(None, None) for course in told.courses} == {frozenset({1})}
    pairs = list(zip(answers(told), answers(untold), strict=True))
    assert all(wide.expected.interval.covers(narrow.expected.interval) for narrow, wide in pairs)
    lows = [(narrow.expected.low, wide.expected.low) for narrow, wide in pairs]
    raised = [low for low, before in lows if low is not None and (before is None or low.offset > before.offset)]
    assert raised
    assert all("min.insync.replicas is 1" in low.because for low in raised)


@pytest.mark.slow
def test_a_topic_setting_that_zookeeper_may_hold_is_not_taken_from_its_broker() -> None:
    courses = histories("clean_2_8")["orders", 0].replayed.courses
    assert {course.rank.min_in_sync.between(None, None) for course in courses} == {frozenset[int]()}


@pytest.mark.slow
def test_where_a_log_starts_everything_before_was_committed() -> None:
    """Of a leader whose followers' fetches were not recorded, retention alone tells how far it was."""
    evidence = histories("clean_1_1")["short", 0]
    kept = [m for m in evidence.moments if m.kind in ("leader-starts", "leadership", "log-start-moved")]
    rows = [row for course in without(evidence, kept).courses for row in course.rows]
    assert rows
    assert all(row.high_watermark.interval.low == row.moment.log_start_offset for row in rows)
    assert "only committed records are deleted" in rows[0].high_watermark.because[0]


UPGRADED = """
kafka 1 3.9.1
broker 1 00|
broker 2 00|
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t500005 follows 1 epoch 1 at 2 hw 2 from 2
t500006 leads 1 epoch 2 at 2 hw 2 isr 1,2
t900000 follows 1 epoch 3 at 2 hw 2 from 2
t900001 leads 1 epoch 4 at 2 hw 2 isr 1,2
"""


@pytest.mark.parametrize(("last", "releases"), [("3.9.1", ["2.8.1", "None", "3.9.1"]), ("3.7.0", ["3.9.1"] * 3)])
def test_a_broker_counts_by_the_release_that_it_ran_then(last: str, releases: list[str]) -> None:
    """Of a role about an upgrade nobody knows; what somebody gave holds against all that its log printed."""
    evidence, span = read_sketch(UPGRADED).evidence, Span(source="server.log", start=0, end=1)
    told = [
        Setting(name=KAFKA_VERSION, value=value, origin="log", broker=1, since=since, clock="broker 1", span=span)
        for value, since in (("2.8.1", 0), (last, 500_008))
    ]
    courses = replace(evidence, settings=settings_of(told)).replayed.courses
    assert [str(course.rank.version) for course in courses if course.lead.leader == 1] == releases


BEFORE_ITS_LEAD = """
broker 1 @6:11|
broker 2 @6:11|
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0
t2 loads 2 at 8 start 6
t2 leads 2 epoch 1 at 8 hw 6
t3 fetch 1@4 from 2 hw=2 epoch 1
t4 fetch 1@5 from 2 hw=3 epoch 1
"""


@pytest.mark.parametrize(("latest", "standing"), [(None, "below"), (1, "inside"), (3, "inside")])
def test_a_restart_that_may_have_come_after_a_lead_bounds_no_answer_of_it(latest: int | None, standing: str) -> None:
    drawn = read_sketch(BEFORE_ITS_LEAD).evidence
    terms = {"term": 0, "latest_term": latest}
    moments = tuple(replace(m, **terms) if m.kind == "log-loaded" else m for m in drawn.moments)
    assert {told.standing for told in answers(replace(drawn, chronicle=Chronicle(moments)).replayed)} == {standing}
