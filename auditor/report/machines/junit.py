"""JUnit XML: a test case a partition and one for the verdict, so that a pipeline shows a dump as it shows tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

from auditor.report.model import AuditReport
from auditor.report.plain import plain
from auditor.report.policy_outcome import spared
from rules.finding import Finding, Severity, question_told

Place = tuple[str, int]


def render(report: AuditReport) -> str:
    """Findings that make the audit fail are failures; an open verdict is an error: nothing was shown wrong."""
    by_place: dict[Place | None, list[Finding]] = {}
    passed = spared(report.policy)
    for finding in report.violations:
        known = finding.topic is not None and finding.partition is not None
        place = (finding.topic or "", finding.partition or 0) if known else None
        by_place.setdefault(place, []).append(finding)
    places = {(placed.topic, placed.partition) for placed in report.replicas} | {at for at in by_place if at}
    cases = [_case(f"{t}-{p}", _inner(by_place.get((t, p), ()), passed)) for t, p in sorted(places)]
    cases.append(_verdict(report, _inner(by_place.get(None, ()), passed)))
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    counted = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    lines = (
        '<?xml version="1.0" encoding="UTF-8"?>\n',
        f'<testsuites name="tidemark" {counted}>\n',
        f'<testsuite name="tidemark" {counted} skipped="0" time="0">\n',
        *cases,
        "</testsuite>\n</testsuites>\n",
    )
    return "".join(lines)


def _inner(findings: Sequence[Finding], passed: Mapping[str, str]) -> str:
    """Failures, and in a remark what is less, known or silenced."""
    failing = [f for f in findings if f.severity >= Severity.MEDIUM and f.id not in passed]
    remarks = [f"{_line(f)}{_why(f, passed)}" for f in findings if f not in failing]
    inner = "".join(map(_failure, failing))
    return inner + (f"<system-out>{_escaped(chr(10).join(remarks))}</system-out>\n" if remarks else "")


def _why(finding: Finding, passed: Mapping[str, str]) -> str:
    return f" [{passed[finding.id]}]" if finding.id in passed else ""


def _case(name: str, inner: str) -> str:
    return f'<testcase classname="tidemark" name={_quoted(name)} time="0">\n{inner}</testcase>\n'


def _verdict(report: AuditReport, inner: str) -> str:
    """What is of no partition; and whether the verdict is open."""
    if report.verdict == "unknown" or report.interrupted:
        open_points = [point for point in report.coverage.undecided if point.blocking]
        words = "\n".join(f"{point.rule}: {question_told(point.reason, point.missing)}" for point in open_points)
        inner += f'<error type="undecided" message="the verdict is open">{_escaped(words)}</error>\n'
    return _case("verdict", inner)


def _failure(finding: Finding) -> str:
    where = "\n".join(f"{e.span.source}:{e.span.start}-{e.span.end} {e.role}" for e in finding.exhibits)
    kind = f"{finding.rule} {Severity(finding.severity).label}"
    return f"<failure type={_quoted(kind)} message={_quoted(finding.message)}>{_escaped(where)}</failure>\n"


def _line(finding: Finding) -> str:
    return f"{finding.id} {finding.rule} {Severity(finding.severity).label}: {finding.message}"


def _quoted(text: str) -> str:
    return quoteattr(plain(text))


def _escaped(text: str) -> str:
    return plain(text, keep="\n").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
