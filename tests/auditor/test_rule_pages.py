"""The rules' pages as a reader gets them: on the terminal, and as the generated reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command import run
from dumps_at_hand import ROOT

from auditor.rule_pages import shown
from auditor.rule_reference import INDEX, document, in_document, in_file, pages
from rules.catalog import RULES
from rules.rule import Rule


def test_the_reference_in_docs_is_the_generated_one() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "rules").iterdir()}
    assert stored == pages(), "run: tidemark rules --pages docs/rules"
    assert not (ROOT / "docs" / "rules.md").exists()


def test_the_reference_is_written_over_an_older_one(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "rules"
    assert (run("rules", "--pages", str(folder)).code, run("rules", "--pages", str(folder)).code) == (0, 0)
    (folder / "LOG001.md").write_text("of old", encoding="utf-8")
    (folder / "own.md").write_text("of mine", encoding="utf-8")
    run("rules", "--pages", str(folder))
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == {
        **pages(),
        "own.md": "of mine",
    }
    refused = run("rules", "--pages", str(folder / "own.md"))
    assert refused.code == 2
    assert "--pages: cannot write" in refused.err


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
    assert run("rules", "--markdown").out == document()


def test_a_rule_that_is_named_is_shown_as_by_explain() -> None:
    assert run("rules", "LOG005").out == run("explain", "LOG005").out
    assert "did you mean LOG001?" in run("rules", "LOG01").err
    both = run("rules", "LOG005", "--markdown")
    assert both.code == 2
    assert "expected one of RULE, --markdown and --pages" in both.err


def test_an_unknown_rule_is_a_mistake_with_a_hint() -> None:
    ended = run("explain", "LOG01")
    assert ended.code == 2
    assert "did you mean LOG001?" in ended.err
    assert "`tidemark rules` lists them all" in run("explain", "zzz").err


def parts(index: str) -> Mapping[str, str]:
    """By heading, what stands below it."""
    return {part.split("\n", 1)[0]: part for part in index.split("\n## ")}


@pytest.mark.parametrize(
    ("index", "link"), [(pages()[INDEX], in_file), (document(), in_document)], ids=["folder", "text"]
)
def test_the_index_names_every_rule_by_severity_by_all_its_evidence_and_by_its_twins(
    index: str, link: Callable[[Rule], str]
) -> None:
    told = parts(index)
    for rule in RULES:
        assert told["By severity"].count(link(rule)) == 1
        assert told["By evidence"].count(link(rule)) == len(rule.needs)
        assert told["Twins"].count(f"\n| {link(rule)} | {rule.severity.label} | ") == 1
        assert told["Not recorded"].count(link(rule)) == len(shown()[rule.id]["notRecorded"])


def test_every_link_of_a_page_leads_to_a_page_and_every_anchor_to_a_heading() -> None:
    for text in pages().values():
        assert set(re.findall(r"\]\(([^)#]+)\)", text)) <= set(pages())
    headings = {line.removeprefix("## ").lower().replace(" ", "-") for line in document().splitlines()}
    assert set(re.findall(r"\]\(#([^)]+)\)", document())) <= headings
