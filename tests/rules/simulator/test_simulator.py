"""The simulator by itself: its language, its laws, and what sets versions apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.config import ConfigError
from auditor.simulation.run_simulate import simulate
from auditor.simulation.script_file import read_script, script_of
from rules.simulator.drawing import draw
from rules.simulator.generation import Generation, UnknownGeneration, generation
from rules.simulator.run_outcome import first_difference
from rules.simulator.run_rows import run
from rules.simulator.script import ScriptError, read_event, read_events
from rules.simulator.state import Cluster, TopicSettings
from rules.simulator.step import create, step
from rules.sketch.notation import read_sketch
from tests.lab.effort import cases
from tests.rules.textbook_goldens import TEXTBOOK, scripts

VERSIONS = [
    "0.10.2.2",
    "0.11.0.3",
    "1.1.1",
    "2.0.0",
    "2.0.1",
    "2.3.1",
    "2.6.3",
    "2.7.2",
    "2.8.0",
    "3.3.2",
    "3.6.0",
    "4.0.0",
    "4.3.0",
]


def played(
    version: str | list[Generation], *lines: str, topic: TopicSettings | None = None, brokers: int = 2
) -> Cluster:
    found = [generation(version)] * brokers if isinstance(version, str) else version
    cluster = create(tuple(range(1, len(found) + 1)), found, topic)  # type: ignore[arg-type]
    for event in read_events(lines):
        cluster = step(cluster, event)
    return cluster


def said(cluster: Cluster) -> str:
    return "\n".join(cluster.said)


# --- the language

BROKER = st.integers(1, 4)
LINES = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["fetch", "ask", "answer", "reconcile", "crash", "restart"]), BROKER),
    st.builds("{} {}".format, st.sampled_from(["checkpoint", "shutdown", "fence"]), BROKER),
    st.builds("{} {}".format, st.sampled_from(["tell", "shrink", "expand", "elect"]), BROKER),
    st.builds("elect {} unclean told={}".format, BROKER, st.sampled_from(["none", "1", "2,3"])),
    st.builds("lose {} to {}".format, BROKER, st.integers(0, 5)),
    st.builds("{} {} below {}".format, st.sampled_from(["delete", "expire"]), BROKER, st.integers(0, 5)),
    st.builds("tell {} epoch={}".format, BROKER, st.integers(0, 5)),
    st.builds("fetch {} batches=1".format, BROKER),
    st.builds("{} {} proposed by={}".format, st.sampled_from(["shrink", "expand"]), BROKER, BROKER),
    st.sampled_from(["elect", "elect preferred", "reassign 2,3", "reassign 1,2,3"]),
    st.sampled_from(["commit", "reject by=2", "check", "wait 31s"]),
    st.builds("produce {} n({}) acks={}".format, BROKER, st.integers(1, 3), st.sampled_from(["0", "1", "all"])),
)  # fmt: skip


@settings(max_examples=cases(60))
@given(st.sampled_from(VERSIONS), st.lists(LINES, max_size=25))
def test_any_script_runs_and_keeps_the_order_of_offsets(version: str, lines: list[str]) -> None:
    renamed = [line.replace(" n(", f" n{place}(") for place, line in enumerate(lines)]
    cluster = create((1, 2, 3), [generation(version)] * 3)  # type: ignore[arg-type]
    for event in read_events(renamed):
        cluster = step(cluster, event)
        for broker in cluster.brokers:
            bases = [batch.base_offset for batch in broker.log.batches]
            ends = [batch.end_offset for batch in broker.log.batches]
            assert all(end <= base for end, base in zip(ends, bases[1:], strict=False))
            assert not ends or ends[-1] <= broker.log.end_offset
            assert not broker.alive or 0 <= broker.log.start_offset <= broker.log.end_offset
            assert broker.high_watermark >= 0
            if generation(version).binary.at_least(2, 4):
                assert broker.high_watermark <= broker.log.end_offset
    read_sketch(draw(cluster))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fech 2", "begins with produce"),
        ("fetch", "'fetch 2' or the like"),
        ("lose 1", "'lose 1 to 3' or the like"),
        ("produce 1 m(0)", "at least one record"),
        ("produce one m", "'produce 1 m1' or the like"),
        ("wait 3 days", "'wait 30s' or the like"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_with_an_example(line: str, expected: str) -> None:
    with pytest.raises(ScriptError, match=expected.replace("(", r"\(")):
        read_event(line)


@given(LINES)
def test_named_values_stand_in_either_spelling(line: str) -> None:
    assert read_event(line.replace("=", " ")) == read_event(line)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "expected 'name: value' lines"),
        ({"brokers": [1], "evnts": []}, "found 'evnts'"),
        ({"brokers": [1, 1], "events": []}, "different ids"),
        ({"brokers": [], "events": []}, "different ids"),
        ({"brokers": [True], "events": []}, "different ids"),
        ({"brokers": [1], "version": 3.9, "events": []}, "in quotes"),
        ({"brokers": [1], "events": [{"fetch": 2}]}, "list of lines"),
        ({"brokers": [1], "events": ["produce 1 m", "produce 1 m"]}, "name of its own"),
        ({"brokers": [1], "events": ["check"] * 1001}, "at most 1000 events"),
        ({"brokers": [1], "events": ["produce 1 m(999999) x9999"]}, "records"),
        ({"brokers": [1], "topic": {"min.isr": 1}, "events": []}, "topic settings"),
        ({"brokers": [1], "topic": {"unclean.leader.election.enable": "no"}, "events": []}, "true or false"),
        ({"brokers": [1], "versions": {2: {"version": "2.7"}}, "events": []}, "one of the brokers"),
        ({"brokers": [1], "epoch": -1, "events": []}, "to be a number"),
    ],
)
def test_a_script_that_cannot_be_run_is_refused_in_one_sentence(content: object, expected: str) -> None:
    with pytest.raises(ScriptError, match=expected):
        script_of(content, "x")


@pytest.mark.parametrize(("version", "spoken"), [("0.9.0", None), ("2.0", "2.6"), ("three", None), ("3.9.1", "x")])
def test_versions_that_nobody_runs_are_refused(version: str, spoken: str | None) -> None:
    with pytest.raises(UnknownGeneration):
        generation(version, spoken)


def test_an_event_of_a_broker_that_is_not_there_changes_nothing() -> None:
    before = played("3.9.1", "produce 1 m")
    after = step(before, read_event("fetch 7"))
    assert after.brokers == before.brokers
    assert said(after) == "there is no broker 7"


@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_the_drawn_logs_are_sketches_of_the_end(script: Path) -> None:
    end = run(read_script(script)).end
    drawn = {replica.broker: replica for replica in read_sketch(draw(end)).evidence.replicas}
    for broker in (broker for broker in end.brokers if broker.holds):
        held = {o: batch.epoch for batch in broker.log.batches for o in range(batch.base_offset, batch.end_offset)}
        runs = drawn[broker.id].log.epochs
        shown = {offset: run.epoch for run in runs for offset in range(run.start_offset, run.end_offset)}
        assert {offset: shown.get(offset) for offset in held} == held
        watermark = drawn[broker.id].high_watermark
        assert watermark is not None
        assert watermark.offset == broker.high_watermark


# --- versions


@pytest.mark.parametrize(
    ("version", "answer"),
    [("2.0.1", "HW 0"), ("2.1.0", "UNKNOWN_LEADER_EPOCH"), ("3.9.1", "UNKNOWN_LEADER_EPOCH")],
)
def test_a_leader_that_missed_its_new_epoch_is_told_apart_since_2_1(version: str, answer: str) -> None:
    cluster = played(version, "produce 1 m acks=1", "elect 1 told=2", "fetch 2")
    assert answer in said(cluster)


@pytest.mark.parametrize(("version", "answer"), [("2.0.1", "m@0"), ("2.6.3", "FENCED_LEADER_EPOCH")])
def test_a_follower_of_an_older_epoch_is_fenced_since_2_1(version: str, answer: str) -> None:
    assert answer in said(played(version, "produce 1 m acks=1", "elect 1 told=1", "fetch 2"))


@pytest.mark.parametrize(
    ("version", "asks"), [("1.1.1", False), ("2.0.0", False), ("2.0.1", False), ("2.1.0", True), ("2.6.3", True)]
)
def test_a_new_epoch_of_the_same_leader_is_reconciled_since_2_1(version: str, asks: bool) -> None:
    cluster = played(version, "produce 1 m acks=1", "fetch 2", "elect 1", "reconcile 2")
    assert bool(cluster.cuts) is asks


def test_an_epoch_that_was_missed_is_noticed_by_2_0_1() -> None:
    lines = ("produce 1 m acks=1", "fetch 2", "elect 2 told=none", "elect 1", "reconcile 2")
    assert not played("2.0.0", *lines).cuts
    assert len(played("2.0.1", *lines).cuts) == 1


@pytest.mark.parametrize(
    ("version", "end"), [("0.10.2.2", 1), ("1.1.1", None), ("2.0.1", None), ("2.1.0", 1), ("2.6.3", 1)]
)
def test_a_broker_stops_rather_than_cut_out_of_range_from_0_11_to_2_0(version: str, end: int | None) -> None:
    """KAFKA-7414: with unclean election off, the default since 0.11, a longer follower gives up."""
    broker = run(read_script(TEXTBOOK / "loss-return.yaml"), version, "0.10.2").end.brokers[0]
    assert broker.alive is (end is not None)
    assert broker.log.end_offset == (2 if end is None else end)


@pytest.mark.parametrize(("version", "high_watermark"), [("2.3.1", 2), ("2.4.0", 1)])
def test_a_cut_left_the_high_watermark_alone_up_to_2_3(version: str, high_watermark: int) -> None:
    lines = (
        "produce 1 m x2", "fetch 2", "fetch 2", "checkpoint 1", "crash 1", "crash 2", "lose 2 to 1", "restart 2",
        "elect 2", "restart 1", "reconcile 1",
    )  # fmt: skip
    cluster = played(version, *lines)
    assert (cluster.brokers[0].log.end_offset, cluster.brokers[0].high_watermark) == (1, high_watermark)


@pytest.mark.parametrize(("version", "high_watermark"), [("3.3.2", 1), ("3.5.0", 0)])
def test_a_diverging_answer_raised_the_high_watermark_up_to_3_4(version: str, high_watermark: int) -> None:
    """KAFKA-14704: taken before the cut, the leader's high watermark outlived it."""
    lines = (
        "produce 1 a", "fetch 2", "fetch 2", "produce 1 b", "crash 1", "elect 2", "produce 2 c", "restart 1", "fetch 1",
    )  # fmt: skip
    broker = played(version, *lines).brokers[0]
    assert (broker.log.end_offset, broker.high_watermark) == (1, high_watermark)


