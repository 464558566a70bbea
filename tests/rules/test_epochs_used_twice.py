"""Where ZooKeeper was put back to an older state, a number stands for two epochs, and nothing is dated by it."""

from __future__ import annotations

import pytest

from rules.catalog import RULES
from rules.judge import judge
from rules.sketch.notation import read_sketch
from rules.verdict import PartitionVerdict

ANEW = """
broker 1 0000 1 22 22|
broker 2 0000 1 22 22|
broker 3 0000 1 2 4 22|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 2 epoch 1 at 4 hw 4
t3 leads 1 epoch 2 at 5 hw 5
t4 acks 1 at 5 acks=all
t5 leads 3 epoch 4 at 6 hw 6
t6 acks 3 at 6 acks=1
t7 leads 2 epoch 1 at 6 hw 6
t8 leads 1 epoch 2 at 6 hw 6
t9 acks 1 at 6 acks=all
t10 fetch 2@8 from 1 hw=8
"""
LATER_HALF = """
broker 1 0000 1 2 22 22|
broker 2 0000 1 2 22 22|
broker 3 0000 1 2 44 22|
t1 leads 1 epoch 0 at 6 hw 6
t2 leads 1 epoch 2 at 6 hw 6
t3 acks 1 at 6 acks=all
t4 fetch 2@10 from 1 hw=10
t5 leads 2 epoch 3 at 10 hw 10
t6 leads 3 epoch 4 at 10 hw 10
"""
"""Logs of brokers that begin where ZooKeeper was put back: each number is told once, the disks know it from before."""
RISING = """
broker 1 0000 1 2 5|
broker 2 0000 1 2 5|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 2 epoch 1 at 4 hw 4
t3 leads 1 epoch 2 at 5 hw 5
t4 acks 1 at 6 acks=all
t5 leads 2 epoch 5 at 6 hw 6
"""


def judged(drawing: str) -> PartitionVerdict:
    return judge(read_sketch(drawing).evidence, RULES)


def accused(verdict: PartitionVerdict) -> set[str]:
    return {finding.rule for finding in verdict.findings if finding.verdict == "violated"}


def test_nothing_is_dated_by_an_epoch_that_began_anew() -> None:
    verdict = judged(ANEW)
    assert accused(verdict) & {"LEAD001", "ACK001", "TRUNC001", "TRUNC004", "LEAD004", "EPOCH008", "HW003"} == set()
    assert {"EPOCH001", "LOG001"} <= accused(verdict)
    open_ones = {finding.rule for finding in verdict.findings if finding.verdict == "undecided" and finding.blocking}
    assert {"LEAD001", "TRUNC001"} <= open_ones
    assert (verdict.losses, verdict.advice, verdict.counterfactuals) == ((), (), ())
    assert any("no bill" in one.reason for one in verdict.undecided)


def test_records_below_the_only_opening_that_is_told_are_of_another_epoch_of_that_number() -> None:
    verdict = judged(LATER_HALF)
    assert accused(verdict) & {"LEAD001", "ACK001", "TRUNC001", "TRUNC004", "LEAD004", "EPOCH008", "HW003"} == set()
    assert verdict.losses == ()


def test_who_is_wrong_is_told_by_number_alone_where_epochs_began_anew() -> None:
    (diverging,) = (finding for finding in judged(ANEW).findings if finding.rule == "LOG001")
    assert "later epoch" not in diverging.message
    assert "broker 3 stands alone, brokers 1 and 2 agree" in diverging.message


@pytest.mark.parametrize("rule", ["LEAD001", "ACK001"])
def test_epochs_that_rise_tell_the_same_loss(rule: str) -> None:
    verdict = judged(RISING)
    assert rule in accused(verdict)
    assert verdict.losses


def test_a_clock_that_falls_back_is_enough() -> None:
    verdict = judged(RISING + "t6 leads 1 epoch 3 at 6 hw 6\nt7 leads 2 epoch 2 at 6 hw 6\n")
    assert "LEAD001" not in accused(verdict)
    assert "LEAD001" in {finding.rule for finding in verdict.findings if finding.verdict == "undecided"}
