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
    from auditor.config import AuditConfig, as_variable, environment, merge, read_config

    file = config or (Path(named) if (named := os.environ.get("TIDEMARK_CONFIG")) else None)
    settings = AuditConfig()
    if file is not None:
        settings = merge(settings, read_config(file), lambda name: f"{file}: {name.replace('_', '-')}")
    settings = merge(settings, environment(os.environ), as_variable)
    settings = merge(settings, {name: value for name, value in given.items() if value not in (None, [], ())})
    if not settings.quiet:
        for text in settings.kafka_version:
            _say_if_unknown(text)
    return settings


def _say_if_unknown(text: str) -> None:
    """A release newer than any known here is taken as it is given, but may be a slip of the pen."""
    from rules.protocol.versions import METADATA_VERSIONS, parse_kafka_version

    newest = parse_kafka_version(METADATA_VERSIONS[-1].partition("-")[0])
    told = parse_kafka_version(text.rpartition("=")[2])
    if told is not None and newest is not None and told.release[:2] > newest.release[:2]:
        known = ".".join(map(str, newest.release[:2]))
        typer.echo(
            f"tidemark: --kafka-version {plain(text)}: newer than {known}, the newest release known here, by whose"
            " rules it is judged",
            err=True,
        )
