"""Every rule proves itself: silent on its own drawing of a lawful partition, firing on its drawing of the defect."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from rules import catalog
from rules.catalog import RULES
from rules.judging.judge import judge
from rules.judging.judge_topics import judge_topics
from rules.rule import Rule
from rules.sketch.notation import read_sketch

FOLDER = Path(catalog.__file__).parent


def fired(rule: Rule, drawing: str) -> list[str]:
    verdict = judge(read_sketch(drawing).evidence, RULES)
    judged = (verdict, *judge_topics([verdict], RULES))
    return [f.message for each in judged for f in each.findings if f.rule == rule.id and f.verdict == "violated"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_fires_on_its_own_violation(rule: Rule) -> None:
    assert fired(rule, rule.page.violated), f"{rule.id} stays silent on its own example of a violation"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_silent_on_its_own_lawful_example(rule: Rule) -> None:
    assert fired(rule, rule.page.upheld) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_message_leaves_no_hole(rule: Rule) -> None:
    holes = {name for _, name, _, _ in Formatter().parse(rule.message) if name}
    for message in fired(rule, rule.page.violated):
        assert "{" not in message
        assert message.endswith(".")
    assert holes


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_page_is_complete(rule: Rule) -> None:
    assert len(rule.page.title) <= 72
    assert all((rule.page.proves, rule.page.undecided_when, rule.page.upheld, rule.page.violated, rule.law))
    assert rule.needs


def test_every_file_of_the_catalog_is_listed_and_named_after_its_rule() -> None:
    files = {path.stem for path in FOLDER.glob("*_*.py") if path.stem != "__init__"}
    assert files == {f"{rule.id.lower()}_{rule.name}" for rule in RULES}


def test_ids_are_unique_and_well_formed() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Z]+\d{3}", rule_id) for rule_id in ids)


def test_causes_are_known_and_form_no_circle() -> None:
    causes = {rule.id: rule.implied_by for rule in RULES}

    def ancestors(rule_id: str, seen: tuple[str, ...]) -> None:
        assert rule_id not in seen, f"{rule_id} implies itself"
        for cause in causes[rule_id]:
            assert cause in causes, f"{rule_id} names the unknown cause {cause}"
            ancestors(cause, (*seen, rule_id))

    for rule_id in causes:
        ancestors(rule_id, ())
