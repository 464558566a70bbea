"""The words of `tidemark timeline`: its options with their help, and its one call."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from auditor.cli.options import (
    ConfigFile,
    Dumps,
    Force,
    KafkaVersions,
    LogDirs,
    LogPatterns,
    LogTimezones,
    Output,
    Protocols,
    ShowSettings,
    Traces,
    whole_number,
)
from auditor.cli.run_settings import settings_of

TimelineFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="terminal (default), json, svg (a picture) or html (a page)."),
]
Unwatched = Annotated[bool | None, typer.Option("-q", "--quiet", help="Show no progress.")]
OwnProcess = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="As other commands take it. One partition is read in this process, whichever is named.",
    ),
]
AS_SETTINGS: Final = (
    "engine", "quiet", "trace", "log_pattern", "log_timezone", "log_dir", "kafka_version", "inter_broker_protocol",
    "format", "output", "force", "config", "show_settings",
)  # fmt: skip


def timeline(  # noqa: PLR0913 - one parameter an option
    dump: Dumps,
    *,
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic, by its whole name.")],
    partition: Annotated[int, typer.Option("--partition", metavar="N", help="The partition.", parser=whole_number)],
    engine: OwnProcess = None,
    quiet: Unwatched = None,
    trace: Traces = None,
    log_pattern: LogPatterns = None,
    log_timezone: LogTimezones = None,
    log_dir: LogDirs = None,
    kafka_version: KafkaVersions = None,
    inter_broker_protocol: Protocols = None,
    format: TimelineFormat = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = None,
    config: ConfigFile = None,
    show_settings: ShowSettings = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Only events from this time on, as the column `time` has it."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="Only events up to this time, as the column `time` has it."),
    ] = None,
    offsets: Annotated[
        str | None,
        typer.Option("--offsets", metavar="FIRST-LAST", help="Only events that concern these offsets, as in 100-149."),
    ] = None,
) -> None:
    """Draw one partition's history: what each replica must have held beside what was told, one row an event."""
    given = {name: value for name, value in locals().items() if name in AS_SETTINGS}
    from auditor.timeline import Excerpt, run_timeline

    asked = Excerpt(topic=topic, partition=partition, since=since, until=until, offsets=offsets)
    run_timeline(dump, settings_of(given), asked)
