"""Every recorded incident yields what its truth demands, at the exact offsets, and nothing bad beside it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auditor.report.json import document
from rules.finding import Severity
from tests.lab.effort import fast_if
from tests.lab.expected_from_truth import cases, expected
from tests.lab.recorded_damage import damaged_files
from tests.lab.sample_reports import is_short, report_on

CASES = cases()
INCIDENT_FAMILIES = {
    "LEAD001", "LEAD002", "LEO001", "ACK001", "ACK002", "CONS003", "TRUNC001", "TRUNC002", "TRUNC004", "BUG001",
}  # fmt: skip


@cache
def findings_of(case: Path) -> list[dict[str, Any]]:
    report = document(report_on(case))
    findings: list[dict[str, Any]] = report["findings"]  # type: ignore[assignment]
    return [finding for finding in findings if finding["verdict"] == "violated"]


def demands_of(case: Path) -> dict[str, Any]:
    demands: dict[str, Any] = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    return demands


def meets(finding: dict[str, Any], demand: dict[str, Any]) -> bool:
    keys = ("rule", "topic", "partition", "startOffset", "endOffset")
    asked = {key: demand[key] for key in keys if demand[key] is not None}
    if any(finding[key] != value for key, value in asked.items()):
        return False
    if demand["brokers"] is not None and finding["brokers"] != demand["brokers"]:
        return False
    return Severity[finding["severity"].upper()] >= Severity[demand["atLeast"].upper()]


def test_the_recorded_cases_are_there() -> None:
    assert len(CASES) >= 14


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_expectations_are_written_from_the_truth(case: Path) -> None:
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    assert demands_of(case) == expected(truth)


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_a_case_yields_what_its_truth_demands(case: Path) -> None:
    for demand in demands_of(case)["mustFind"]:
        assert any(meets(finding, demand) for finding in findings_of(case)), f"{case.name}: nothing meets {demand}"


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_a_case_yields_nothing_bad_beside_that(case: Path) -> None:
    demands = demands_of(case)
    called_for = {demand["rule"] for demand in demands["mustFind"]}
    banned = {ban["rule"] for ban in demands["mustNotFind"]}
    limit = Severity[demands["maxSeverityBeside"].upper()]
    # The truth names the decisive findings; of what belongs to the same incident it may name a part only.
    told_with_them = INCIDENT_FAMILIES if called_for & {"LEAD001", "LEAD002", "TRUNC001", "LOG001"} else set()
    for finding in findings_of(case):
        assert finding["rule"] not in banned, finding["message"]
        if finding["rule"] not in called_for | told_with_them:
            assert Severity[finding["severity"].upper()] <= limit, finding["message"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_files_that_a_truth_calls_damaged_are_there(case: Path) -> None:
    for source, kinds in damaged_files(case.name).items():
        assert (case / "dump" / source).is_file()
        assert kinds


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_how_it_was_made(case: Path) -> None:
    assert len((case / "README.md").read_text(encoding="utf-8")) > 100
