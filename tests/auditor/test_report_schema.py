"""The JSON documents are the contract: every sample's keep the published schemas, and the schemas say all of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # published without types
import pytest
from dumps_at_hand import ROOT, SAMPLES, audited, copied

from auditor.report.advice.advice_json import document
from auditor.report.json import render
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_short, report_on

pytestmark = pytest.mark.slow

SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
ADVICE: dict[str, Any] = json.loads((ROOT / "docs/advice.schema.json").read_text(encoding="utf-8"))
CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))
PROMISED = {
    "findings": "id fingerprint rule severity confidence verdict topic topicId partition brokers startOffset endOffset"
    " message evidence facts impliedBy",
    "replicas": "topic partition broker logDir logStartOffset logEndOffset highWatermarkOnDisk expectedHighWatermark"
    " epochs verdict",
}


@cache
def report_of(case: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render(report_on(case)))
    return document


def subschemas(schema: dict[str, Any], path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from subschemas(inner, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key], f"{path}[]")


@pytest.mark.parametrize("schema", [SCHEMA, ADVICE], ids=["report", "advice"])
def test_the_schema_is_one(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("path", "schema"),
    [*subschemas(SCHEMA), *subschemas(ADVICE, "advice")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_field_is_described_and_no_other_is_let_in(path: str, schema: dict[str, Any]) -> None:
    assert len(schema["description"]) > 5, path
    if "object" in schema["type"] and "properties" in schema:
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_a_samples_report_keeps_the_schema(case: Path) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(report_of(case))


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_a_samples_advice_keeps_its_schema(case: Path) -> None:
    advice = json.loads(document(report_on(case).advice))
    jsonschema.Draft202012Validator(ADVICE).validate(advice)


def test_advice_with_a_candidate_of_nothing_does_not() -> None:
    given = report_on(SAMPLES / "unclean_rejoined").advice
    advice = json.loads(document(given))
    assert advice["partitions"]
    stripped = {**advice, "partitions": [{**advice["partitions"][0], "candidates": [{}]}]}
    assert not jsonschema.Draft202012Validator(ADVICE).is_valid(stripped)


def test_a_report_with_an_unknown_or_a_missing_field_does_not() -> None:
    report = report_of(SAMPLES / "fast_failover_kip101")
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert not validator.is_valid({**report, "madeAt": "2026-01-01"})
    assert not validator.is_valid({name: value for name, value in report.items() if name != "exitCode"})
    assert not validator.is_valid({**report, "replicas": [{**report["replicas"][0], "logEndOffset": "20"}]})


@pytest.mark.parametrize("part", PROMISED)
def test_the_fields_that_others_build_on_are_there(part: str) -> None:
    for entry in report_of(SAMPLES / "fast_failover_kip101")[part]:
        assert set(PROMISED[part].split()) <= set(entry)


@pytest.mark.parametrize("case", fast_if(is_short, CASES), ids=lambda case: case.name)
def test_ids_are_unique_beginnings_of_fingerprints(case: Path) -> None:
    findings = report_of(case)["findings"]
    assert len({finding["id"] for finding in findings}) == len(findings)
    assert all(finding["fingerprint"].startswith(finding["id"].removeprefix("F-")) for finding in findings)
    known = {finding["id"] for finding in findings}
    assert all(set(incident["findings"]) <= known for incident in report_of(case)["incidents"])


def test_a_report_is_the_same_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = SAMPLES / "fast_failover_kip101" / "dump"
    from_here = render(audited(dump))
    moved = copied("fast_failover_kip101", tmp_path / "elsewhere" / "copy", logs=True)
    monkeypatch.chdir(moved.parent)
    assert render(audited(Path("copy"))) == from_here
    assert render(audited(moved)) == from_here
    assert str(tmp_path) not in from_here


def test_a_report_does_not_depend_on_the_order_of_directory_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    dump = SAMPLES / "recreated_topic" / "dump"
    usual = render(audited(dump))
    listed: Callable[..., Any] = os.scandir

    class Reversed:
        def __init__(self, path: object) -> None:
            with listed(path) as entries:
                self.entries = list(entries)[::-1]

        def __enter__(self) -> Iterator[Any]:
            return iter(self.entries)

        def __exit__(self, *raised: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Reversed)
    assert render(audited(dump)) == usual
