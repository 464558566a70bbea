"""GitHub annotations: a line a finding that its runners show beside the file it is about."""

from __future__ import annotations

from typing import Final

from auditor.report.model import AuditReport
from auditor.report.plain import plain
from rules.finding import Finding, Severity

SHOWN: Final = 50
"""Runners show no more of a step; the gravest come first."""


def render(report: AuditReport) -> str:
    """Errors for high and critical, warnings for medium, notices for the rest."""
    gravest_first = sorted(report.violations, key=lambda finding: -finding.severity)
    lines = [_annotation(finding) for finding in gravest_first[:SHOWN]]
    rest = len(report.violations) - SHOWN
    if rest > 0:
        lines.append(f"::notice title=tidemark::{rest} more findings; the report lists them all")
    if report.verdict == "unknown":
        lines.append("::warning title=tidemark::the verdict is open: the report says what would settle it")
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding) -> str:
    severity = Severity(finding.severity)
    level = "error" if severity >= Severity.HIGH else "warning" if severity == Severity.MEDIUM else "notice"
    place = f",file={_property(finding.exhibits[0].span.source)}" if finding.exhibits else ""
    title = _property(" ".join(filter(None, (finding.rule, severity.label, finding.place))))
    return f"::{level} title={title}{place}::{_text(finding.message)}"


def _text(text: str) -> str:
    return plain(text).replace("%", "%25")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