@pytest.mark.parametrize(("version", "moves"), [("3.6.0", True), ("3.7.0", False)])
def test_the_high_watermark_rests_below_min_isr_since_3_7(version: str, moves: bool) -> None:
    lines = ("wait 31s", "produce 1 a acks=1", "check", "produce 1 b acks=1")
    cluster = played(version, *lines, topic=TopicSettings(min_insync_replicas=2))
    assert cluster.in_force.isr == {1}
    assert cluster.brokers[0].high_watermark == (2 if moves else 0)


def test_brokers_of_two_versions_reconcile_each_by_its_own() -> None:
    """A rolling upgrade: the one that speaks v0 keeps what the other would cut."""
    lines = (
        "produce 1 a(11)", "fetch 2", "fetch 2", "produce 1 b(10) acks=1", "elect 2 told=2", "produce 2 c(10) acks=1",
        "elect 1", "produce 1 d acks=1", "fetch 2", "fetch 2",
    )  # fmt: skip
    ends = {}
    for spoken in ("1.1", "2.6"):
        cluster = played([generation("2.6.3"), generation("2.6.3", spoken)], *lines)
        ends[spoken] = first_difference(*cluster.brokers)
    assert ends == {"1.1": 11, "2.6": None}


def test_an_answer_that_left_arrives_though_the_leader_died_and_one_that_waits_does_not() -> None:
    sent = played("3.9.1", "produce 1 m", "ask 2", "crash 1", "answer 2")
    assert sent.brokers[1].log.end_offset == 1
    waiting = played("3.9.1", "ask 2", "produce 1 m", "crash 1", "answer 2")
    assert waiting.brokers[1].log.end_offset == 0


