"""A comparison as a JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from auditor.diff.compare import Comparison
from auditor.diff.side import ComparedReport, ToldFinding
from auditor.document_fields import Json, fields

FORMAT: Final = "tidemark-diff/1"


def diff_document(found: Comparison, code: int, why: Sequence[str]) -> str:
    """The document, always the same for the same two reports."""
    document: Json = {
        "format": FORMAT,
        "before": _side(found.before),
        "after": _side(found.after),
        "new": [{**_finding(new.finding), "insteadOf": new.instead_of} for new in found.new],
        "changed": [
            {
                **_finding(each.after),
                "changes": [fields(change) for change in each.changes],
            }
            for each in found.changed
        ],
        "fixed": [_finding(finding) for finding in found.fixed],
        "untold": [{**_finding(each.finding), "because": each.because} for each in found.untold],
        "same": found.same,
        "exitCode": code,
        "because": list(why),
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _side(side: ComparedReport) -> Json:
    return {
        **fields(side, "name version level verdict exit_code interrupted"),
        "violated": sum(finding.verdict == "violated" for finding in side.findings.values()),
        "undecided": sum(finding.verdict == "undecided" for finding in side.findings.values()),
        "coverage": {**side.counts, "ratio": side.ratio, "kinds": list(side.kinds)},
    }


def _finding(finding: ToldFinding) -> Json:
    return {
        **fields(finding, "id fingerprint rule verdict"),
        "severity": finding.severity.label,
        **fields(finding, "topic partition brokers message"),
    }
