"""A comparison as a JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from auditor.diff.compare import Comparison
from auditor.diff.side import ComparedReport, ToldFinding

FORMAT: Final = "tidemark-diff/1"
Json = dict[str, object]


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
                "changes": [{"field": c.field, "before": c.before, "after": c.after} for c in each.changes],
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
        "name": side.name,
        "version": side.version,
        "level": side.level,
        "verdict": side.verdict,
        "exitCode": side.exit_code,
        "interrupted": side.interrupted,
        "violated": sum(finding.verdict == "violated" for finding in side.findings.values()),
        "undecided": sum(finding.verdict == "undecided" for finding in side.findings.values()),
        "coverage": {**side.counts, "ratio": side.ratio, "kinds": list(side.kinds)},
    }


def _finding(finding: ToldFinding) -> Json:
    return {
        "id": finding.id,
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "verdict": finding.verdict,
        "severity": finding.severity.label,
        "topic": finding.topic,
        "partition": finding.partition,
        "brokers": list(finding.brokers),
        "message": finding.message,
    }
