"""CSV: one finding a row, for a spreadsheet; no cell of it is a formula."""

from __future__ import annotations

import csv
import io
from typing import Final

from auditor.report.model import AuditReport
from auditor.report.plain import plain
from rules.finding import Finding, Severity

COLUMNS: Final = (
    "id", "rule", "severity", "confidence", "verdict", "clusterId", "topic", "partition", "brokers", "startOffset",
    "endOffset", "message", "path", "start", "end",
)  # fmt: skip
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""With these a cell begins that a spreadsheet works out."""


def render(report: AuditReport) -> str:
    """A line of names, then a row a finding."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    rows.writerows(_row(finding) for finding in report.findings)
    return written.getvalue()


def _row(finding: Finding) -> list[str | int]:
    first = finding.exhibits[0].span if finding.exhibits else None
    cells = (
        finding.id,
        finding.rule,
        Severity(finding.severity).label,
        finding.confidence,
        finding.verdict,
        finding.cluster_id,
        finding.topic,
        finding.partition,
        " ".join(map(str, finding.brokers)),
        finding.start_offset,
        finding.end_offset,
        finding.message,
        *(("", "", "") if first is None else (first.source, first.start, first.end)),
    )
    return [_cell(value) for value in cells]


def _cell(value: str | int | None) -> str | int:
    """Numbers stay numbers; what looks like a formula gets an apostrophe, which spreadsheets take for text."""
    if value is None:
        return ""
    if isinstance(value, int):
        return value
    shown = plain(value)
    return f"'{shown}" if value.startswith(_FORMULA) or shown.startswith(_FORMULA) else shown
