"""Pages that need nothing but themselves: no script, no font, no picture from any network."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Final

from auditor.quality.outcome import ExpectationResult, QualityReport, TableOutcome

# The browser itself then refuses whatever a page might still ask of a network.
_HEAD: Final = """<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<style>
body { font-family: system-ui, sans-serif; margin: 1.5rem; line-height: 1.4; }
table { border-collapse: collapse; margin: .5rem 0 1rem; }
td, th { border: 1px solid #ccc; padding: .25rem .6rem; text-align: left; vertical-align: top; }
.fa-check-circle::before, .fa-check::before { content: "\\2713"; color: #2a7a2a; }
.fa-times::before, .fa-times-circle::before { content: "\\2717"; color: #b00020; }
.fa-exclamation-triangle::before { content: "!"; color: #b00020; }
.badge { border: 1px solid #999; border-radius: .3rem; padding: 0 .3rem; font-family: monospace; }
button, label.btn, [data-toggle="collapse"], .card:has(.btn-group) { display: none; }
</style>
"""
_SCRIPT: Final = re.compile(r"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
_SHEET: Final = re.compile(r"<link\b[^>]*\bhref=\"https?:[^>]*>", re.IGNORECASE)
_PICTURE: Final = re.compile(r"<img\b[^>]*\bsrc=\"https?:[^>]*>", re.DOTALL | re.IGNORECASE)
_BACKGROUND: Final = re.compile(r"url\(\s*['\"]?https?:[^)]*\)", re.IGNORECASE)
_FAILED_HEAD: Final = """<h2>What is not met</h2>
<table><tr><th>expectation</th><th>expected</th><th>rows</th><th>first places</th></tr>
"""
_FOOTER: Final = re.compile(r"<footer\b.*?</footer\s*>", re.DOTALL | re.IGNORECASE)


def standing_alone(page: str) -> str:
    """A page without anything that it would fetch or run."""
    for asked in (_SCRIPT, _SHEET, _PICTURE, _FOOTER):
        page = asked.sub("", page)
    page = _BACKGROUND.sub("none", page)
    return page.replace("</head>", f"{_HEAD}</head>", 1)


def index_page(folder: Path, report: QualityReport) -> str:
    """The page to open first: every table with links to its pages in the folder, and where something failed."""
    tables = "\n".join(_table_row(folder, table) for table in report.tables)
    open_or_failed = (*report.with_verdict("failed"), *report.with_verdict("not evaluated"))
    failed = "\n".join(map(_failed_row, open_or_failed))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="UTF-8"><title>Data quality of {escape(report.dump)}</title>
{_HEAD}</head><body>
<h1>Data quality of {escape(report.dump)}</h1>
<table><tr><th>table</th><th>rows</th><th>expectations</th><th>failed</th><th>pages</th></tr>
{tables}
</table>
{_FAILED_HEAD + failed + "</table>" if failed else "<p>Every expectation is met.</p>"}
</body></html>
"""


def _table_row(folder: Path, table: TableOutcome) -> str:
    cells = (table.table, table.rows, len(table.outcomes), len(table.with_verdict("failed")))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}<td>{_links(folder, table.table)}</td></tr>"


def _failed_row(outcome: ExpectationResult) -> str:
    """Addresses instead of values: those may be what people stored."""
    places = "<br>".join(f"{escape(span.source)} [{span.start}, {span.end})" for span in outcome.addresses)
    count = outcome.verdict if outcome.unexpected is None else outcome.unexpected
    name, says = escape(outcome.expected.name), escape(outcome.expected.says)
    return f"<tr><td>{name}</td><td>{says}</td><td>{count}</td><td>{places}</td></tr>"


def _links(folder: Path, table: str) -> str:
    """The table's suite, its validation, and where something failed the one that counts."""
    named = (
        ("suite", "expectations", f"{table}.html"),
        ("validation", f"validations/{table}", "**/*.html"),
        ("what failed, with counts", f"validations/{table}-failed", "**/*.html"),
    )
    return ", ".join(
        f'<a href="{escape(page.relative_to(folder).as_posix())}">{words}</a>'
        for words, part, pattern in named
        for page in sorted((folder / part).glob(pattern))
    )
