"""The formats of a report: what each is called, what it is for, and which file names promise it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from auditor.report.model import AuditReport


class ReportFormat(Struct, frozen=True, kw_only=True):
    """One way of telling a report."""

    module: str
    """Where it is rendered; loaded when somebody asks for it."""
    says: str
    endings: tuple[str, ...] = ()
    """Names of files that promise this format."""
    has_appendix: bool = False
    """Whether there is more of it for those who ask for all."""


TERMINAL: Final = "terminal"
FORMATS: Final[dict[str, ReportFormat]] = {
    TERMINAL: ReportFormat(module="auditor.report.terminal", says="text for people"),
    "json": ReportFormat(module="auditor.report.json", says="the whole report", endings=(".json",)),
    "jsonl": ReportFormat(
        module="auditor.report.machines.jsonl", says="the same, one thing a line", endings=(".jsonl", ".ndjson")
    ),
    "csv": ReportFormat(
        module="auditor.report.machines.comma_separated", says="findings for a spreadsheet", endings=(".csv",)
    ),
    "sarif": ReportFormat(module="auditor.report.machines.sarif", says="for code scanning", endings=(".sarif",)),
    "junit": ReportFormat(module="auditor.report.machines.junit", says="for CI servers", endings=(".xml",)),
    "openmetrics": ReportFormat(
        module="auditor.report.machines.openmetrics", says="for Prometheus' textfile collector", endings=(".prom",)
    ),
    "github": ReportFormat(module="auditor.report.machines.github", says="annotations of a GitHub step"),
    "postmortem": ReportFormat(
        module="auditor.report.postmortem.document", says="the incident report", has_appendix=True
    ),
    "html": ReportFormat(
        module="auditor.report.html.page", says="one page with pictures, for a browser", endings=(".html", ".htm")
    ),
    "postmortem-html": ReportFormat(
        module="auditor.report.html.incident_page", says="the incident report as a page", endings=(".html", ".htm")
    ),
}
PICTURE: Final = "svg"
"""A drawing of one partition, which no report is."""
PROMISING: Final = frozenset(end for each in FORMATS.values() for end in each.endings) | {".svg"}
"""Ends of files' names that promise something to those who open them."""


def keeps_promise(ending: str, name: str) -> bool:
    """Whether a file whose name ends so may hold this format."""
    own = (".svg",) if name == PICTURE else FORMATS[name].endings
    return ending not in PROMISING or ending in own


def rendered(name: str, report: AuditReport, *, whole: bool = False) -> str:
    """The report in a format that is the same for every reader; a terminal has a width of its own."""
    chosen = FORMATS[name]
    render = cast("Callable[..., str]", import_module(chosen.module).render)
    return render(report, appendix=whole) if chosen.has_appendix else render(report)
