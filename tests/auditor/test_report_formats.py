"""Reports for programs: each is read by the parser of those who take it, and a dump's names do nothing in it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command import run
from dumps_at_hand import SAMPLES
from jsonschema import Draft4Validator
from junitparser import Error, Failure, JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from auditor.report.formats import FORMATS, rendered
from auditor.report.json import document
from auditor.report.model import AuditReport
from rules.finding import Finding, Severity
from tests.lab.sample_reports import report_on
from tests.replaced import replace

CASES = [SAMPLES / name for name in ("unclean_4x", "lost_pages_hw", "bit_rot_payload", "acks_one_lost", "clean_mixed")]
HOSTILE = "=cmd|'/c calc'!A1\x1b[31m\n<script>alert(1)</script>\u202e&amp;\" ::error::,%0A: {x=\"y\"} - &a *a"


def sarif_of(report: AuditReport) -> dict[str, Any]:
    (one,) = json.loads(rendered("sarif", report))["runs"]
    assert isinstance(one, dict)
    return one


def metrics_of(report: AuditReport) -> dict[str, dict[tuple[str, ...], float]]:
    """By family each sample's value, by the values of its labels."""
    families = text_string_to_metric_families(rendered("openmetrics", report))
    return {each.name: {tuple(s.labels.values()): s.value for s in each.samples} for each in families}


def hostile(report: AuditReport) -> AuditReport:
    """The same report of a dump whose names and lines attack those who read them."""
    findings = tuple(replace(each, topic=HOSTILE, message=HOSTILE) for each in report.findings)
    assert findings
    places = tuple(replace(each, topic=HOSTILE) for each in report.replicas)
    return replace(report, findings=findings, replicas=places)


SARIF = Path(__file__).with_name("sarif-schema-2.1.0.json")
"""The schema that OASIS publishes (errata 01), without its descriptions; a schema is facts for programs."""


