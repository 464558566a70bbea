"""The audit command: read, report, and end with the report's exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.engines.progress import Progress, Silent
from auditor.memory import remember
from auditor.report import json, terminal
from auditor.report.model import AuditReport

FORMATS = ("terminal", "json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the user asked for, beside what is audited."""

    dump: Path
    output_format: str
    output: Path | None
    quiet: bool
    verbose: bool


def run_audit(asked: Asked, config: AuditConfig) -> int:
    """Audit and tell; the exit code."""
    if asked.output_format not in FORMATS:
        message = f"--format: expected one of {', '.join(FORMATS)}, found {asked.output_format!r}"
        raise ConfigError(message)
    if asked.output is not None and asked.output.resolve().is_relative_to(asked.dump.resolve()):
        message = f"--output: {asked.output} lies inside the dump, which is never written into"
        raise ConfigError(message)
    report = _watched(asked, config)
    remember(json.render(report), asked.dump)
    _tell(report, asked)
    return report.exit_code


def _watched(asked: Asked, config: AuditConfig) -> AuditReport:
    stderr = Console(stderr=True)
    if asked.quiet or not stderr.is_terminal:
        return audit(asked.dump, config, Silent())
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bars(*columns, console=stderr, transient=True) as bars:
        return audit(asked.dump, config, _Shown(bars))


class _Shown(Progress):
    """Progress as a bar on stderr."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task = bars.add_task("reading", total=None)
        self._partitions = 0

    def total(self, total_bytes: int) -> None:
        self._bars.update(self._task, total=total_bytes)

    def advance(self, read_bytes: int) -> None:
        self._bars.advance(self._task, read_bytes)

    def partition(self, topic: str | None, partition: int | None) -> None:
        self._partitions += 1
        self._bars.update(self._task, description=f"{self._partitions} partitions, {topic}-{partition}")


def _tell(report: AuditReport, asked: Asked) -> None:
    if asked.output is None:
        _write(report, asked, Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 140))
        return
    try:
        with asked.output.open("w", encoding="utf-8") as file:
            _write(report, asked, Console(file=file, highlight=False, width=140))
    except OSError as error:
        message = f"--output: cannot write {asked.output}: {error.strerror}"
        raise ConfigError(message) from error


def _write(report: AuditReport, asked: Asked, console: Console) -> None:
    if asked.output_format == "json":
        console.file.write(json.render(report))
        return
    terminal.render(report, console, verbose=asked.verbose)
