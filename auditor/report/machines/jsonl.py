"""JSON lines: each finding, incident, replica, question and refusal a document of its own, the verdict last."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from auditor.report.json import document
from auditor.report.model import AuditReport

_LISTS: Final = {
    "findings": "finding",
    "incidents": "incident",
    "replicas": "replica",
    "counterfactuals": "counterfactual",
    "histories": "history",
    "availability": "availability",
    "refusals": "refusal",
}
"""What the JSON report lists, and what one of each is called."""


def render(report: AuditReport) -> str:
    """One line for each thing; `kind` says what it is."""
    return "".join(f"{json.dumps(line, ensure_ascii=True)}\n" for line in _lines(document(report)))


def _lines(whole: dict[str, object]) -> Iterator[dict[str, object]]:
    for name, kind in _LISTS.items():
        listed = whole.pop(name)
        for item in listed if isinstance(listed, list) else ():
            yield {"kind": kind, **item}
    coverage = whole["coverage"]
    questions = coverage.pop("undecided") if isinstance(coverage, dict) else []
    for question in questions:
        yield {"kind": "undecided", **question}
    yield {"kind": "verdict", **whole}