@pytest.mark.parametrize("change", ["as it is", "hostile", "interrupted", "nothing found"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sarif_is_what_its_schema_describes(case: Path, change: str) -> None:
    report = report_on(case)
    if change == "hostile" and report.findings:
        report = hostile(report)
    report = replace(report, interrupted=change == "interrupted")
    if change == "nothing found":
        report = replace(report, findings=(), incidents=())
    schema = json.loads(SARIF.read_text(encoding="utf-8"))
    Draft4Validator.check_schema(schema)
    checker = Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)
    told = json.loads(rendered("sarif", report))
    assert [error.message for error in checker.iter_errors(told)] == []
    told["runs"][0]["results"] = [{"ruleId": 7}]
    assert not checker.is_valid(told)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sarif_tells_every_finding_with_its_bytes(case: Path) -> None:
    report = report_on(case)
    told = sarif_of(report)
    rules = [each["id"] for each in told["tool"]["driver"]["rules"]]
    for finding, result in zip(report.violations, told["results"], strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.rule
        assert result["partialFingerprints"] == {"tidemark/v1": finding.fingerprint}
        assert result["message"]["text"].startswith(f"{finding.place}: " if finding.place else finding.message)
        (first,) = result["locations"]
        assert [place["fullyQualifiedName"] for place in first.get("logicalLocations", ())] == [finding.place or ""][
            : bool(finding.place)
        ]
        if not finding.exhibits:
            assert first["physicalLocation"]["artifactLocation"]["uri"] == "."
            continue
        places = [first, *result.get("relatedLocations", ())]
        for exhibit, place in zip(finding.exhibits, places, strict=True):
            region = place["physicalLocation"]["region"]
            assert (region["byteOffset"], region["byteLength"]) == (
                exhibit.span.start,
                exhibit.span.end - exhibit.span.start,
            )
            artifact = place["physicalLocation"]["artifactLocation"]
            assert (case / "dump" / artifact["uri"]).is_file()
    (invocation,) = told["invocations"]
    notified = invocation["toolExecutionNotifications"]
    assert len(notified) == len(report.refusals) + len(report.coverage.undecided)
    assert invocation["exitCode"] == report.exit_code


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_junit_fails_where_the_audit_found_something(case: Path) -> None:
    report = report_on(case)
    (suite,) = JUnitXml.fromstring(rendered("junit", report).encode())
    failing = Counter(
        f"{f.topic}-{f.partition}" for f in report.violations if f.severity >= Severity.MEDIUM and f.topic is not None
    )
    failed = Counter(
        test.name for test in suite for result in test.result if isinstance(result, Failure) and test.name != "verdict"
    )
    assert failed == failing
    assert {f"{placed.topic}-{placed.partition}" for placed in report.replicas} < {test.name for test in suite}
    assert suite.failures == len(failing)


def test_junit_says_by_an_error_that_a_verdict_is_open() -> None:
    report = replace(report_on(SAMPLES / "clean_mixed"), verdict="unknown", exit_code=3)
    (suite,) = JUnitXml.fromstring(rendered("junit", report).encode())
    assert [test.name for test in suite for result in test.result if isinstance(result, Error)] == ["verdict"]
    assert (suite.failures, suite.errors) == (0, 1)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_openmetrics_counts_what_the_report_tells(case: Path) -> None:
    report = report_on(case)
    told = metrics_of(report)
    assert sum(told["tidemark_verdict"].values()) == 1
    assert told["tidemark_verdict"][report.verdict,] == 1
    by_severity = Counter(Severity(finding.severity).label for finding in report.violations)
    assert told["tidemark_findings"] == {(each.label,): by_severity[each.label] for each in Severity}
    assert sum(told["tidemark_rule_findings"].values()) == len(report.violations)
    lost = sum(
        loss.end_offset - loss.start_offset for each in report.histories for loss in each.losses if not loss.restored
    )
    assert sum(told["tidemark_lost_offsets"].values()) == lost
    assert told["tidemark_read_bytes"] == {(): report.coverage.bytes_read}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_json_lines_hold_all_of_the_json_report(case: Path) -> None:
    report = report_on(case)
    lines = [json.loads(line) for line in rendered("jsonl", report).splitlines()]
    whole: dict[str, Any] = document(report)
    for name in ("findings", "incidents", "replicas", "counterfactuals", "histories", "refusals"):
        kind = name.removesuffix("s") if name != "histories" else "history"
        assert [line for line in lines if line["kind"] == kind] == [{"kind": kind, **each} for each in whole[name]]
    undecided = [{"kind": "undecided", **each} for each in whole["coverage"]["undecided"]]
    assert [line for line in lines if line["kind"] == "undecided"] == undecided
    assert lines[-1]["kind"] == "verdict"
    assert lines[-1]["verdict"] == report.verdict


def rows_of(report: AuditReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendered("csv", report), newline="")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_csv_has_a_row_for_every_finding(case: Path) -> None:
    report = report_on(case)
    assert [row["id"] for row in rows_of(report)] == [finding.id for finding in report.findings]
    assert [row["startOffset"] for row in rows_of(report)] == [told(f.start_offset) for f in report.findings]


def told(offset: int | None) -> str:
    return "" if offset is None else str(offset)


def graves(findings: Sequence[Finding]) -> list[str]:
    return ["error" if f.severity >= Severity.HIGH else "warning" if f.severity == Severity.MEDIUM else "notice"
            for f in findings]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_annotations_are_a_line_a_finding(case: Path) -> None:
    report = report_on(case)
    lines = [line for line in rendered("github", report).splitlines() if "the verdict is open" not in line]
    found = sorted(report.violations, key=lambda finding: -finding.severity)
    assert [line.split(" ")[0].removeprefix("::") for line in lines] == graves(found)
    assert all(f" {finding.place}" in line.split("::")[1] for finding, line in zip(found, lines, strict=True))


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_names_do_nothing_in_any_format(name: str) -> None:
    report = hostile(report_on(SAMPLES / "unclean_4x"))
    text = rendered(name, report)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_hostile_names_stay_text_where_a_format_has_a_grammar() -> None:
    report = hostile(report_on(SAMPLES / "unclean_4x"))
    assert len(sarif_of(report)["results"]) == len(report.violations)
    assert "<script>" not in rendered("junit", report)
    (suite,) = JUnitXml.fromstring(rendered("junit", report).encode())
    assert any("<script>" in (test.name or "") for test in suite)
    assert all(row["topic"].startswith("'=") and row["message"].startswith("'=") for row in rows_of(report))
    assert len(rows_of(report)) == len(report.findings)
    assert {labels[2] for labels in metrics_of(report)["tidemark_rule_findings"]} != {""}
    lines = rendered("github", report).splitlines()
    assert len(lines) == len(report.violations)
    assert all(line.startswith("::") and "%0A" not in line for line in lines)


def test_one_run_writes_several_formats(tmp_path: Path) -> None:
    dump = str(SAMPLES / "clean_mixed" / "dump")
    files = {name: tmp_path / f"report.{name}" for name in ("sarif", "junit", "openmetrics")}
    asked = [word for name, file in files.items() for word in ("--format", f"{name}={file}")]
    ended = run("audit", dump, "--engine", "local", "--quiet", *asked)
    assert ended.code == 0
    assert "CLEAN" in ended.out
    report = report_on(SAMPLES / "clean_mixed")
    assert {name: file.read_text("utf-8") for name, file in files.items()} == {
        name: rendered(name, report) for name in files
    }
    again = run("audit", dump, "--engine", "local", "--quiet", *asked)
    assert again.code == 2
    assert "--force" in again.err


@pytest.mark.parametrize("how", ["--verbose", "--quiet"])
def test_a_file_beside_the_report_holds_as_much_as_one_in_its_place(how: str, tmp_path: Path) -> None:
    dump = str(SAMPLES / "unclean_4x" / "dump")
    beside, instead = tmp_path / "beside.txt", tmp_path / "instead.txt"
    run("audit", dump, "--engine", "local", how, "--format", f"terminal={beside}")
    run("audit", dump, "--engine", "local", how, "--output", str(instead))
    assert beside.read_text("utf-8") == instead.read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["xlsx"], "expected one of terminal, json"),
        (["json", "csv"], "json and csv would go to one place"),
        (["sarif="], "expected FORMAT=FILE"),
        (["csv=a.json"], "which its name does not promise"),
        (["csv=a.csv", "json=b.txt", "sarif=b.txt"], "would take two formats"),
    ],
)
def test_formats_that_cannot_be_written_are_refused_before_the_audit(
    given: list[str], said: str, tmp_path: Path
) -> None:
    placed = [text.replace("=a.", f"={tmp_path}/a.").replace("=b.", f"={tmp_path}/b.") for text in given]
    flags = [word for text in placed for word in ("--format", text)]
    ended = run("audit", str(SAMPLES / "clean_mixed" / "dump"), "--engine", "local", *flags)
    assert ended.code == 2
    assert said in ended.err
    assert list(tmp_path.iterdir()) == []
