"""A policy weighs, silences and compares; whatever it passes over is told."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from auditor.apply_policy import outcome_of
from auditor.config import AuditConfig, ConfigError, merge, read_config
from auditor.config.policy import AcceptedFinding, Policy
from auditor.report import terminal
from auditor.report.formats import rendered
from auditor.report.json import document, render
from auditor.report.model import AuditReport
from auditor.run_audit import run_audit
from rules.catalog import RULES
from rules.finding import Severity
from rules.thresholds import Chosen
from tests.auditor.dumps_at_hand import ROOT, audited
from tests.rules.broken_dumps import Yard, change, segment, wrote

NEVER = date(9999, 12, 31)
LONG_AGO = date(2001, 1, 1)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A dump in which one batch of one copy is damaged: one finding of medium severity."""
    yard = Yard(tmp_path / "dump")
    for broker in (1, 2):
        folder = yard.broker(broker, wrote(0, 0, 40), clean=True)
    change(segment(folder), 70, lambda byte: byte ^ 1)
    return tmp_path / "dump"


def policy(text: str, tmp_path: Path) -> Policy:
    path = tmp_path / "tidemark.yaml"
    path.write_text(text, encoding="utf-8")
    told: Any = read_config(path)["policy"]
    assert isinstance(told, Policy)
    return told


UNREADABLE = "cannot read the configuration: no YAML at"


