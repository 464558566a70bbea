"""What Tidemark says is plain: short sentences, ranges with their last offset, no value that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from dumps_at_hand import ROOT, SAMPLES

from auditor.cli.commands import app
from auditor.report.availability import told_of
from auditor.report.bill import sentence
from auditor.report.model import AuditReport, gate_words, told_gates
from auditor.report.summary import summary
from rules.catalog import RULES
from rules.finding import question_told, sentences, with_last_offsets
from rules.judging.judge import judge
from rules.rule import Rule
from rules.sketch.notation import read_sketch
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_typical, report_on

README_WIDTH = 125
MOST_WORDS = 25
CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))
HOLE = re.compile(r"\{[^}]*\}")
HALF_OPEN = re.compile(r"\[\d+, \d+\)")
MISCOUNTED = re.compile(
    r"\b[Bb]roker \d+(?:, \d+)* and \d+|\b[Bb]rokers \d+\b(?!,| and| or)"
    r"|\b[Bb]rokers \d+(?:, \d+)* and \d+ (?:is|was|has|holds|stands|lacks|ends|keeps|says)\b"
)
STOPPING = re.compile(r"\b(?:anew|given up by|goes with the cut|stand there now)\b")
"""Words at which readers stopped, by the guide."""
UNSAID = re.compile(r"@None|\bNone\b|-1\.\.|\(\)|  +\S")


def split(text: str) -> list[str]:
    """The sentences of a text: a stop before a capital ends one."""
    flat = re.sub(r"\s+", " ", text).strip()
    return [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9`*(\"]|[a-z]+\.[a-z])", flat) if part]


def long_ones(text: str) -> list[str]:
    """Sentences of more words than a reader holds at once."""
    return [part for part in split(text) if len(part.split()) > MOST_WORDS]


def complaints(text: str) -> list[str]:
    """Whatever a message must not have."""
    told = [f"{len(part.split())} words: {part}" for part in long_ones(text)]
    found = (each.search(text) for each in (HALF_OPEN, UNSAID, MISCOUNTED, STOPPING))
    return told + [f"{each[0]!r} in: {text}" for each in found if each]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_and_its_page_speak_in_short_sentences(rule: Rule) -> None:
    page = rule.page
    parts = (HOLE.sub("it", rule.message), page.title, page.introduction, page.proves, page.undecided_when)
    assert [part for text in (*parts, rule.bearing.calls_for) for part in long_ones(text)] == []
    assert [text for text in parts if STOPPING.search(text)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_a_rule_says_of_its_sketches_is_plain(rule: Rule) -> None:
    said = [
        words
        for drawing in (rule.page.upheld, rule.page.violated)
        for verdict in (judge(read_sketch(drawing).evidence, RULES),)
        for words in (
            *(finding.message for finding in verdict.findings),
            *(with_last_offsets(question_told(point.reason, point.missing)) for point in verdict.undecided),
        )
    ]
    assert [complaint for words in said for complaint in complaints(words)] == []


def told(report: AuditReport) -> Iterator[str]:
    """Whatever a report says in sentences."""
    yield from (finding.message for finding in report.findings)
    yield from (incident.title for incident in report.incidents)
    yield from (sentence(loss) for history in report.histories for loss in history.losses)
    yield from (moment.text for history in report.histories for moment in history.milestones)
    accounts = [placed.availability for placed in report.availability]
    yield from (line for account in accounts for line in told_of(account))
    yield from (words for a in accounts for s in a.safeguards for words in (s.allowed, s.instead) if words)
    known = summary(report)
    # Which partitions and rules are meant stands before a colon, and may be a list.
    yield from (part for action in known.actions for part in action.line(3).split(": ", 1))
    yield from (part for each in known.unseen if each.kind == "question" for part in each.words.split(": ", 1))
    yield from (gate_words(gate) for placed in report.advice for gate in told_gates(placed.advice))
    if known.lost is not None:
        yield f"{known.lost.amount}, {known.lost.worth}. {known.lost.copies}"


@pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
def test_what_a_report_says_is_plain(case: Path) -> None:
    assert [complaint for words in told(report_on(case)) for complaint in complaints(words)] == []


def test_the_help_of_every_command_and_option_is_plain() -> None:
    group = typer.main.get_command(app)
    commands = [group, *group.commands.values()]  # type: ignore[attr-defined]
    helps = [command.help or "" for command in commands]
    helps += [getattr(parameter, "help", None) or "" for command in commands for parameter in command.params]
    assert len(helps) > len(commands)
    assert [part for words in helps for part in long_ones(words)] == []


LISTS = re.compile(r"\[\w+\]\(\w+\.md\)[,.]?\s*|^.*\bNeeds:.*$", re.MULTILINE)
DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
GUIDE = "docs/style.md"
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    \S.*$", re.MULTILINE)
BEGINS = re.compile(r"\s*(?:\||#|>|[-*] |\d+\. )")


def prose(markdown: str) -> Iterator[str]:
    """Paragraphs, entries of lists and cells of tables; what is code is no sentence."""
    told = ""
    for line in LISTS.sub("", INDENTED.sub("", FENCED.sub("", markdown))).replace("**", "").splitlines():
        if line.startswith("|"):
            yield from (cell.strip() for cell in line.strip("|").split(" | "))
        elif not line.strip() or BEGINS.match(line):
            yield told
            told = BEGINS.sub("", line, count=1)
        else:
            told += f" {line}"
    yield told


@pytest.mark.parametrize("page", DOCS)
def test_a_document_speaks_in_short_sentences(page: str) -> None:
    said = list(prose((ROOT / page).read_text(encoding="utf-8")))
    assert len(said) > 1
    assert [part for words in said for part in long_ones(words)] == []
    assert [part for part in said if STOPPING.search(part) and page != GUIDE] == []


def test_a_long_sentence_of_a_document_is_seen_wherever_it_stands() -> None:
    long = "Word " * 25 + "end."
    in_lines = long.replace(" ", "\n")
    for page in (long, f"- Yes.\n- {long}", f"| a | {long} |", in_lines, f"# {long}", f"No.\n\n1. {long}"):
        assert [part for words in prose(page) for part in long_ones(words)] == [long]
    for page in (f"```\n{long}\n```", f"    {long}", "Word " * 20 + "end. " + "Word " * 20):
        assert [part for words in prose(page) for part in long_ones(words)] == []


def test_a_long_sentence_and_a_half_open_range_are_seen() -> None:
    assert long_ones("word " * 26) != []
    assert long_ones("Word " * 13 + "end. " + "Word " * 13 + "end.") == []
    assert complaints("It holds records [1, 2).") != []
    assert complaints("It ended at @None.") != []
    assert complaints("Broker 2 and 3 holds it.") != []
    assert complaints("Brokers 2 and 3 holds it.") != []
    assert complaints("Brokers 2 hold it.") != []
    assert complaints("It holds offsets 1–2. Brokers 2 and 3 hold it, broker 4 does not.") == []


def test_clauses_become_sentences_and_names_keep_their_letters() -> None:
    assert sentences("it cut [3, 9); min.insync.replicas is 1") == "It cut 3–8. min.insync.replicas is 1."
    assert sentences("offsets [3, 4): gone") == "Offset 3: gone."


def test_the_readme_is_read_without_scrolling_sideways() -> None:
    """Rows of tables cannot be broken."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > README_WIDTH and not line.startswith("|")] == []
