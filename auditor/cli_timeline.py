"""The words of `tidemark timeline`: its options with their help, and its one call."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from auditor.cli_options import ConfigFile, Dumps, LogPatterns, LogTimezones, Traces
from auditor.cli_settings import settings_of


def timeline(  # noqa: PLR0913 - one parameter an option
    dump: Dumps,
    *,
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic, by its whole name.")],
    partition: Annotated[int, typer.Option("--partition", metavar="N", help="The partition.")],
    trace: Traces = None,
    log_pattern: LogPatterns = None,
    log_timezone: LogTimezones = None,
    config: ConfigFile = None,
    format: Annotated[  # noqa: A002 - the option's name
        str, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")
    ] = "terminal",
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Only events from this time of the reference clock on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Only events up to this time of the reference clock.")
    ] = None,
) -> None:
    """Draw one partition's history: what each replica must have held beside what was told, one row an event."""
    from auditor.timeline import timeline as drawn

    given = settings_of({"trace": trace, "log_pattern": log_pattern, "log_timezone": log_timezone}, config)
    text = drawn(dump, topic=topic, partition=partition, config=given, format=format, since=since, until=until)
    sys.stdout.write(text)
    sys.stdout.flush()
