"""What rules ask for where a high watermark has no bound: whose evidence, of which epochs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.evidence import PartitionEvidence
from rules.finding import Undecided
from rules.replay.missing import Missing, unbounded
from rules.sketch.notation import read_sketch
from tests.replaced import replace

PASSED_OVER = """
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@4 from 1 hw=0
    t3 fetch 2@4 from 1 hw=4
    t4 leader 2 epoch 1 isr 2
    t5 leads 2 epoch 2 at 4 hw 4 isr 2
"""


def asked(rule: str, evidence: PartitionEvidence) -> list[Undecided]:
    return [said for said in BY_ID[rule].check(evidence) if isinstance(said, Undecided)]


def of_another_clock(evidence: PartitionEvidence) -> PartitionEvidence:
    """The same without broker 2's own log."""
    return replace(evidence, chronicle=Chronicle(tuple(m for m in evidence.moments if m.clock != "broker 2")))


def whole(evidence: PartitionEvidence) -> PartitionEvidence:
    return evidence


@pytest.mark.parametrize("rule", ["HW003", "HW006"])
@pytest.mark.parametrize(
    ("kept", "lacking"),
    [
        (whole, "state-change.log (Kafka 2.5 and older: server.log) with the line 'starts at leader epoch'"),
        (of_another_clock, "state-change.log (Kafka 2.5 and older: server.log)"),
    ],
)
def test_the_broker_the_epoch_and_what_is_lacking_are_named(
    rule: str, kept: Callable[[PartitionEvidence], PartitionEvidence], lacking: str
) -> None:
    said = asked(rule, kept(read_sketch(PASSED_OVER).evidence))
    of_it = [each.missing for each in said if "broker 2's high watermarks in epoch 1 " in each.reason]
    assert any(missing.startswith(f"broker 2's {lacking}") for missing in of_it)
    assert all("broker 2's high watermarks in epoch" in each.reason for each in said)


def test_a_broker_is_asked_once_for_all_its_epochs() -> None:
    lacking = [Missing(leader=1, kind="its log", evidence="", leaves_open="", epochs=(e,)) for e in range(9)]
    said = list(unbounded(lacking, "above", created_again=False))
    marks = "broker 1's high watermarks in epochs 0, 1, 2, 3, 4 and 4 more"
    law = "A high watermark is too high if an in-sync replica had not fetched up to it"
    bound = f"{law}. How far in-sync replicas had fetched is not fully known"
    assert said == [(f"it is not known whether {marks} were too high. {bound}", "its log")]


def test_of_a_topic_that_was_created_again_lines_are_asked_for_that_name_its_id() -> None:
    evidence = replace(read_sketch(PASSED_OVER).evidence, told_ids=frozenset({"a", "b"}))
    assert all(
        "show the topic id, since the topic was created again" in each.missing for each in asked("HW003", evidence)
    )