def test_a_producer_is_told_when_its_leader_was_deposed() -> None:
    cluster = played("3.9.1", "produce 1 m", "elect 2")
    assert [sent.answer for sent in cluster.produces] == ["failed"]


def test_a_deposed_leader_cannot_change_the_isr() -> None:
    cluster = played("3.9.1", "elect 2 told=2", "shrink 2 by=1")
    assert cluster.in_force.isr == {1, 2}
    assert "deposed" in said(cluster)


# --- the command


def test_json_holds_the_rows_of_the_timeline() -> None:
    document = json.loads(simulate(TEXTBOOK / "two-rounds.yaml", format="json"))
    columns = [
        (leader["logEndOffset"], leader["highWatermark"], leader["remoteLogEndOffsets"]["2"]["logEndOffset"])
        for leader in (row["replicas"][0] for row in document["rows"])
    ]
    assert columns == [(0, 0, -1), (0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 1)]
    assert document["outcome"]["visible"] == {"startOffset": 0, "endOffset": 1}
    compared = json.loads(simulate(TEXTBOOK / "divergence.yaml", format="json", side_by_side=True))
    assert [column["diverge"] != [] for column in compared["generations"]] == [True, *[False] * 5]


@pytest.mark.parametrize("text", ["events: [", "\x00", "&a [*a]", "- 1", "x: !!python/object:os.system {}"])
def test_a_file_that_is_no_script_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        read_script(path)


