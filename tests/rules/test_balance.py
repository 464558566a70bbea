"""Preferred leaders and racks: for information, and only where an in-sync preferred replica does not lead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from parsers.writers.metadata_log import partition_change_value
from rules.finding import Finding, Severity
from tests.auditor.dumps_at_hand import audited
from tests.rules.broken_dumps import Yard, wrote
from tests.rules.cluster_dumps import MetadataLog, topic_id, with_metadata

LOG = wrote(0, 0, 20)


def found(root: Path, log: MetadataLog, racks: Sequence[str] = ()) -> list[Finding]:
    """What is found of topic t, whose two partitions brokers 1, 2 and 3 hold; racks stand in their properties."""
    with_metadata(root, log)
    yard = Yard(root)
    for broker in (1, 2, 3):
        for partition in (0, 1):
            folder = yard.broker(broker, LOG, partition=partition, topic_id=topic_id(1))
        if racks:
            rack = f"broker.id={broker}\nbroker.rack={racks[broker - 1]}\n"
            (folder.parent.parent / "server.properties").write_text(rack, encoding="utf-8")
    return [finding for finding in audited(root).findings if finding.rule == "PLACE002"]


def assigned(*partitions: Sequence[int]) -> MetadataLog:
    log = MetadataLog()
    log.topic("t", 1, partitions, at=1000)
    return log


def test_preferred_leaders_that_lead_are_no_finding(tmp_path: Path) -> None:
    assert found(tmp_path, assigned([1, 2, 3], [2, 3, 1])) == []


def test_a_preferred_leader_in_sync_that_does_not_lead(tmp_path: Path) -> None:
    log = assigned([1, 2, 3], [2, 3, 1])
    log.tell([partition_change_value(topic_id(1), 1, leader=3, isr=[2, 3, 1])], at=2000)
    (finding,) = found(tmp_path, log)
    told = finding.values()
    assert (finding.severity, finding.topic, finding.partition, finding.brokers) == (Severity.INFO, "t", None, (3,))
    assert (told["told"], told["moved"], told["led_elsewhere"], told["on_few_racks"]) == (2, 1, [1], [])
    assert finding.place == "topic 't'"


def test_a_preferred_leader_out_of_sync_may_not_lead(tmp_path: Path) -> None:
    log = assigned([1, 2, 3], [2, 3, 1])
    log.tell([partition_change_value(topic_id(1), 1, leader=3, isr=[3, 1])], at=2000)
    assert found(tmp_path, log) == []


@pytest.mark.parametrize(("before", "after", "moved"), [([3, 1], [3, 1, 2], True), ([2, 3, 1], [3, 1], False)])
def test_the_isr_that_stands_counts_though_its_change_names_no_leader(
    tmp_path: Path, before: Sequence[int], after: Sequence[int], moved: bool
) -> None:
    log = assigned([1, 2, 3], [2, 3, 1])
    log.tell([partition_change_value(topic_id(1), 1, leader=3, isr=before)], at=2000)
    log.tell([partition_change_value(topic_id(1), 1, isr=after)], at=3000)
    assert bool(found(tmp_path, log)) == moved


def test_replicas_on_one_rack_while_another_has_none(tmp_path: Path) -> None:
    log = assigned([1, 2], [1, 3])
    (finding,) = found(tmp_path, log, racks=("a", "a", "b"))
    assert finding.values()["on_few_racks"] == [0]


def test_more_replicas_than_racks_share_them(tmp_path: Path) -> None:
    assert found(tmp_path, assigned([1, 2, 3], [2, 3, 1]), racks=("a", "a", "b")) == []
