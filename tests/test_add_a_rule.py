"""The pages that say how a rule and a log line are added: their examples are read, their drawings are twins."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from auditor.config import ConfigError
from auditor.rule_reference import pages
from parsers.broker_log import EVENTS
from parsers.tables import TABLES, BrokerEvent
from rules.catalog import RULES
from rules.judging.judge import judge
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.rule import Rule
from rules.sketch.notation import read_sketch
from rules.verdict import PartitionVerdict

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "add-a-rule.md").read_text(encoding="utf-8")
POLICY_PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
REPLAY_PAGE = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
LINES_PAGE = (ROOT / "docs" / "add-a-log-line.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Rule:
    """The rule of the first block of code, in a file of the name that the page gives it."""
    (name,) = set(re.findall(r"`rules/catalog/([a-z]+\d+_\w+)\.py`", PAGE))
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    file = tmp_path_factory.mktemp("page") / f"{name}.py"
    file.write_text(code[1], encoding="utf-8")
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    (rule,) = (each for each in vars(module).values() if isinstance(each, Rule))
    assert name == f"{rule.id.lower()}_{rule.name}"
    return rule


@cache
def judged(rule: Rule, drawing: str) -> PartitionVerdict:
    return judge(read_sketch(drawing).evidence, (*(each for each in RULES if each.id != rule.id), rule))


def test_the_example_fires_on_its_violation_and_on_its_lawful_twin_it_is_asked_and_silent(example: Rule) -> None:
    said = [f.message for f in judged(example, example.page.violated).findings if f.rule == example.id]
    assert said == ["Broker 2 holds nothing. It knew that records were committed below offset 2."]
    lawful = judged(example, example.page.upheld)
    assert [point.reason for point in lawful.undecided if point.rule == example.id] == []
    assert [found.message for found in lawful.findings if found.rule == example.id] == []


def test_before_anything_shows_it_the_pages_are_refused_with_what_is_to_be_run(
    example: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.rule_reference.RULES", (*RULES, example))
    with pytest.raises(ConfigError, match=r"what shows SEG009: run `python -m tests\.twins` first"):
        pages()


def test_the_drawing_over_time_is_one() -> None:
    (drawing,) = re.findall(r"```\n(broker .*?)```", PAGE, re.DOTALL)
    assert max(m.time or 0 for m in read_sketch(drawing).evidence.moments) == 30_000


def test_the_wording_is_as_it_stands_there_and_its_holes_are_columns() -> None:
    (wording,) = re.findall(r"```\n(Wording.*?)```", LINES_PAGE, re.DOTALL)
    own = re.search(r'text="(.*?)"', wording)
    assert own is not None
    assert [own[1]] == [w.text for event in EVENTS for w in event.wordings if w.text == own[1]]
    table = "".join(line.split("|")[2] for line in LINES_PAGE.splitlines() if line.startswith("| "))
    holes = set(re.findall(r"`(\w+)`", table))
    assert holes - set(BrokerEvent.__struct_fields__) == {"last_offset"}


def test_the_lead_of_the_replays_page_is_as_it_is_replayed() -> None:
    """Its drawing is the violated one of a rule, and its rows hold what the replay makes of it."""
    drawing, rows = re.findall(r"```\n(.*?)```", REPLAY_PAGE, re.DOTALL)
    (rule,) = (rule for rule in RULES if rule.page.violated.split() == drawing.split())
    assert f"This is the violated drawing of {rule.id}." in REPLAY_PAGE
    (course,) = read_sketch(drawing).evidence.replayed.courses
    told = [re.split(r"\s{2,}", line)[:7] for line in rows.splitlines()[1:]]
    assert told == [
        [
            f"t{row.moment.time}",
            f"{row.moment.broker} for {row.moment.offset}",
            *(within(remote.low, remote.high) for remote in row.remotes),
            *(within(*bounds(held)) for held in (row.log_end, row.high_watermark, row.answer)),
        ]
        for row in course.rows
    ]


def bounds(held: ExpectedHighWatermark) -> tuple[int | None, int | None]:
    return held.interval.low, held.interval.high


def within(low: int | None, high: int | None) -> str:
    return f"{low} to {'open' if high is None else high}"


def test_the_table_of_wrong_accusations_names_rules_and_rooms_that_are_there() -> None:
    section = PAGE.partition("## A rule accuses wrongly")[2]
    table = [line.split("|")[1:4] for line in section.splitlines() if "|" in line]
    named = {rule for rules, _, _ in table for rule in re.findall(r"[A-Z]+\d{3}", rules)}
    assert named <= {rule.id for rule in RULES}
    places = {place for _, rooms, tests in table for place in re.findall(r"`([\w/.]+)`", rooms + tests)}
    assert [place for place in sorted(places) if not (ROOT / place).exists()] == []
    assert len(table) > len(("head", "line"))


def test_every_threshold_stands_in_the_policy() -> None:
    listed = re.findall(r"^\| (\w+) \| `(\w+)` \| (\w+) \| (\d+) ", POLICY_PAGE, re.MULTILINE)
    declared = [(r.id, t.name, t.unit, str(t.default)) for r in RULES for t in r.thresholds]
    assert sorted(listed) == sorted(declared)


@pytest.mark.parametrize("page", [PAGE, LINES_PAGE, REPLAY_PAGE], ids=["rule", "line", "replay"])
def test_what_the_page_names_is_there(page: str) -> None:
    """All but the file that is to be written, and pages beside it that it links."""
    named = set(re.findall(r"(?<!\]\()\b(?:rules|tests|docs|auditor|parsers)/[\w/]+\.\w+", page))
    missing = [path for path in named if not (ROOT / path).exists()]
    assert [path for path in missing if not path.startswith("rules/catalog/seg009_")] == []
    assert len(named) > len(missing)


def test_every_row_that_a_rule_may_need_is_listed() -> None:
    listed = re.findall(r"`(\w+)`", "".join(line for line in PAGE.splitlines() if line.startswith("| ")))
    assert sorted(listed) == sorted(row.__name__ for row in TABLES.values())