# --- settings that change


@pytest.mark.parametrize(("version", "rests"), [("3.6.0", False), ("4.0.0", True)])
def test_a_high_watermark_goes_by_the_setting_of_its_time_and_is_weighed_by_the_next_news(
    version: str, rests: bool
) -> None:
    begun = ("configure min.insync.replicas=2", "produce 1 a acks=1", "fetch 2", "fetch 2", "fetch 2")
    raised = ("wait 60s", "shrink 2", "produce 1 b acks=1")
    assert played(version, *begun).broker(1).high_watermark == 1
    assert played(version, *begun, *raised).broker(1).high_watermark == (1 if rests else 2)
    lowered = played(version, *begun, *raised, "configure min.insync.replicas=1")
    assert lowered.broker(1).high_watermark == (1 if rests else 2)
    assert step(lowered, read_event("produce 1 c acks=1")).broker(1).high_watermark == 3


def test_producers_are_admitted_by_the_setting_of_their_time() -> None:
    lines = ("wait 60s", "shrink 2", "produce 1 a", "configure min.insync.replicas=2", "produce 1 b")
    assert [each.answer for each in played("2.6.3", *lines).produces] == ["acknowledged", "refused"]


def test_elections_go_by_the_setting_of_their_time() -> None:
    gone = ("shrink 2", "crash 1", "fence 1")
    assert played("2.6.3", *gone).in_force.leader is None
    allowed = played("2.6.3", *gone, "configure unclean.leader.election.enable=true", "elect").in_force
    assert (allowed.leader, allowed.unclean) == (2, True)


def test_nobody_stays_eligible_under_another_setting() -> None:
    topic = TopicSettings(min_insync_replicas=2)
    before = played("4.3.0", "shrink 2", topic=topic)
    assert before.in_force.elr == {2}
    after = step(before, read_event("configure min.insync.replicas=1"))
    assert (after.in_force.elr, after.in_force.version) == (frozenset(), before.in_force.version + 1)


@pytest.mark.parametrize(
    "line", ["configure retention.ms=1", "configure min.insync.replicas=two", "configure min.insync.replicas=0"]
)
def test_a_setting_that_the_protocol_does_not_ask_for_is_refused(line: str) -> None:
    with pytest.raises(ScriptError, match=r"expected ('configure )?min\.insync\.replicas"):
        read_event(line)
