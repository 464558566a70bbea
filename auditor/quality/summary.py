"""The report as text: a table for the terminal, Markdown and JSON for files. Nothing in it changes between two runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from auditor.document_fields import fields
from auditor.exit_codes import ExitCode
from auditor.quality.outcome import ExpectationResult, QualityReport, TableOutcome
from parsers.provenance import Span

SCHEMA_VERSION: Final = 1
SHOWN_ADDRESSES: Final = 3
_WORDS: Final[Mapping[ExitCode, str]] = {
    ExitCode.CLEAN: "every expectation is met",
    ExitCode.FINDINGS: "expectations failed",
    ExitCode.UNKNOWN: "not every expectation could be evaluated",
}


def terminal(report: QualityReport) -> str:
    """A line a table, then what failed and where."""
    rows = [_cells(table) for table in report.tables]
    heads = ("table", "rows", "expectations", "failed", "not evaluated")
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    lines = [_line(row, widths) for row in (heads, *rows)]
    return "\n".join([_WORDS[report.exit_code], "", *lines, "", *_unmet(report)]).rstrip() + "\n"


def markdown(report: QualityReport) -> str:
    """The same as a document."""
    lines = ["# Data quality", "", f"Dump `{report.dump}`: {_WORDS[report.exit_code]}.", ""]
    if report.topics:
        lines += [f"Only topics {', '.join(f'`{topic}`' for topic in report.topics)}.", ""]
    lines += ["| table | rows | expectations | failed | not evaluated |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {' | '.join(_cells(table))} |" for table in report.tables]
    for outcome in (*report.with_verdict("failed"), *report.with_verdict("not evaluated")):
        lines += ["", f"## {outcome.expected.name}", "", f"Expected: {outcome.expected.says}. {_came(outcome)}."]
        lines += [""] * bool(outcome.addresses) + [f"- `{_place(span)}`" for span in outcome.addresses]
    return "\n".join(lines) + "\n"


def as_json(report: QualityReport) -> str:
    """The same for programs."""
    content = {
        "schemaVersion": SCHEMA_VERSION,
        "dump": report.dump,
        "topics": list(report.topics),
        "exitCode": int(report.exit_code),
        "tables": [_table(table) for table in report.tables],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _table(table: TableOutcome) -> dict[str, object]:
    return {
        "table": table.table,
        "rows": table.rows,
        "expectations": [_expectation(outcome) for outcome in table.outcomes],
    }


def _expectation(outcome: ExpectationResult) -> dict[str, object]:
    row: dict[str, object] = {"name": outcome.expected.name, "verdict": outcome.verdict}
    if outcome.verdict == "met":
        return row
    return {**row, "says": outcome.expected.says, **fields(outcome, "unexpected reason addresses=evidence")}


def _cells(table: TableOutcome) -> tuple[str, ...]:
    counts = (len(table.outcomes), len(table.with_verdict("failed")), len(table.with_verdict("not evaluated")))
    return (table.table, str(table.rows), *(str(count) for count in counts))


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join((cells[0].ljust(widths[0]), *numbers))


def _unmet(report: QualityReport) -> Iterator[str]:
    for outcome in (*report.with_verdict("failed"), *report.with_verdict("not evaluated")):
        yield f"{outcome.expected.name}: expected that {outcome.expected.says}; {_came(outcome)}"
        yield from (f"  {_place(span)}" for span in outcome.addresses[:SHOWN_ADDRESSES])
        more = len(outcome.addresses) - SHOWN_ADDRESSES
        if more > 0:
            yield "  …"


def _came(outcome: ExpectationResult) -> str:
    if outcome.verdict == "not evaluated":
        return f"not evaluated: {outcome.reason}"
    if outcome.unexpected is None:
        return "it is not so"
    return "1 row is not so" if outcome.unexpected == 1 else f"{outcome.unexpected} rows are not so"


def _place(span: Span) -> str:
    return f"{span.source} [{span.start}, {span.end})"
