"""The rules' pages as a reader gets them: on the terminal, and as the generated reference."""

from __future__ import annotations

import pytest
from command import run
from dumps_at_hand import ROOT

from auditor.rule_pages import reference
from rules.catalog import RULES
from rules.rule import Rule


def test_the_reference_in_docs_is_the_generated_one() -> None:
    stored = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
    assert stored == reference(), "run: tidemark rules --markdown > docs/rules.md"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_page_says_what_is_proved_and_shows_the_defect(rule: Rule) -> None:
    by_id, by_name = run("explain", rule.id), run("explain", rule.name)
    assert by_id.code == 0
    assert by_id.out == by_name.out == run("explain", rule.id.lower()).out
    for heading in ("Proves", "Undecided when", "Upheld", "Violated", "Law:"):
        assert heading in by_id.out
    assert rule.page.violated.splitlines()[0].strip() in by_id.out


def test_the_list_has_one_line_a_rule() -> None:
    lines = run("rules").out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]
    assert run("rules", "--markdown").out == reference()


def test_an_unknown_rule_is_a_mistake_with_a_hint() -> None:
    ended = run("explain", "LOG01")
    assert ended.code == 2
    assert "did you mean LOG001?" in ended.err
    assert "`tidemark rules` lists them all" in run("explain", "zzz").err


def test_the_index_names_every_rule_by_its_severity_and_by_all_its_evidence() -> None:
    by_severity, by_evidence = (section.split("\n## ")[0] for section in reference().split("\n## By ")[1:])
    for rule in RULES:
        link = f"[{rule.id}](#{rule.id.lower()}-{rule.name})"
        assert by_severity.count(link) == 1
        assert by_evidence.count(link) == len(rule.needs)
        assert f"\n## {rule.id} {rule.name}\n" in reference()
