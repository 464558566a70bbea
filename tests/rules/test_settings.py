"""Which setting was in force when: rank before time, and no value where clocks leave two."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from auditor.engines.witnesses.broker_settings import informed, of_files
from parsers.checkpoints import read_server_properties
from parsers.provenance import Origin, Span
from parsers.tables.secrets import HIDDEN
from rules.history.moments import Moment
from rules.history.statements import LogCut
from rules.narrow.facts import Fact, Surroundings
from rules.replay import Clocks
from rules.settings import Setting, SettingOrigin, settings_of
from tests.lab.sample_histories import histories

pytestmark = pytest.mark.slow

SPAN = Span(source="s", start=0, end=1)
NAME = "min.insync.replicas"
ALIGNED = Clocks(
    reference="controller", most={("controller", "broker 1"): 101_000, ("broker 1", "controller"): -99_000}
)


def of_topic(value: str | None, since: int) -> Setting:
    return Setting(
        name=NAME, value=value, origin="metadata", topic="pay", since=since, clock="controller", span=SPAN
    )


def of_broker(value: str | None, since: int | None, origin: SettingOrigin = "log", broker: int | None = 1) -> Setting:
    clock = {"log": f"broker {broker}", "metadata": "controller"}.get(origin, "")
    return Setting(name=NAME, value=value, origin=origin, broker=broker, since=since, clock=clock, span=SPAN)


def on_broker(time: int) -> Moment:
    return LogCut(kind="truncated", clock="broker 1", time=time, span=SPAN)


def value(settings: list[Setting], at: Moment | None = None, broker: int = 1) -> str | None:
    found = settings_of(settings).in_force("pay", broker, NAME, at, ALIGNED)
    return found.value if found else None


def test_the_topic_outranks_its_brokers_and_a_change_what_was_there_at_the_start() -> None:
    started, written = of_broker("1", 0), of_broker("7", None, "file")
    every, own = of_broker("2", 5, "metadata", None), of_broker("3", 5, "metadata")
    assert value([written]) == "7"
    assert value([written, started]) == "1"
    assert value([written, started, every]) == "2"
    assert value([written, started, every, own]) == "3"
    assert value([written, started, every, own, of_topic("4", 6)]) == "4"
    assert value([started, own], broker=2) is None


def test_a_deleted_setting_leaves_the_next_in_rank() -> None:
    assert value([of_broker("1", 0), of_topic("2", 5), of_topic(None, 9)]) == "1"
    assert value([of_topic("2", 5), of_topic(None, 9)]) is None


def test_a_setting_holds_from_its_time_on() -> None:
    starts = [of_broker("1", 1000), of_broker("2", 5000)]
    assert [value(starts, on_broker(time)) for time in (999, 1000, 4999, 5000)] == [None, "1", "1", "2"]


def test_two_clocks_are_compared_only_as_far_as_they_are_aligned() -> None:
    """Broker 1's clock is 100 s ahead of the controller's, give or take a second."""
    told = [of_broker("1", 0), of_topic("2", 10_000)]
    assert value(told, on_broker(108_000)) == "1"
    assert value(told, on_broker(110_000)) is None
    assert value(told, on_broker(112_000)) == "2"
    assert settings_of(told).in_force("pay", 1, NAME, on_broker(112_000)) is None
    assert value([of_broker("2", 0), of_topic("2", 10_000)], on_broker(110_000)) == "2"


def test_what_another_broker_told_of_since_may_be_in_force_where_a_brokers_own_word_is_older() -> None:
    """Broker 2's clock is at most 10 ms from broker 1's; each prints what it takes over."""
    near = Clocks(reference="broker 1", most={("broker 1", "broker 2"): 10, ("broker 2", "broker 1"): 10})

    def taken_over(broker: int, value: str, since: int) -> Setting:
        clock = f"broker {broker}"
        return Setting(name=NAME, value=value, origin="applied", topic="pay", since=since, clock=clock, span=SPAN)

    def held(*settings: Setting) -> str | None:
        found = settings_of(settings).in_force("pay", 1, NAME, on_broker(9_000), near)
        return found.value if found else None

    own = taken_over(1, "1", 5_000)
    assert held(own, taken_over(2, "2", 3_000)) == held(own, taken_over(2, "1", 5_005)) == "1"
    assert held(own, taken_over(2, "2", 9_500)) == "1"
    assert held(own, taken_over(2, "2", 7_000)) is None


def test_two_files_that_differ_decide_nothing() -> None:
    other = Setting(name=NAME, value="8", origin="file", broker=1, span=Span(source="t", start=0, end=1))
    assert value([of_broker("7", None, "file"), other]) is None


def test_order_and_repetition_of_statements_change_nothing() -> None:
    told = [of_broker("1", 0), of_broker("1", 10), of_broker("2", 20), of_topic("3", 5), of_broker("1", 30)]
    once = settings_of(told)
    assert len(once.statements) == len(told) - 1
    shuffled = random.Random(3).sample(told, len(told))  # noqa: S311 - an order
    assert settings_of([*shuffled, *told]) == once


def test_a_properties_file_gives_settings_of_its_own_broker_and_no_secrets() -> None:
    text = b"broker.id=4\nmin.insync.replicas=2\nmin.insync.replicas : 3\nssl.keystore.password=hunter2\n"
    parsed = read_server_properties(text, Origin(source="server.properties", broker=1))
    told = {setting.name: setting for setting in of_files(parsed.rows)}
    assert (told[NAME].broker, told[NAME].value, told[NAME].since) == (4, "3", None)
    assert text[told[NAME].span.start : told[NAME].span.end].startswith(b"min.insync.replicas : 3")
    assert told["ssl.keystore.password"].value == HIDDEN


@pytest.mark.parametrize(
    ("case", "binary", "protocol"),
    [
        ("lost_pages_hw", "1.1.1", "0.10.2"),
        pytest.param("clean_2_8", "2.8.2", "2.8-IV1", marks=pytest.mark.slow),
        ("clean_mixed", "3.9.1", "3.9-IV0"),
        pytest.param("clean_4x", "4.3.0", "4.3-IV0", marks=pytest.mark.slow),
        ("unclean_4x", "4.3.0", "4.3-IV0"),
    ],
)
def test_recorded_logs_tell_what_each_broker_ran(case: str, binary: str, protocol: str) -> None:
    evidence = next(iter(histories(case).values()))
    told = {version.broker: (version.binary, version.inter_broker_protocol) for version in evidence.versions}
    assert {1, 2} <= told.keys()
    assert set(told.values()) == {(binary, protocol)}


def test_recorded_settings_reach_the_evidence() -> None:
    """The topic was made with settings of its own; what it leaves to its brokers stands in their logs."""
    evidence = histories("unclean_4x")["pay", 0]
    unclean, lag = (evidence.setting(2, name) for name in ("unclean.leader.election.enable", "replica.lag.time.max.ms"))
    assert unclean is not None
    assert (unclean.value, unclean.origin, unclean.topic) == ("true", "metadata", "pay")
    assert lag is not None
    assert (lag.value, lag.origin, lag.broker) == ("4000", "log", 2)
    log = (Path(__file__).parents[2] / "sample_logs/unclean_4x/dump" / lag.span.source).read_bytes()
    assert log[lag.span.start : lag.span.end].strip() == b"replica.lag.time.max.ms = 4000"
    opened = next(moment for moment in evidence.moments if moment.kind == "leader-starts")
    assert evidence.setting(opened.broker, NAME, opened) is not None


def test_a_topic_has_the_settings_of_its_own_that_were_printed_when_its_replica_was_made() -> None:
    """Release 1.1 prints all that hold: only what differs from the broker's is the topic's own."""
    evidence = histories("clean_2_8")["short", 0]
    retention = evidence.setting(3, "retention.ms")
    assert retention is not None
    assert (retention.value, retention.topic, retention.origin) == ("4000", "short", "log")
    minimum = evidence.setting(3, NAME)
    assert minimum is not None
    assert (minimum.topic, minimum.broker) == (None, 3)
    old = histories("clean_1_1")["orders", 0].setting(1, NAME)
    assert old is not None
    assert (old.topic, old.broker) == (None, 1)


def test_what_one_broker_tells_reaches_every_partition_of_its_cluster_only() -> None:
    fact = Fact(
        cluster_id="a", topic=None, partition=None, topic_id=None, broker=1, log_dir="", path=None, state="current",
        order=0, settings=(of_broker("1", 0),),
    )  # fmt: skip
    around = {cluster: Surroundings(cluster_id=cluster) for cluster in ("a", "b")}
    told = informed(around, [fact])
    assert told["a"].settings.statements == fact.settings
    assert told["b"] == around["b"]
