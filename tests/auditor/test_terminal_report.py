"""The report for people: what it says and in which order; widths and blanks are free."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from dumps_at_hand import ROOT, SAMPLES
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.layout import counted, size
from auditor.report.model import AuditReport, PlacedReplica
from auditor.report.plain import plain
from auditor.report.terminal import render
from rules.finding import Severity
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_short, report_on

CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))
SPLIT = SAMPLES / "fast_failover_kip101"


def lines_of(report: AuditReport, **options: bool) -> list[str]:
    return render(report, columns=100, **options).splitlines()


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_the_first_line_is_the_verdict_with_its_coverage(case: Path) -> None:
    report = report_on(case)
    first = " ".join(lines_of(report)[:2])
    assert first.startswith(report.verdict.upper())
    assert f"{report.coverage.replicas_seen} replica" in first
    assert f"{report.coverage.partitions} partition" in first
    assert "% of" in first


def test_findings_come_under_their_incident_with_the_cause_first() -> None:
    report = report_on(SPLIT)
    lines = lines_of(report, verbose=True)
    incident = report.incidents[0]
    start = next(place for place, line in enumerate(lines) if line.startswith(incident.id))
    order = [name for line in lines[start:] for name in incident.findings if name in line.split()]
    assert order == list(incident.findings)
    assert order[0] == incident.cause
    for finding in report.findings:
        assert sum(finding.id in line.split() for line in lines) == (1 if finding.severity > Severity.INFO else 0)


def test_a_window_is_drawn_once_under_the_first_finding_that_it_shows() -> None:
    report = report_on(SPLIT)
    finding = next(finding for finding in report.findings if finding.rule == "LOG001")
    lines = lines_of(report)
    drawn = [f"      {line}" for line in finding.sketch.splitlines()]
    place = lines.index(drawn[0])
    assert lines[place : place + 2] == drawn
    assert all(lines.count(line) == 1 for line in drawn), "five findings lie in this window"
    head = [line for line in lines[:place] if re.match(r"  \S", line)][-1]
    assert head.split()[2:4] == ["ff-0", report.incidents[0].cause]
    for exhibit in finding.exhibits:
        address = f"{exhibit.span.source} [{exhibit.span.start}, {exhibit.span.end})"
        assert any(address in line for line in lines)


def test_windows_apart_are_drawn_apart() -> None:
    report = report_on(SAMPLES / "epoch_checkpoint_deleted")
    text = render(report)
    assert all(f"    {f.sketch.splitlines()[0]}" in text for f in report.violations if f.rule == "EPOCH003")


def test_the_readme_shows_what_is_printed() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```\n(FINDINGS.*?)^```", readme, re.DOTALL | re.MULTILINE)
    text = render(report_on(SPLIT))
    for part in shown.split("…\n"):
        place = text.find(part.strip("\n"))
        assert place >= 0, part
        text = text[place:]


def test_the_head_counts_what_the_findings_are_about() -> None:
    assert "3 critical, 2 high, 2 low in 2 of 7 replicas, 1 of 2 partitions;" in " ".join(
        line.strip() for line in lines_of(report_on(SAMPLES / "unclean_4x"))[:2]
    )
    assert "no problem found in 9 replicas of 2 partitions;" in lines_of(report_on(SAMPLES / "recreated_topic"))[0]


def test_whoever_led_last_by_the_logs_is_starred() -> None:
    report = report_on(SAMPLES / "unclean_4x")
    drawn = [line for finding in report.violations for line in finding.sketch.splitlines()]
    assert {line.split()[1] for line in drawn if "* " in line} == {"3*"}, "all three logs are alike; epoch 2 is 3's"


def test_what_this_level_does_not_ask_is_one_line() -> None:
    lines = lines_of(report_on(SAMPLES / "clean_mixed"))
    assert [line for line in lines if "SEG007" in line] == ["  asked only by a deeper audit: SEG007 at --level deep"]


def test_the_counterfactual_table_names_every_protocol_and_fits_80_columns() -> None:
    report = report_on(SPLIT)
    lines = render(report, columns=80).splitlines()
    place = next(place for place, line in enumerate(lines) if "what each protocol would have done" in line)
    rows = [line for line in lines[place : place + 10] if line.startswith("    ")]
    for name in ("hw-truncation", "kip-101", "kip-279", "truncate-on-fetch"):
        assert sum(row.strip().startswith(name) for row in rows) == 1
    assert sum(row.strip() == "the two logs part at 10" for row in rows) == 2  # no cut is no rescue
    assert any("1 → (0, 15)" in row and "10" in row and "[10, 15)" in row for row in rows)
    assert all(len(row) <= 80 for row in rows)


def test_the_replica_table_comes_last_with_one_line_a_replica() -> None:
    report = report_on(SPLIT)
    lines = lines_of(report)
    heads = next(place for place, line in enumerate(lines) if line.startswith("replica "))
    assert re.split(r"\s{2,}", lines[heads]) == [
        "replica", "broker", "log start", "log end", "LEO expected", "HW on disk", "HW expected", "last epoch",
        "verdict",
    ]  # fmt: skip
    assert [line.split() for line in lines[heads + 1 :]] == [
        ["ff-0", "1", "0", "20", "20..?", "20", "20", "2", "critical"],
        ["ff-0", "2", "0", "20", "20..?", "20", "20", "2", "critical"],
    ]


def many(report: AuditReport, sound: int) -> AuditReport:
    """The report with so many sound replicas of other partitions."""
    model = report.replicas[0]
    more = tuple(
        PlacedReplica(cluster_id=None, topic="fine", partition=number, replica=replace(model.replica, verdict="sound"))
        for number in range(sound)
    )
    return replace(report, replicas=more + report.replicas)


def test_of_many_replicas_the_troubled_ones_are_listed() -> None:
    report = many(report_on(SPLIT), 3000)
    lines = lines_of(report)
    assert not any(line.startswith("fine-") for line in lines)
    assert sum(line.startswith("ff-0 ") for line in lines) == 2
    assert "3000 replicas more, sound" in lines[-1]
    assert len(lines) < 200
    assert sum(line.startswith("fine-") for line in lines_of(report, verbose=True)) == 3000


def test_of_many_findings_the_first_are_told_and_all_are_counted() -> None:
    report = report_on(SAMPLES / "bit_rot_payload")
    model = next(finding for finding in report.findings if finding.rule == "SEG001")
    findings = tuple(replace(model, partition=number) for number in range(500))
    crowd = replace(report, findings=findings, incidents=())
    lines = lines_of(crowd)
    told = {line.split()[-1] for line in lines if line.startswith("MEDIUM")}
    assert lines[0].startswith("FINDINGS  500 medium")
    assert 10 <= len(told) <= 60
    assert any(f"{500 - len(told)} more findings" in line for line in lines)
    assert len([line for line in lines_of(crowd, verbose=True) if line.startswith("MEDIUM")]) == 500


def test_an_unknown_verdict_says_why() -> None:
    report = report_on(SPLIT)
    coverage = replace(report.coverage, replicas_seen=0)
    nothing = replace(report, verdict="unknown", findings=(), incidents=(), counterfactuals=(), coverage=coverage)
    assert "no replica was read" in render(nothing)
    low = replace(nothing, coverage=report.coverage)
    assert "less was read than --min-coverage asks for" in render(low)
    assert "No verdict" not in render(report)


def test_colour_changes_no_word() -> None:
    report = report_on(SPLIT)
    coloured = render(report, colour=True)
    assert "\x1b[1;31mFINDINGS\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(report)


@given(st.text())
def test_plain_text_shows_as_itself_or_spelled_out(text: str) -> None:
    shown = plain(text)
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in shown)
    assert plain(shown) == shown
    if all(character.isalnum() for character in text):
        assert shown == text


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_stands_in_a_report_the_terminal_is_left_alone(message: str, path: str) -> None:
    report = report_on(SPLIT)
    finding = report.findings[0]
    span = replace(finding.exhibits[0].span, source=path)
    exhibits = (replace(finding.exhibits[0], span=span, role=message),)
    hostile = replace(finding, message=message, exhibits=exhibits, topic=path, sketch=f"x\n{message}")
    text = render(replace(report, findings=(hostile, *report.findings[1:])))
    assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs")} <= {"\n"}


def test_numbers_are_said_as_people_say_them() -> None:
    assert [size(count) for count in (0, 1023, 1024, 1536, 5 << 30)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.5 KiB",
        "5.0 GiB",
    ]
    assert [counted(1, "replica"), counted(2, "batch"), counted(0, "partition")] == [
        "1 replica",
        "2 batches",
        "0 partitions",
    ]
    assert [counted(2, noun) for noun in ("key", "query", "loss")] == ["2 keys", "2 queries", "2 losses"]


def test_a_finding_without_an_end_is_told_from_its_start_on() -> None:
    report = report_on(SPLIT)
    worst = max(report.violations, key=lambda finding: finding.severity)
    first = replace(worst, start_offset=7, end_offset=None)
    (head,) = (
        line
        for line in lines_of(replace(report, findings=(first,), incidents=()))
        if first.id in line.split()
    )
    assert "from 7 on" in head
    assert "None" not in head
