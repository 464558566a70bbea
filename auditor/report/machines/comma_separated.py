"""CSV: one finding a row, for a spreadsheet; no cell of it is a formula."""

from __future__ import annotations

import csv
import io
from typing import Final

from auditor.report.json import exhibit_document, finding_document
from auditor.report.model import AuditReport
from auditor.report.plain import plain
from rules.finding import Finding

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
    document = finding_document(finding) | {"brokers": " ".join(map(str, finding.brokers))}
    for first in finding.exhibits[:1]:
        document |= exhibit_document(first)
    return [_cell(document.get(name)) for name in COLUMNS]


def _cell(value: object) -> str | int:
    """Numbers stay numbers; what looks like a formula gets an apostrophe, which spreadsheets take for text."""
    if isinstance(value, int):
        return value
    text = "" if value is None else str(value)
    shown = plain(text)
    return f"'{shown}" if text.startswith(_FORMULA) or shown.startswith(_FORMULA) else shown
