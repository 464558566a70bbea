"""Requests that name a topic by its id alone: whoever tells the id and a name says what they are about."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES, audited, copied, told

from auditor.audit import prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.named_statements import heard
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import topic_names
from auditor.engines.reading import read_unit
from parsers.inventory import take_inventory
from rules.evidence import Moment
from rules.history.moments import high_watermark
from tests.lab.sample_histories import evidence_of, histories

ASKED = ("fetched", "consumed", "produced")


def logs_alone(sample: str, home: Path, *names: str) -> Path:
    """The logs of a recorded incident without a byte of its disks; all of them, or those of these names."""
    left_out = shutil.ignore_patterns("data", *names)
    return Path(shutil.copytree(SAMPLES / sample / "dump", home, ignore=left_out))


def asked(moments: tuple[Moment, ...]) -> Counter[tuple[object, ...]]:
    """What was asked and answered, each with its place."""
    return Counter(
        (m.kind, m.clock, m.time, m.count, m.broker, m.offset, high_watermark(m), m.topic_id, m.span)
        for m in moments
        if m.kind in ASKED
    )


@pytest.mark.parametrize(("sample", "topic"), [("unclean_4x", "pay"), ("recreated_topic", "again")])
def test_logs_alone_tell_the_requests_that_they_tell_beside_the_disks(
    sample: str, topic: str, tmp_path: Path
) -> None:
    whole, alone = histories(sample), evidence_of(logs_alone(sample, tmp_path / "dump"))
    for place in ((topic, 0), ("__cluster_metadata", 0)):
        requests = asked(whole[place].moments)
        assert requests == asked(alone[place].moments)
        assert any(named_by_id is not None for *_, named_by_id, _ in requests)


@pytest.mark.parametrize("kept", ["state-change.log", "server.log", "metadata"])
def test_any_one_witness_is_enough(kept: str, tmp_path: Path) -> None:
    dump = logs_alone("unclean_4x", tmp_path / "dump")
    for log in dump.rglob("*.log"):
        if log.name == "kafka-request.log":
            without_names(log)
        elif log.name != kept:
            log.unlink()
    if kept == "metadata":
        copy = "controller-100/data/__cluster_metadata-0"
        shutil.copytree(SAMPLES / "unclean_4x" / "dump" / copy, dump / copy)
    assert evidence_of(dump).keys() >= {("pay", 0)}
    assert sum(asked(evidence_of(dump)["pay", 0].moments).values()) > 30


def without_names(log: Path) -> None:
    """A request log without the answers that give a topic's id and name."""
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if '"requestApiKeyName":"METADATA"' not in line))


def nothing_but_requests(dump: Path) -> Path:
    """The request logs alone, and nothing in them that gives an id and a name."""
    for log in dump.rglob("*.log"):
        if log.name == "kafka-request.log":
            without_names(log)
        else:
            log.unlink()
    return dump


def test_requests_of_an_id_that_nobody_names_are_counted(tmp_path: Path) -> None:
    whole = histories("unclean_4x")["pay", 0].moments
    by_id = [m for m in whole if m.kind in ("fetched", "consumed") and m.topic_id is not None]
    report = audited(nothing_but_requests(logs_alone("unclean_4x", tmp_path / "dump")))
    (unnamed,) = report.coverage.unnamed
    assert unnamed.topic_id == by_id[0].topic_id
    assert (unnamed.partitions, unnamed.names) == ((0,), ())
    assert unnamed.statements >= sum(m.count for m in by_id)
    assert "by id alone" in report.coverage.nameless


def test_an_id_with_two_names_is_of_neither(tmp_path: Path) -> None:
    dump = logs_alone("unclean_4x", tmp_path / "dump")
    whole = told(dump)["coverage"]
    assert whole["unnamedTopics"] == []
    log = dump / "broker-2" / "logs" / "state-change.log"
    text = log.read_text()
    assert "pay-0 with topic id" in text
    log.write_text(re.sub(r"\bpay-0 with topic id", "bay-0 with topic id", text))
    (contested,) = told(dump)["coverage"]["unnamedTopics"]
    assert contested["names"] == ["bay", "pay"]
    assert contested["statements"] > 30


def test_a_topic_that_was_created_again_stays_two_topics_of_one_name(tmp_path: Path) -> None:
    units = prepare(gather(logs_alone("recreated_topic", tmp_path / "dump")), AuditConfig()).units
    facts = [fact for unit in units for fact in read_unit(unit, "quick")]
    topics = heard(units, [fact for fact in facts if fact.of_the_cluster], Selection()).topics
    assert list(topics.values()) == ["again", "again"]
    (last,) = {moment.topic_id for moment in evidence_of(tmp_path / "dump")["again", 0].moments} - {None}
    assert last in {topic_id for _, topic_id, _ in topics}


def test_directories_of_two_topics_with_one_id_do_not_name_it(tmp_path: Path) -> None:
    dump = copied("unclean_4x", tmp_path / "dump")
    named = {name.topic for name in topic_names(take_inventory(dump))}
    assert "pay" in named
    for home in list(dump.glob("broker-*/data/pay-0")):
        shutil.copytree(home, home.with_name("bay-0"))
    assert {name.topic for name in topic_names(take_inventory(dump))} == named - {"pay"}
