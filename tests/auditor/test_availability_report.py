"""Availability and its settings as people and programs read them: the same rows in each report, and nothing more."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from dumps_at_hand import SAMPLES

from auditor.report.availability import HEADS, STATES_SHOWN, lasted, setting_cells, state_cells, told_of
from auditor.report.html.page import render as page
from auditor.report.json import render as document
from auditor.report.machines.jsonl import render as lines
from auditor.report.markdown import text
from auditor.report.model import AuditReport, Availability
from auditor.report.postmortem.document import render as postmortem
from auditor.report.terminal import render as terminal
from tests.lab.sample_reports import report_on
from tests.replaced import replace

HOSTILE = "x<script>alert(1)</script> |d| `c` [a](http://e)"


def report(case: str) -> AuditReport:
    return report_on(SAMPLES / case)


def account(case: str) -> Availability:
    (placed,) = (each for each in report(case).availability if not each.topic.startswith("__"))
    return placed.availability


def section(told: str, head: str) -> list[str]:
    return told.partition(f"## {head}\n")[2].partition("\n## ")[0].splitlines()


def test_the_incident_report_has_a_row_a_state_and_a_row_a_setting() -> None:
    told, known = postmortem(report("unclean_4x"), appendix=True), account("unclean_4x")
    rows = [line for line in section(told, "Appendix: availability") if line.startswith("| 2026")]
    assert rows == [f"| {' | '.join(map(text, state_cells(row)))} |" for row in known.rows]
    settings = [line for line in section(told, "What would have prevented this") if line.startswith("| ")][1:]
    assert settings == [f"| {' | '.join(map(text, setting_cells(each)))} |" for each in known.safeguards]
    assert "- With one in-sync copy only in 3 states, 9.1 s in all. Surely written meanwhile: offsets 100–149." in told


def test_its_story_has_the_states_in_which_the_partition_was_exposed() -> None:
    known = account("unclean_4x")
    told = section(postmortem(report("unclean_4x")), "Availability")
    exposed = [state_cells(row) for row in known.rows if row.conditions]
    assert [line for line in told if line.startswith("| 2026")] == [f"| {' | '.join(map(text, c))} |" for c in exposed]
    assert f"{len(known.rows) - len(exposed)} other states told. The appendix (--appendix) has the newest." in told
    assert "- With one in-sync copy only in 3 states, 9.1 s in all. Surely written meanwhile: offsets 100–149." in told


@pytest.mark.parametrize("columns", [100, 400])
def test_a_verbose_terminal_tells_the_same_a_row_a_state(columns: int) -> None:
    told = terminal(report("unclean_4x"), columns=columns, verbose=True)
    part = told.partition("\navailability over time\n")[2].partition("\n\n")[0]
    words = " ".join(part.replace(";", "").split())
    for row in account("unclean_4x").rows:
        named = (f"{head} {cell}" for head, cell in zip(HEADS, state_cells(row), strict=True))
        assert " ".join(state_cells(row) if columns > 100 else named) in words
    assert all(sentence in words for sentence in told_of(account("unclean_4x")))
    assert max(map(len, part.splitlines())) <= columns
    assert "availability over time" not in terminal(report("unclean_4x"), columns=columns)


def test_partitions_that_were_exposed_alike_are_told_once() -> None:
    honest = report("unclean_4x")
    (pay,) = (each for each in honest.availability if each.topic == "pay")
    later = tuple(replace(row, epoch=row.epoch + 7) for row in pay.availability.rows)
    renamed = replace(pay.availability, rows=later, rows_told=pay.availability.rows_told + 2)
    elsewhere = tuple(replace(row, isr=(3,)) for row in pay.availability.rows)
    same = [replace(pay, partition=number) for number in range(3)]
    cases = (
        (same, "pay-0 to pay-2", 1, 0),
        ([*same, replace(pay, partition=3, availability=renamed)], "pay-0 to pay-3", 1, 1),
        ([*same, replace(pay, partition=3, availability=replace(pay.availability, rows=elsewhere))], "pay-3", 2, 0),
    )
    for told, name, times, noted in cases:
        histories = tuple(replace(honest.histories[0], partition=each.partition) for each in told)
        known = replace(honest, availability=tuple(told), histories=histories)
        for words in (terminal(known, verbose=True, columns=400), postmortem(known)):
            assert words.count("Surely written meanwhile: offsets 100–149.") == times
            assert words.count("The others differ in these alone.") == noted
            assert name in words


def test_the_page_tells_the_same() -> None:
    told, known = unescape(page(report("unclean_4x"))), account("unclean_4x")
    cells = [cell for row in known.rows for cell in state_cells(row)]
    cells += [cell for each in known.safeguards for cell in setting_cells(each)]
    assert [cell for cell in cells if f"<td>{cell}</td>" not in told] == []
    assert "What would have prevented this" in told


@pytest.mark.slow
def test_a_clean_report_has_neither_section() -> None:
    told = postmortem(report("clean_mixed"), appendix=True)
    assert "## What would have prevented this" not in told
    assert "## Availability" not in told
    assert "availability over time" not in terminal(replace(report("clean_mixed"), availability=()), verbose=True)


def test_json_tells_every_row_and_json_lines_one_account_each() -> None:
    known: dict[str, Any] = json.loads(document(report("unclean_4x")))
    (entry,) = (each for each in known["availability"] if each["topic"] == "pay")
    assert [state["isr"] for state in entry["states"]] == [list(row.isr) for row in account("unclean_4x").rows]
    assert entry["states"][-1]["exposed"] == ["no-leader"]
    told = [json.loads(line) for line in lines(report("unclean_4x")).splitlines()]
    assert [each["topic"] for each in told if each["kind"] == "availability"] == [
        each["topic"] for each in known["availability"]
    ]


def test_words_of_a_dump_stay_words() -> None:
    honest = report("unclean_4x")
    whose = tuple(replace(each, whose=HOSTILE, value=HOSTILE) for each in account("unclean_4x").safeguards)
    rows = tuple(replace(row, clock=HOSTILE) for row in account("unclean_4x").rows)
    hostile = replace(account("unclean_4x"), safeguards=whose, rows=rows, silences=(HOSTILE,))
    placed = tuple(replace(each, topic="pay", availability=hostile) for each in honest.availability)
    told = replace(honest, availability=placed)
    assert "<script>alert" not in page(told)
    markdown = postmortem(told, appendix=True)
    assert "<script>" not in markdown.replace("\\<script>", "")
    tables = [line for line in markdown.splitlines() if line.startswith("| 2026")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {11}
    assert HOSTILE in " ".join(terminal(told, verbose=True).split())


def test_a_long_history_is_counted_not_endless() -> None:
    honest = report("unclean_4x")
    (row, *_) = account("unclean_4x").rows
    many = tuple(replace(row, partition_epoch=number) for number in range(60))
    long = replace(account("unclean_4x"), rows=many, rows_told=900)
    placed = tuple(replace(each, availability=long) for each in honest.availability if each.topic == "pay")
    told = postmortem(replace(honest, availability=placed), appendix=True)
    assert sum(line.startswith("| 2026") for line in section(told, "Appendix: availability")) == STATES_SHOWN
    rest = f"{900 - STATES_SHOWN} more states are told and not listed here."
    assert f"{rest} The JSON report lists {60 - STATES_SHOWN} of them." in told


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, "not told"), (0, "0 ms"), (999, "999 ms"), (6038, "6.0 s"), (61_000, "1 min 1 s"),
        (7_380_000, "2 h 3 min"), (90_000_000, "1 d 1 h"),
    ],
)  # fmt: skip
def test_lengths_of_time_are_said_as_people_say_them(milliseconds: int | None, words: str) -> None:
    assert lasted(milliseconds) == words