def refused(text: str, tmp_path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        policy(text, tmp_path)
    return str(caught.value).partition(": ")[2]


def told(report: AuditReport) -> dict[str, Any]:
    outcome = document(report)["policy"]
    assert isinstance(outcome, dict)
    return outcome


def silence(finding: str, until: date = NEVER) -> Policy:
    return Policy(silences=(AcceptedFinding(digits=finding.removeprefix("F-"), reason="known", until=until),))


def test_without_a_policy_nothing_is_said_of_one(dump: Path) -> None:
    report = audited(dump)
    assert (report.policy, report.exit_code, [f.rule for f in report.violations]) == (None, 1, ["SEG001"])


def test_a_silenced_finding_is_told_and_fails_no_run(dump: Path) -> None:
    (finding,) = audited(dump).violations
    report = audited(dump, policy=silence(finding.id))
    assert (report.verdict, report.exit_code, len(report.violations)) == ("findings", 0, 1)
    assert told(report)["silenced"] == [{"finding": finding.id, "reason": "known", "until": "9999-12-31"}]
    text = terminal.render(report, quiet=True)
    assert f"silenced: {finding.id} until 9999-12-31: known" in text
    assert "by this the run ends with 0" in text


def test_programs_are_told_what_is_silenced(dump: Path) -> None:
    (finding,) = audited(dump).violations
    report = audited(dump, policy=silence(finding.id))
    (result,) = json.loads(rendered("sarif", report))["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "justification": "known (until 9999-12-31)"}]
    assert 'failures="0"' in rendered("junit", report)
    assert "[known (until 9999-12-31)]" in rendered("junit", report)
    assert 'failures="1"' in rendered("junit", audited(dump))
    assert f"silenced: {finding.id}" in rendered("postmortem", report)


def test_a_silence_ends_with_its_day(dump: Path) -> None:
    (finding,) = audited(dump).violations
    report = audited(dump, policy=silence(finding.id, LONG_AGO))
    assert (report.exit_code, len(told(report)["expired"]), told(report)["silenced"]) == (1, 1, [])
    config = AuditConfig(policy=silence(finding.id, LONG_AGO))
    assert (on_the_day := outcome_of([finding], 0, config, (), LONG_AGO)) is not None
    assert [line.finding for line in on_the_day.silenced] == [finding.id]


def test_a_silence_of_nothing_is_told(dump: Path) -> None:
    report = audited(dump, policy=silence("F-00000000"))
    assert (report.exit_code, [line["finding"] for line in told(report)["unmatched"]]) == (1, ["F-00000000"])


def test_a_question_that_is_silenced_stays_open(tmp_path: Path) -> None:
    yard = Yard(tmp_path / "dump")
    yard.broker(1, wrote(0, 0, 60), topic_id="AAAAAAAAAAAAAAAAAAAAAg")
    yard.broker(2, wrote(0, 0, 60))
    report = audited(yard.root)
    (question,) = (finding for finding in report.findings if finding.blocking)
    assert audited(yard.root, policy=silence(question.id)).exit_code == report.exit_code == 3


def test_a_rule_that_is_off_is_named_with_what_it_would_have_said(dump: Path) -> None:
    report = audited(dump, policy=Policy(off=("SEG001",)))
    assert (report.exit_code, report.violations) == (0, ())
    assert (told(report)["rulesOff"], told(report)["leftOut"]) == (["SEG001"], 1)


def test_a_severity_decides_whether_a_run_fails(dump: Path) -> None:
    (finding,) = audited(dump).violations
    assert finding.severity == Severity.MEDIUM
    lighter = Policy(severities=(("SEG001", Severity.INFO),))
    report = audited(dump, policy=lighter)
    assert (report.exit_code, report.verdict, report.violations[0].severity) == (0, "clean", Severity.INFO)
    assert told(report)["severities"] == [{"rule": "SEG001", "severity": "info"}]
    change(next(dump.rglob("broker-1/data/t-0/*.log")), 70, lambda byte: byte ^ 1)
    # Where no good copy is left the rule itself weighs the damage otherwise than its page: that stands.
    worst = audited(dump, policy=lighter)
    assert (worst.exit_code, worst.worst) == (1, Severity.CRITICAL)


def test_only_what_is_new_fails_against_a_baseline(dump: Path, tmp_path: Path) -> None:
    before = audited(dump)
    baseline = tmp_path / "before.json"
    baseline.write_text(render(before), encoding="utf-8")
    same = audited(dump, baseline=str(baseline))
    assert (same.exit_code, told(same)["known"], told(same)["gone"]) == (0, [before.violations[0].id], 0)
    path = next(dump.rglob("broker-1/data/t-0/*.log"))
    change(path, path.stat().st_size - 20, lambda byte: byte ^ 1)
    worse = audited(dump, baseline=str(baseline))
    assert worse.exit_code == 1
    assert len(worse.violations) > len(told(worse)["known"])


@pytest.mark.parametrize("text", ["{}", "[]", "nonsense", '{"findings": [{}]}', "[" * 100_000])
def test_what_is_no_report_is_no_baseline(dump: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "before.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="expected a report of --format json"):
        audited(dump, baseline=str(path))


def test_what_is_no_report_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="expected a report of --format json"):
        run_audit([tmp_path / "no-dump"], AuditConfig(engine="local", baseline=str(tmp_path / "before.json")))


def test_a_policy_is_read_from_the_file(tmp_path: Path) -> None:
    text = (
        "fail-on: high\nrules:\n  place002: off\n  CONF001: info\n"
        "silenced:\n- finding: F-1a2b3c4d\n  reason: planned\n  until: 2031-05-06\n"
    )
    assert policy(text, tmp_path) == Policy(
        off=("PLACE002",),
        severities=(("CONF001", Severity.INFO),),
        silences=(AcceptedFinding(digits="1a2b3c4d", reason="planned", until=date(2031, 5, 6)),),
    )
    assert merge(AuditConfig(), read_config(tmp_path / "tidemark.yaml")).fail_on == "high"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: {off: [LOG001]}", "rules: unknown rule 'off'; `tidemark rules` lists them all"),
        ("level: {a", f"{UNREADABLE} line 1, column 10: expected ',' or '}}', but got '<stream end>'"),
        ("rules: {LOG01: off}", "rules: unknown rule 'LOG01'; did you mean 'LOG001'?"),
        ("rules: {LOG001: hgh}", "rules: LOG001: unknown severity 'hgh'; did you mean 'high'?"),
        ("rules: [LOG001]", "rules: expected RULE: a severity or off, found a list"),
        ("silenced: [{finding: F-1a2b3c4d, reson: x, until: 2031-05-06}]",
         "silenced, entry 1: unknown key 'reson'; did you mean 'reason'?"),
        ("silenced: [{finding: F-1a2b3c4d, until: 2031-05-06}]",
         "silenced, entry 1: expected finding, reason, until, found no reason"),
        ("silenced: [{finding: F-1a2b3c4d, reason: x}]",
         "silenced, entry 1: expected finding, reason, until, found no until"),
        ("silenced: [{finding: F-1a, reason: x, until: 2031-05-06}]",
         "silenced, entry 1: expected an id such as F-1a2b3c4d, found 'F-1a'"),
        ("silenced: [{finding: F-1a2b3c4d, reason: x, until: soon}]",
         "silenced, entry 1: expected a day such as 2027-01-31, found 'soon'"),
        ("rules: {TXN001: {slak: 1}}", "rules: TXN001: unknown key 'slak'; known: severity, thresholds"),
        ("rules: {TXN001: {threshold: {slack: 1}}}",
         "rules: TXN001: unknown key 'threshold'; did you mean 'thresholds'?"),
        ("rules: {TXN001: {thresholds: {slak: 1}}}", "rules: TXN001: unknown threshold 'slak'; did you mean 'slack'?"),
        ("rules: {LOG001: {thresholds: {slack: 1}}}", "rules: LOG001: unknown threshold 'slack'; the rule has none"),
        ("rules: {TXN001: {thresholds: {slack: 1}}}",
         "rules: TXN001: slack: expected a whole number of ms from 300000 to 604800000, found 1"),
        ("rules: {TXN001: {thresholds: {slack: true}}}",
         "rules: TXN001: slack: expected a whole number of ms from 300000 to 604800000, found True"),
        ("rules: {TXN001: {thresholds: [slack]}}", "rules: TXN001: expected thresholds, found a list"),
        ("silences: []", "unknown setting 'silences'; did you mean 'silenced'?"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_with_the_nearest(tmp_path: Path, text: str, said: str) -> None:
    assert refused(text, tmp_path) == said


def test_thresholds_stand_beside_a_severity_or_alone(tmp_path: Path) -> None:
    text = (
        "rules:\n  TXN001: {severity: high, thresholds: {slack: 900000}}\n  TXN003: {thresholds: {lasting: 60000}}\n"
        "  place001: {thresholds: {agreeing: 95}}\n  ISR002: {severity: off}\n"
    )
    assert policy(text, tmp_path) == Policy(
        off=("ISR002",),
        severities=(("TXN001", Severity.HIGH),),
        thresholds=(
            Chosen(rule="TXN001", name="slack", value=900_000),
            Chosen(rule="PLACE001", name="agreeing", value=95),
        ),
    )


def test_a_threshold_that_was_raised_is_told(dump: Path) -> None:
    report = audited(dump, policy=Policy(thresholds=(Chosen(rule="TXN001", name="slack", value=900_000),)))
    assert told(report)["thresholds"] == [
        {"rule": "TXN001", "name": "slack", "unit": "ms", "value": 900_000, "default": 300_000}
    ]
    said = "thresholds raised: TXN001 slack 900000 ms (default 300000)"
    assert said in terminal.render(report, quiet=True)
    assert said in rendered("postmortem", report)


def test_the_page_of_policies_names_every_threshold_with_its_default() -> None:
    rows = re.findall(r"\| (\w+) \| `([\w-]+)` \| (\w+) \| (\d+) \|", (ROOT / "docs/policy.md").read_text("utf-8"))
    known = [(rule.id, each.name, each.unit, str(each.default)) for rule in RULES for each in rule.thresholds]
    assert sorted(rows) == sorted(known)


def test_the_document_with_a_policy_is_json(dump: Path) -> None:
    assert json.loads(render(audited(dump, policy=Policy(off=("SEG001",)))))["policy"]["leftOut"] == 1


def test_a_baseline_of_another_cluster_makes_nothing_known(dump: Path, tmp_path: Path) -> None:
    kept = document(audited(dump))
    baseline = tmp_path / "baseline.json"
    own = next(iter({replica["clusterId"] for replica in kept["replicas"]}))  # type: ignore[attr-defined]
    baseline.write_text(json.dumps(kept))
    same = audited(dump, baseline=str(baseline))
    assert (same.exit_code, told(same)["foreign"]) == (0, None)
    baseline.write_text(json.dumps(kept).replace(own, "ZmFyIGF3YXkgZnJvbSBoZQ"))
    report = audited(dump, baseline=str(baseline))
    assert (report.exit_code, told(report)["known"]) == (1, [])
    assert told(report)["foreign"] == {"baseline": ["ZmFyIGF3YXkgZnJvbSBoZQ"], "dump": [own]}
    assert f"it is of cluster ZmFyIGF3YXkgZnJvbSBoZQ, and this dump is of cluster {own}" in " ".join(
        terminal.render(report).split()
    )
