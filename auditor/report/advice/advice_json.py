"""Advice as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from msgspec import to_builtins

from auditor.document_fields import Json, camel, fields
from auditor.report.advice.advice_files import election, may_follow, reassignment
from auditor.report.advice.advice_text import fading, settled
from auditor.report.model import AbsentLogs, PlacedAdvice, UndecidedLine
from auditor.report.named_places import PLACES_TOLD, listed
from auditor.report.summary import Action

SCHEMA_VERSION: Final = 1


def document(
    advice: Sequence[PlacedAdvice],
    *,
    verdict: str = "findings",
    interrupted: bool = False,
    absent: Sequence[AbsentLogs] = (),
    untold: Sequence[UndecidedLine] = (),
    perhaps: Sequence[str] = (),
    steps: Sequence[Action] = (),
) -> str:
    """The advice on every partition as one document."""
    whole = {
        "schemaVersion": SCHEMA_VERSION,
        "verdict": verdict,
        "interrupted": interrupted,
        "absentLogs": [fields(logs) for logs in absent],
        "untold": [
            {**fields(point, "reason missing partitions"), "places": listed(point.places[:PLACES_TOLD])}
            for point in untold
        ],
        "perhapsLost": list(perhaps),
        "steps": [
            {"kind": step.kind, "words": step.text, "places": listed([aim.place for aim in step.aims])}
            for step in steps
        ],
        "partitions": [_document(placed) for placed in advice],
    }
    return json.dumps(whole, indent=2, ensure_ascii=True) + "\n"


def _document(placed: PlacedAdvice) -> Json:
    advice = _camel_keys(to_builtins(placed.advice))
    files = [
        {"broker": candidate.broker, "reassignment": reassignment(placed, candidate.broker)}
        for candidate in placed.advice.candidates
        if may_follow(placed.advice, candidate.broker)
    ]
    copies = [_camel_keys(to_builtins(copy)) for loss in placed.losses for copy in fading(loss)]
    return {
        **fields(placed, "cluster_id topic partition"),
        **(advice if isinstance(advice, dict) else {}),
        "nothingToDo": settled(placed),
        "copyNow": copies,
        "election": election(placed),
        "reassignments": files,
    }


def _camel_keys(value: object) -> object:
    if isinstance(value, dict):
        return {camel(str(key)): _camel_keys(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_camel_keys(inner) for inner in value]
    return value
