"""The words of `tidemark find`: its options with their help, and its one call."""

from __future__ import annotations

from typing import Annotated

import typer

from auditor.cli.options import Dumps, LogDirs


def find(
    dump: Dumps,
    *,
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic, by its whole name.")],
    partition: Annotated[int, typer.Option("--partition", metavar="N", help="The partition.", min=0)],
    offset: Annotated[
        int | None, typer.Option("--offset", metavar="N", help="The offset to look up.", min=0)
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option("--timestamp", metavar="TIME", help="Or the first record from this time on: ms, or a date."),
    ] = None,
    broker: Annotated[int | None, typer.Option("--broker", metavar="N", help="Only on this broker's replica.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Tell every step of the lookup.")] = False,
    log_dir: LogDirs = None,
) -> None:
    """Look up an offset or a timestamp as a broker does, and say where its batch stands on every replica."""
    from auditor.find import Asked, run_find

    asked = Asked(
        dumps=dump,
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp=timestamp,
        broker=broker,
        log_dir=log_dir or (),
        explain=explain,
    )
    raise SystemExit(run_find(asked))
