"""The words of `tidemark find`: its options with their help, and its one call."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from auditor.cli.options import ConfigFile, Dumps, LogDirs, ShowSettings, whole_number
from auditor.cli.run_settings import settings_of

HEEDED: Final = ("topic", "partition", "log_dir")


def find(  # noqa: PLR0913 - one parameter an option
    dump: Dumps,
    *,
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic, by its whole name.")],
    partition: Annotated[int, typer.Option("--partition", metavar="N", help="The partition.", parser=whole_number)],
    offset: Annotated[
        int | None, typer.Option("--offset", metavar="N", help="The offset to look up.", parser=whole_number)
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option("--timestamp", metavar="TIME", help="Or the first record from this time on: ms, or a date."),
    ] = None,
    broker: Annotated[
        int | None,
        typer.Option("--broker", metavar="N", help="Only on this broker's replica.", parser=whole_number),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Tell every step of the lookup.")] = False,
    log_dir: LogDirs = None,
    config: ConfigFile = None,
    show_settings: ShowSettings = None,
) -> None:
    """Look up an offset or a timestamp as a broker does, and say where its batch stands on every replica."""
    from auditor.find import Sought, run_find

    asked = Sought(
        dumps=dump,
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp=timestamp,
        broker=broker,
        explain=explain,
    )
    place = {} if show_settings and None in (topic, partition) else {"topic": (topic,), "partition": (partition,)}
    given = {**place, "log_dir": log_dir, "config": config, "show_settings": show_settings}
    decided = {"exclude_topic": ()}
    raise SystemExit(run_find(asked, settings_of(given, decided, HEEDED)))
