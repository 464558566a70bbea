"""Every rule has twins: a partition on which it fires, and one like it on which it is asked and stays silent."""

from __future__ import annotations

import pytest

from rules.catalog import RULES
from rules.judging.judge import judge
from rules.rule import Rule
from rules.sketch.notation import read_sketch
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_short, report_on
from tests.mutants.registry import NOT_RECORDED
from tests.replaced import replace
from tests.twins import (
    HEALTHY,
    NOTED,
    SAMPLES,
    found_in_sample,
    found_in_script,
    recorded,
    scripts,
    stored,
    without_audits,
)

IDS = [rule.id for rule in RULES]


def replicas_of(drawing: str) -> int:
    return sum(line.strip().startswith("broker ") for line in drawing.splitlines())


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_the_lawful_twin_is_judged_and_upheld(rule: Rule) -> None:
    """A rule that does not ask would be silent too: at level deep it leaves nothing open."""
    evidence = replace(read_sketch(rule.page.upheld).evidence, level="deep")
    verdict = judge(evidence, RULES)
    assert [point.reason for point in verdict.undecided if point.rule == rule.id] == []
    assert [finding.message for finding in verdict.findings if finding.rule == rule.id] == []


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_twins_are_of_one_size_and_differ(rule: Rule) -> None:
    upheld, violated = rule.page.upheld, rule.page.violated
    assert upheld != violated
    assert replicas_of(upheld) == replicas_of(violated) > 0


def test_the_table_names_every_rule_in_order() -> None:
    assert list(stored()) == IDS, "run: python -m tests.twins"


@pytest.mark.parametrize("name", fast_if(lambda name: is_short(SAMPLES / name), recorded()))
def test_a_recorded_sample_shows_the_rules_that_the_table_says(name: str) -> None:
    told = {rule for rule, shown in stored().items() if name in shown["samples"]}
    assert told == found_in_sample(name), "run: python -m tests.twins"


@pytest.mark.parametrize("name", scripts())
def test_a_script_shows_the_rules_that_the_table_says(name: str) -> None:
    told = {rule for rule, shown in stored().items() if name in shown["scripts"]}
    assert told == found_in_script(name), "run: python -m tests.twins"


def test_the_table_names_no_sample_that_is_not_there() -> None:
    known = stored().values()
    assert {name for shown in known for name in shown["samples"]} <= set(recorded())
    assert {name for shown in known for name in shown["scripts"]} <= set(scripts())


def test_the_table_names_the_mutants_and_why_there_is_none() -> None:
    for rule, shown in stored().items():
        assert shown.items() >= without_audits(rule).items(), "run: python -m tests.twins"


def test_a_rule_has_a_sample_or_a_mutant_and_one_reason_why_no_sample() -> None:
    told = stored().items()
    assert [rule for rule, shown in told if not (shown["samples"] or shown["mutants"])] == []
    assert [rule for rule, shown in told if len(shown["notRecorded"]) != (not shown["samples"])] == []
    assert {rule for rules in NOT_RECORDED.values() for rule in rules} <= set(IDS)


@pytest.mark.parametrize("name", fast_if(lambda name: is_short(SAMPLES / name), HEALTHY))
def test_a_healthy_cluster_is_every_rules_clean_twin(name: str) -> None:
    assert found_in_sample(name) == NOTED.get(name, frozenset())
    named = {rule for rule, shown in stored().items() if name in shown["lawful"]}
    assert {point.rule for point in report_on(SAMPLES / name).coverage.undecided} & named == set()
