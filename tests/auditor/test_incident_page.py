"""The incident report as a page: the text's own story, pictures, and the proof apart; nothing of a dump marks it up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES
from html_pages import page_read
from test_html_report import CASES, FINDING, HOSTILE, INCIDENT, assert_self_contained, with_words

from auditor.report.formats import rendered
from auditor.report.html.incident_page import ProseBlock, StyledWords, blocks
from auditor.report.markdown import code, text
from auditor.report.postmortem.document import parts
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_typical, report_on

NAME = "postmortem-html"


def words_of(block: ProseBlock) -> str:
    lines = [cell for row in block.rows for cell in row] if block.rows else [block.words]
    return "".join("".join(piece.words for piece in line) for line in lines)


def squeezed(words: str) -> str:
    """Without the room between words, which elements have of their own."""
    return "".join(words.split())


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_it_tells_the_story_of_the_text_part_by_part(case: Path) -> None:
    report = report_on(case)
    page = page_read(rendered(NAME, report))
    shown = squeezed(page.words)
    for lines in parts(report):
        assert lines[0].strip().removeprefix("## ") in page.words
        for block in blocks(lines[1:], ()):
            assert squeezed(words_of(block)) in shown


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_the_story_comes_first_and_every_finding_is_in_the_appendix(case: Path) -> None:
    report = report_on(case)
    text = rendered(NAME, report)
    story, appendix = text.split('<details class="appendix"')
    assert "data-finding" not in story
    assert len(re.findall(r"<article[^>]* data-finding", appendix)) == len(report.findings)
    assert story.index('id="part0"') < story.index('id="part1"')
    page = page_read(text)
    ids = page.all_of("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.all_of("href")} <= set(ids)
    assert_self_contained(page)


def test_its_pictures_stand_behind_the_summary() -> None:
    text = rendered(NAME, report_on(INCIDENT))
    summary, pictures, impact = (text.index(f'id="{name}"') for name in ("part0", "pictures", "part1"))
    assert summary < pictures < impact
    assert text[pictures:impact].count("<svg ") >= 2


@pytest.mark.parametrize("case", [INCIDENT, SAMPLES / "unclean_4x"], ids=lambda case: case.name)
def test_words_of_a_dump_make_no_element_and_no_attribute(case: Path) -> None:
    report = report_on(case)
    tame = page_read(rendered(NAME, with_words(report, lambda _: "x")))
    told = rendered(NAME, with_words(report, lambda _: HOSTILE))
    page = page_read(told)
    assert set(page.all_of("class")) == set(tame.all_of("class"))
    assert {name for name, _ in page.elements} == {name for name, _ in tame.elements}
    assert {FINDING.sub("F", link) for link in page.all_of("href")} == {
        FINDING.sub("F", link) for link in tame.all_of("href")
    }
    assert_self_contained(page)
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "alert(1)" in page.words


@pytest.mark.parametrize(
    "words", ["a|b", "**bold**", "`code`", r"back\slash", "- item", "| x |", "[a](b)", "F-00000000"]
)
def test_what_was_escaped_for_text_stands_as_itself(words: str) -> None:
    (told,) = blocks([f"- {text(words)}"], ())
    assert told.words == (StyledWords(words=words),)
    (table,) = blocks([f"| {text(words)} | {code('path')} |"], ())
    assert table.rows == (((StyledWords(words=words),), (StyledWords(words="path", look="code"),)),)


def test_looks_lists_and_links_are_told_apart() -> None:
    told = blocks(["## Head\n", "- **no** of F-12345678", "  - deeper", "plain `a|b`"], {"F-12345678"})
    assert [(block.kind, block.depth) for block in told] == [
        ("heading", 0), ("item", 0), ("item", 1), ("paragraph", 0),
    ]  # fmt: skip
    assert [piece.look for piece in told[1].words] == ["strong", "", "finding"]
    assert told[3].words[1] == StyledWords(words="a|b", look="code")
