"""The audit command: read, remember, tell, and end with the report's exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from auditor.apply_policy import require_baseline
from auditor.archives import at_hand
from auditor.audit import audit
from auditor.config import AuditConfig, merge
from auditor.dumps import DumpParts, gather
from auditor.memory import remember
from auditor.outlet import (
    TO_STDOUT,
    deliver,
    deliver_to,
    require_one_of,
    require_reports,
    require_writable,
    terminal_width,
)
from auditor.progress_bar import watched
from auditor.report import json, terminal
from auditor.report.formats import TERMINAL, rendered
from auditor.report.model import AuditReport
from auditor.start_up import spare_pandas

PIPED_COLUMNS = 100
"""Width of a report that no terminal shows: what cannot be wrapped is longer."""


def run_audit(dumps: Sequence[Path], config: AuditConfig) -> int:
    """Audit and tell; the exit code."""
    require_reports(config)
    require_baseline(config)
    with at_hand(dumps, quiet=config.quiet) as here:
        return _audit_and_tell(here.folders, gather(here.folders, here.archives), config)


def _audit_and_tell(folders: Sequence[Path], dump: DumpParts, config: AuditConfig) -> int:
    if config.engine == "local":
        spare_pandas()
    require_writable(config, dump)
    with watched(quiet=config.quiet) as progress:
        report = audit(folders, config, progress)
    remember(json.document(report), dump)
    for name, file in config.written_formats:
        deliver_to(_rendered(name, report, config), file, config.named("format"), config)
    deliver(_on_screen(report, config), config)
    return report.exit_code


def run_postmortem(dumps: Sequence[Path], config: AuditConfig) -> int:
    """The same for the incident report, which is told in one place."""
    require_one_of(config, ("postmortem", "html"))
    if config.shown_format == "html":
        asked = config.named("format")
        config = merge(config, {"format": ("postmortem-html",)}, lambda _: asked)
    return run_audit(dumps, config)


def _on_screen(report: AuditReport, config: AuditConfig) -> str:
    """As the reader takes it: a terminal has colours and a width of its own."""
    if config.output == TO_STDOUT:
        columns = terminal_width(config) or PIPED_COLUMNS
        return _rendered(config.shown_format, report, config, columns=columns, colour=_colour())
    return _rendered(config.shown_format, report, config)


def _rendered(
    name: str, report: AuditReport, config: AuditConfig, *, columns: int = PIPED_COLUMNS, colour: bool = False
) -> str:
    if name != TERMINAL:
        return rendered(name, report, whole=config.verbose)
    return terminal.render(report, columns=columns, colour=colour, verbose=config.verbose, quiet=config.quiet)


def _colour() -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")
    return wanted and sys.stdout.isatty()
