"""The audit command: read, remember, tell, and end with the report's exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import Dump, gather
from auditor.memory import remember
from auditor.progress_bar import watched
from auditor.report import json, postmortem, terminal
from auditor.report.model import AuditReport
from auditor.start_up import spare_pandas

PIPED_COLUMNS = 100
"""Width of a report that no terminal shows: what cannot be wrapped is longer."""
TO_STDOUT = "-"


def run_audit(dumps: Sequence[Path], config: AuditConfig) -> int:
    """Audit and tell; the exit code."""
    dump = gather(dumps)
    if config.engine == "local":
        spare_pandas()
    if config.output != TO_STDOUT:
        _require_writable(Path(config.output), dump)
    with watched(quiet=config.quiet) as progress:
        report = audit(dumps, config, progress)
    remember(json.render(report), dump)
    _tell(report, config)
    return report.exit_code


def _require_writable(output: Path, dump: Dump) -> None:
    """Asked before the audit, so that a long run does not end in nothing."""
    if dump.holds(output):
        raise ConfigError(f"--output: {output} lies inside the dump, which is never written into")
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise ConfigError(f"--output: {output}: expected a file in a folder that exists")


def _tell(report: AuditReport, config: AuditConfig) -> None:
    if config.output == TO_STDOUT:
        _print(_render(report, config, columns=_columns(), colour=_colour()))
        return
    text = _render(report, config, columns=PIPED_COLUMNS, colour=False)
    try:
        Path(config.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--output: cannot write {config.output}: {error.strerror}") from error


def _render(report: AuditReport, config: AuditConfig, *, columns: int, colour: bool) -> str:
    if config.format == "json":
        return json.render(report)
    if config.format == "postmortem":
        return postmortem.render(report)
    return terminal.render(report, columns=columns, colour=colour, verbose=config.verbose, quiet=config.quiet)


def _print(text: str) -> None:
    """To a reader who may go away in the middle: the verdict stands, whoever stops listening."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _colour() -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")
    return wanted and sys.stdout.isatty()


def _columns() -> int:
    return shutil.get_terminal_size((PIPED_COLUMNS, 24)).columns if sys.stdout.isatty() else PIPED_COLUMNS
