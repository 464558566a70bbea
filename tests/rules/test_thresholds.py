"""Thresholds: what each lets pass where it is raised, and what it goes on to tell."""

from __future__ import annotations

import pytest

from parsers.tables import from_arrow, to_arrow
from rules.catalog import BY_ID, RULES
from rules.catalog.txn003_last_stable_offset_stuck import LASTING, last_stable_offset_stuck
from rules.evidence.open_transactions import SLACK
from rules.finding import Violation
from rules.judging.judge import judge
from rules.judging.judge_topics import judge_topics
from rules.rule import Rule
from rules.sketch.notation import read_sketch
from rules.thresholds import DEFAULTS, Chosen, Threshold, Thresholds
from rules.verdict import PartitionVerdict
from tests.replaced import replace

BEHIND = """
broker 1* 0{7:0t}0{7c}0000| ; hw 6
broker 2 0{7:0t}0{7c}0000| ; hw 6
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@6 from 1 hw=0
t3 fetch 2@6 from 1 hw=6
t1000 serve 0 from 1 hw=6 lso=0
t121000 serve 0 from 1 hw=6 lso=0
"""
SHOWN = {("TXN003", LASTING.name): BEHIND}
"""What shows a threshold that decides nothing in its rule's own drawing."""
OWN = [(rule, threshold) for rule in RULES for threshold in rule.thresholds]


def raised(rule: Rule, threshold: Threshold, value: int) -> Thresholds:
    return Thresholds(chosen=(Chosen(rule=rule.id, name=threshold.name, value=value),))


def finds(rule: Rule, thresholds: Thresholds, drawing: str = "") -> bool:
    """Whether it finds what its own page draws, or another drawing."""
    evidence = replace(read_sketch(drawing or rule.page.violated).evidence, thresholds=thresholds)
    verdict = judge(evidence, [rule])
    told = judge_topics([verdict], [rule]) if rule.check_topic else [verdict]
    return any(finding.verdict == "violated" for each in told for finding in each.findings)


@pytest.mark.parametrize(("rule", "threshold"), OWN, ids=[f"{rule.id}-{threshold.name}" for rule, threshold in OWN])
def test_a_page_fires_by_the_default_and_not_by_the_most(rule: Rule, threshold: Threshold) -> None:
    drawing = SHOWN.get((rule.id, threshold.name), rule.page.violated)
    assert finds(rule, DEFAULTS, drawing)
    assert finds(rule, raised(rule, threshold, threshold.default), drawing)
    assert not finds(rule, raised(rule, threshold, threshold.most), drawing)


def test_a_rule_goes_by_its_own_and_not_by_another_rules_of_that_name() -> None:
    assert finds(BY_ID["TXN003"], raised(BY_ID["TXN001"], SLACK, SLACK.most))


@pytest.mark.parametrize(("value", "told"), [(60_000, 1), (120_000, 1), (120_001, 0)])
def test_answers_must_lag_for_as_long_as_was_chosen(value: int, told: int) -> None:
    evidence = replace(read_sketch(BEHIND).evidence, thresholds=raised(BY_ID["TXN003"], LASTING, value))
    assert sum(isinstance(each, Violation) for each in last_stable_offset_stuck.check(evidence)) == told


def test_chosen_ones_travel_with_the_verdict_of_a_partition() -> None:
    """Spark sends verdicts as Arrow."""
    chosen = raised(BY_ID["PLACE001"], BY_ID["PLACE001"].thresholds[0], 95)
    evidence = replace(read_sketch(BY_ID["PLACE001"].page.violated).evidence, thresholds=chosen)
    verdict = judge(evidence, RULES)
    assert verdict.share is not None
    assert verdict.share.thresholds == chosen
    assert from_arrow(to_arrow([verdict], PartitionVerdict), PartitionVerdict) == [verdict]


def test_a_default_is_below_what_may_be_chosen_at_most() -> None:
    assert all(0 < each.default < each.most for rule in RULES for each in rule.thresholds)
    assert all(len({each.name for each in rule.thresholds}) == len(rule.thresholds) for rule in RULES)
