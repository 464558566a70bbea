"""What flags, variables and the file say together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from auditor.report.plain import plain

if TYPE_CHECKING:
    from auditor.config import AuditConfig


def settings_of(given: Mapping[str, object], config: Path | None) -> AuditConfig:
    """The settings of a run: a flag outranks the variable, the variable the file."""
    from auditor.config import AuditConfig, as_variable, environment, merge, newer_than_known, read_config

    file = config or (Path(named) if (named := os.environ.get("TIDEMARK_CONFIG")) else None)
    settings = AuditConfig()
    if file is not None:
        settings = merge(settings, read_config(file), lambda name: f"{file}: {name.replace('_', '-')}")
    settings = merge(settings, environment(os.environ), as_variable)
    settings = merge(settings, {name: value for name, value in given.items() if value not in (None, [], ())})
    if not settings.quiet:
        for remark in newer_than_known(settings):
            typer.echo(f"tidemark: {plain(remark)}", err=True)
    return settings
