"""The words of `tidemark timeline`: its options with their help, and its one call."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from auditor.cli_options import Dumps, Traces


def timeline(
    dump: Dumps,
    *,
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic, by its whole name.")],
    partition: Annotated[int, typer.Option("--partition", metavar="N", help="The partition.")],
    trace: Traces = None,
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

    text = drawn(dump, topic=topic, partition=partition, trace=trace or (), format=format, since=since, until=until)
    sys.stdout.write(text)
    sys.stdout.flush()
