"""SARIF 2.1.0: findings as results with byte regions and fingerprints, unread input as notifications."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from auditor.report.model import AuditReport, RefusalLine
from auditor.report.policy_outcome import spared
from rules.finding import Exhibit, Finding, Severity, capital, question_told

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT: Final = "tidemark/v1"
_LEVEL: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "note",
}
_RANK: Final = {
    Severity.CRITICAL: 100.0,
    Severity.HIGH: 80.0,
    Severity.MEDIUM: 50.0,
    Severity.LOW: 20.0,
    Severity.INFO: 0.0,
}
_NOTIFIED: Final = 1000
"""Refusals told one by one; what is beyond is counted in one more."""
Json = dict[str, object]


def render(report: AuditReport) -> str:
    """One run of one tool."""
    rules = sorted({finding.rule for finding in report.violations})
    passed = spared(report.policy)
    run: Json = {
        "tool": {"driver": _driver(report, rules)},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(f, rules.index(f.rule), passed.get(f.id)) for f in report.violations],
        "properties": {"verdict": report.verdict, "level": report.level, "coverage": report.coverage.ratio},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True) + "\n"


def _driver(report: AuditReport, rules: Sequence[str]) -> Json:
    return {"name": "tidemark", "version": report.version, "rules": [{"id": rule} for rule in rules]}


def _invocation(report: AuditReport) -> Json:
    open_points = [
        {
            "level": "warning" if point.blocking else "note",
            "message": {"text": question_told(capital(point.reason), point.missing)},
            "descriptor": {"id": point.rule},
            "properties": {"partitions": point.partitions},
        }
        for point in report.coverage.undecided
    ]
    unread = [_notification(line) for line in report.refusals[:_NOTIFIED]]
    rest = len(report.refusals) - _NOTIFIED
    if rest > 0:
        unread.append({"level": "warning", "message": {"text": f"{rest} more places could not be read"}})
    return {
        "executionSuccessful": not report.interrupted,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [*unread, *open_points],
    }


def _notification(line: RefusalLine) -> Json:
    return {
        "level": "warning" if line.blocking else "note",
        "message": {"text": f"expected {line.expected}, found {line.found}"},
        "descriptor": {"id": line.kind},
        "locations": [{"physicalLocation": _place(line.path, line.start, line.end)}],
    }


def _result(finding: Finding, index: int, passed: str | None) -> Json:
    severity = Severity(finding.severity)
    result = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVEL[severity],
        "kind": "fail",
        "rank": _RANK[severity],
        "message": {"text": f"{finding.place}: {finding.message}" if finding.place else finding.message},
        "locations": [_first_location(finding)],
        "relatedLocations": [_location(exhibit) for exhibit in finding.exhibits[1:]],
        "suppressions": [] if passed is None else [{"kind": "external", "justification": passed}],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": {
            "id": finding.id,
            "severity": severity.label,
            "confidence": finding.confidence,
            "clusterId": finding.cluster_id,
            "topic": finding.topic,
            "partition": finding.partition,
            "brokers": list(finding.brokers),
            "startOffset": finding.start_offset,
            "endOffset": finding.end_offset,
        },
    }
    return {name: value for name, value in result.items() if value != []}


def _first_location(finding: Finding) -> Json:
    """Where it is shown first; the dump as a whole where no bytes show it, since code scanning asks for a place."""
    dump: Json = {"physicalLocation": {"artifactLocation": {"uri": ".", "uriBaseId": "DUMP"}}}
    found = _location(finding.exhibits[0]) if finding.exhibits else dump
    named = [{"fullyQualifiedName": finding.place, "kind": "resource"}] if finding.place else []
    return {**found, "logicalLocations": named} if named else found


def _location(exhibit: Exhibit) -> Json:
    span = exhibit.span
    return {"physicalLocation": _place(span.source, span.start, span.end), "message": {"text": exhibit.role}}


def _place(source: str, start: int, end: int) -> Json:
    """Paths are relative to the dump, so that a result is the same wherever the dump lies."""
    region: Json = {"byteOffset": start, "byteLength": max(end - start, 0)}
    return {"artifactLocation": {"uri": quote(source), "uriBaseId": "DUMP"}, "region": region}
