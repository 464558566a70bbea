"""Settings that were changed while brokers ran, as brokers of all releases print them: in force, and causes."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from auditor.engines.witnesses.broker_settings import of_configurations, of_log
from auditor.timeline import evidence_of
from parsers.broker_log import Reading
from parsers.provenance import Origin, Span
from parsers.tables import BrokerSetting, no_rows
from rules.catalog import BY_ID
from rules.finding import Violation
from rules.settings import Setting, Settings, settings_of
from rules.signatures import SIGNATURES
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from tests.auditor.dumps_at_hand import SAMPLES, told
from tests.lab.whole_logs import parse_events
from tests.replaced import replace

LEAST, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
TIME = "[2026-11-21 06:17:58,000] INFO "
TOPICS: dict[str, dict[str, str | None]] = {
    "Processing override for entityPath: topics/pay with config: Map(min.insync.replicas -> 1)": {LEAST: "1"},
    "Processing override for entityPath: topics/pay with config: {min.insync.replicas=1,"
    " cleanup.policy=compact,delete}": {
        LEAST: "1", "cleanup.policy": "compact,delete", UNCLEAN: None,
    },
    "Processing override for entityType: topics, entity: pay with config: {min.insync.replicas=1}": {LEAST: "1"},
    "Processing override for entityPath: topics/pay with config: HashMap(min.insync.replicas -> 1,"
    " unclean.leader.election.enable -> true)": {LEAST: "1", UNCLEAN: "true", "retention.ms": None},
    "Processing override for entityPath: topics/pay with config: Map()": {LEAST: None, UNCLEAN: None},
    "[Admin Manager on Broker 4]: Updating topic pay with new configuration"
    " Map(min.insync.replicas -> 1)": {LEAST: "1"},
    "[DynamicConfigPublisher broker id=4] Updating topic pay with new configuration : cleanup.policy ->"
    " compact,delete,min.insync.replicas -> 1": {LEAST: "1", "cleanup.policy": "compact,delete", UNCLEAN: None},
    "[BrokerMetadataPublisher id=4] Updating topic pay with new configuration : ": {LEAST: None},
}  # fmt: skip
BROKERS: dict[str, tuple[int | None, str | None]] = {
    "Processing override for entityPath: brokers/3 with config: Map(min.insync.replicas -> 1)": (3, "1"),
    "Processing override for entityPath: brokers/<default> with config: HashMap(min.insync.replicas -> 1)": (None, "1"),
    "Processing override for entityPath: brokers/<default> with config: {}": (None, None),
    "[DynamicConfigPublisher broker id=4] Updating broker 4 with new configuration :"
    " min.insync.replicas -> 1": (4, "1"),
    "[DynamicConfigPublisher controller id=4] Updating cluster configuration : min.insync.replicas -> 1": (None, "1"),
    "[BrokerMetadataPublisher id=4] Updating controller 4 with new configuration : ": (4, None),
}
OF_OTHERS = (
    "Processing override for entityPath: users/admin with config: Map(SCRAM-SHA-512 -> [hidden])",
    "Processing override for entityPath: users/pay/clients/topics with config: Map(producer_byte_rate -> 1)",
    "Processing override for entityPath: clients/<default> with config: {producer_byte_rate=1024}",
)


def stated(line: str) -> list[Setting]:
    data = f"{TIME}{line} (kafka.server.ZkConfigManager)\n".encode()
    events = parse_events(data, Reading(origin=Origin(source="server.log", broker=4))).rows
    return of_log(events, no_rows(BrokerSetting))


@pytest.mark.parametrize("line", TOPICS)
def test_a_topics_settings_are_read_as_every_release_prints_them(line: str) -> None:
    own = {setting.name: setting.value for setting in stated(line)}
    assert {name: own[name] for name in TOPICS[line]} == TOPICS[line]
    assert {(s.topic, s.broker, s.origin, s.clock) for s in stated(line)} == {("pay", None, "applied", "broker 4")}


@pytest.mark.parametrize("line", BROKERS)
def test_brokers_settings_are_read_as_every_release_prints_them(line: str) -> None:
    (least,) = (setting for setting in stated(line) if setting.name == LEAST)
    assert ((least.broker, least.value), least.topic) == (BROKERS[line], None)


@pytest.mark.parametrize("line", OF_OTHERS)
def test_settings_of_users_and_clients_are_no_topics(line: str) -> None:
    assert stated(line) == []


def test_of_a_line_that_is_cut_nothing_is_taken_for_deleted() -> None:
    config = f"HashMap({LEAST} -> 1, follower.replication.throttled.replicas -> {'0:1,' * 400}, {UNCLEAN} -> true)"
    line = f"{TIME}Processing override for entityPath: topics/pay with config: {config} (k)\n"
    events = parse_events(line.encode(), Reading(origin=Origin(source="server.log", broker=4))).rows
    assert [(s.name, s.value) for s in of_configurations(events)] == [(LEAST, "1")]


def applied(value: str | None, since: int, broker: int = 1) -> Setting:
    span = Span(source="server.log", start=since, end=since + 1)
    clock = f"broker {broker}"
    return Setting(name=LEAST, value=value, origin="applied", topic="t", since=since, clock=clock, span=span)


def accused(settings: Settings) -> list[tuple[str, str]]:
    """What BUG001 says of a partition that lost what it told as committed on one copy."""
    drawing = next(row.drawing for row in SIGNATURES if row.defect == "KAFKA-15583")
    evidence = with_differences(read_sketch(dedent(drawing)).evidence)
    (topic,) = {evidence.topic}
    own = tuple(replace(s, topic=topic) if s.topic else s for s in settings.statements)
    said = BY_ID["BUG001"].check(replace(evidence, settings=Settings(statements=own)))
    return [(str(v.facts["defect"]), v.confidence) for v in said if isinstance(v, Violation)]


def test_a_leader_is_judged_by_what_it_had_taken_over_itself() -> None:
    started = replace(applied("2", 0), origin="log", topic=None, broker=1)
    assert accused(settings_of([started])) == []
    assert accused(settings_of([started, applied("1", 0)])) == []
    assert accused(settings_of([started, applied("2", 0)])) == [("KAFKA-15583", "certain")]
    assert accused(settings_of([started, applied("2", 0), applied("1", 2000)])) == []
    assert accused(settings_of([started, applied("2", 0), applied("1", 9000)])) == [("KAFKA-15583", "certain")]
    # What another broker took over may be a later change, unless it took over the leader's value after that.
    elsewhere = applied("1", 0, broker=2)
    assert accused(settings_of([started, applied("2", 0), elsewhere])) == []
    then = applied("2", 5, broker=2)
    assert accused(settings_of([started, applied("2", 0), elsewhere, then])) == [("KAFKA-15583", "certain")]
    assert accused(settings_of([started, applied("2", 0), applied(None, 2000)])) == []


def test_settings_that_brokers_took_over_are_the_cause_of_what_they_allowed(tmp_path: Path) -> None:
    """Without such a line the topic may have settings that nobody read: the brokers' are only likely the cause."""
    shutil.copytree(SAMPLES / "fast_failover_kip101" / "dump", tmp_path, dirs_exist_ok=True)
    (before,) = causes(tmp_path)
    for log in tmp_path.glob("broker-*/logs/server.log"):
        text = log.read_bytes()
        config = f"HashMap({LEAST} -> 1, {UNCLEAN} -> true)"
        said = f"Processing override for entityPath: topics/ff with config: {config} (kafka.server.ConfigManager)"
        log.write_bytes(text[:26] + b"INFO " + said.encode() + b"\n" + text)
    (after,) = causes(tmp_path)
    assert (before["confidence"], before["facts"]["origins"]) == ("likely", ["log", "log"])
    assert (after["confidence"], after["facts"]["origins"]) == ("certain", ["applied", "applied"])
    assert f"{UNCLEAN} was true for topic 'ff'" in after["message"]


def causes(dump: Path) -> list[dict[str, Any]]:
    return [finding for finding in told(dump)["findings"] if finding["rule"] == "CONF001"]


def test_recorded_brokers_took_over_what_the_controller_keeps() -> None:
    """Of the same topics and brokers by two ways: every broker's log, and the metadata log."""
    for sample in ("unclean_4x", "unclean_rejoined"):
        statements = evidence_of(SAMPLES / sample / "dump", "pay", 0).settings.statements
        by_origin = {
            origin: {(s.topic, s.name, s.value) for s in statements if s.origin == origin and s.value is not None}
            for origin in ("metadata", "applied")
        }
        assert by_origin["applied"] == by_origin["metadata"] != set()
        assert len({s.clock for s in statements if s.origin == "applied"}) > 2
