"""What is expected of the tables, and how a run of it ends: without Spark and without Great Expectations."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from auditor.exit_codes import ExitCode
from auditor.quality.outcome import ExpectationResult, QualityReport, TableOutcome, Verdict
from auditor.quality.pages import index_page, standing_alone
from auditor.quality.plan import QUALITY_TABLES, Expected, natural_key, plan_quality, plan_table
from auditor.quality.summary import as_json, markdown, terminal
from parsers.provenance import Span
from parsers.tables import TABLES, Column, columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Tide:
    level: Annotated[int, Column("Height of the water.", "int32", minimum=-5, maximum=9)]
    phase: Annotated[Literal["ebb", "flood"] | None, Column("Where it goes.", "string")]
    source: Annotated[str, Column("File.", "string")]
    span_start: Annotated[int, Column("First byte.", "int64", minimum=0)]
    span_end: Annotated[int, Column("First byte after it.", "int64")]


def expected_of(row_class: type, table: str = "tides") -> dict[str, Expected]:
    return {one.name: one for one in plan_table(table, row_class).expected}


def test_a_column_says_what_is_expected_of_it() -> None:
    plan = expected_of(Tide)
    assert [name for name in plan if name.startswith("tides.level.")] == [
        "tides.level.exists", "tides.level.type", "tides.level.not_null", "tides.level.range",
    ]  # fmt: skip
    assert plan["tides.level.type"].type == "IntegerType"
    assert (plan["tides.level.range"].minimum, plan["tides.level.range"].maximum) == (-5, 9)
    assert (plan["tides.span_start.range"].minimum, plan["tides.span_start.range"].maximum) == (0, None)


def test_a_literal_allows_its_values_and_an_optional_column_nulls() -> None:
    plan = expected_of(Tide)
    assert plan["tides.phase.allowed"].values == ("ebb", "flood")
    assert "tides.phase.not_null" not in plan
    assert "tides.source.allowed" not in plan


def test_rows_have_addresses_of_their_own_inside_known_files() -> None:
    plan = expected_of(Tide)
    of_rows = {name.removeprefix("tides.") for name in plan if name.count(".") == 1}
    assert of_rows == {"natural_key", "span_has_bytes", "span_inside_source", "source_known"}
    assert plan["tides.natural_key"].maximum == 1
    assert natural_key("tides") == ("source", "span_start")
    assert plan["tides.span_has_bytes"].minimum == 1


def test_a_new_column_brings_its_expectations() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Wider(Tide):
        moon: Annotated[int, Column("Age of the moon.", "int8", minimum=0)]

    added = expected_of(Wider).keys() - expected_of(Tide).keys()
    assert added == {f"tides.moon.{what}" for what in ("exists", "type", "not_null", "range")}
    assert expected_of(Wider)["tides.moon.type"].type == "ByteType"


@pytest.mark.parametrize("table", QUALITY_TABLES)
def test_every_column_of_a_table_is_expected_with_its_type(table: str) -> None:
    plan = expected_of(TABLES[table], table)
    names = [column.name for column in columns(TABLES[table])]
    assert set(names) == set(TABLES[table].__struct_fields__)
    for what in ("exists", "type"):
        assert [name.split(".")[1] for name in plan if name.endswith(f".{what}")] == names
    never_null = {column.name for column in columns(TABLES[table]) if not column.nullable}
    assert {name.split(".")[1] for name in plan if name.endswith(".not_null")} == never_null


def test_every_name_is_used_once() -> None:
    names = [one.name for plan in plan_quality() for one in plan.expected]
    assert len(names) == len(set(names))
    assert {"batches.checksum_holds", "refusals.no_damage", "refusals.none_malformed"} <= set(names)


def test_what_may_be_empty_may_be_empty() -> None:
    for table in ("sources", "refusals"):
        assert f"{table}.span_ordered" in expected_of(TABLES[table], table)
        assert f"{table}.span_has_bytes" not in expected_of(TABLES[table], table)


# --- how it ends ----------------------------------------------------------------------------------------------------


def report(*verdicts: Verdict) -> QualityReport:
    expected = expected_of(Tide)["tides.level.range"]
    where = Span(source="a<b>/data", start=3, end=5)
    detail = {
        "met": ExpectationResult(expected=expected, verdict="met"),
        "failed": ExpectationResult(expected=expected, verdict="failed", unexpected=4, addresses=(where,) * 4),
        "not evaluated": ExpectationResult(expected=expected, verdict="not evaluated", reason="no such column"),
    }
    outcomes = tuple(detail[verdict] for verdict in verdicts)
    return QualityReport(dump="d&d", topics=(), tables=(TableOutcome(table="tides", rows=7, outcomes=outcomes),))


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (("met", "met"), ExitCode.CLEAN),
        (("met", "failed"), ExitCode.FINDINGS),
        (("failed", "not evaluated"), ExitCode.FINDINGS),
        (("met", "not evaluated"), ExitCode.UNKNOWN),
    ],
)
def test_the_exit_code_follows_the_table(verdicts: tuple[Verdict, ...], code: ExitCode) -> None:
    found = report(*verdicts)
    assert found.exit_code is code
    assert json.loads(as_json(found))["exitCode"] == code


def test_the_terminal_names_what_failed_and_where() -> None:
    text = terminal(report("met", "failed"))
    assert re.search(r"^tides +7 +2 +1 +0$", text, flags=re.MULTILINE)
    assert "tides.level.range: expected that level is at least -5 and at most 9; 4 rows are not so" in text
    assert text.count("a<b>/data [3, 5)") == 3
    assert text.endswith("  …\n")


def test_the_document_has_every_address_and_the_reason_of_what_is_open() -> None:
    text = markdown(report("failed", "not evaluated"))
    assert text.count("- `a<b>/data [3, 5)`") == 4
    assert "not evaluated: no such column." in text


def test_json_names_every_expectation_and_details_what_is_not_met() -> None:
    (table,) = json.loads(as_json(report("met", "failed")))["tables"]
    met, failed = table["expectations"]
    assert met == {"name": "tides.level.range", "verdict": "met"}
    assert (failed["unexpected"], failed["evidence"][0]) == (4, {"path": "a<b>/data", "start": 3, "end": 5})


def test_a_page_fetches_and_runs_nothing() -> None:
    page = """<html><head><link rel="stylesheet" href="https://cdn/x.css"/><style>a{background: url('https://c/x.png')}
    </style><script src="https://cdn/x.js"></script></head><body><img
    src="https://c/logo.png"><script>
    run()</script><a href="https://c">kept</a><b>text</b><footer>news</footer></body></html>"""
    alone = standing_alone(page)
    assert not re.search(r"<script|<img|<footer|url\(|<link", alone)
    assert "default-src 'none'" in alone
    assert '<a href="https://c">kept</a><b>text</b>' in alone


def test_the_index_links_what_was_written_and_escapes_what_was_found(tmp_path: Path) -> None:
    page = tmp_path / "validations" / "tides" / "run" / "now" / "x.html"
    page.parent.mkdir(parents=True)
    page.touch()
    index = index_page(tmp_path, report("failed"))
    assert 'href="validations/tides/run/now/x.html"' in index
    assert "a&lt;b&gt;/data [3, 5)" in index
    assert "a<b>" not in index
    assert "d&amp;d" in index
