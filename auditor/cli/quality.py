"""The words of `tidemark quality`: its options with their help, and its one call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.cli.options import Dumps, LogDirs, Topics


def quality(
    dump: Dumps,
    *,
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Folder for the pages and the summary.")
    ] = Path("tidemark-quality"),
    topic: Topics = None,
    log_dir: LogDirs = None,
) -> None:
    """Hold every table of a dump against what its columns promise: types, ranges, keys, addresses, checksums."""
    from auditor.quality.run import Asked, run_quality

    raise SystemExit(run_quality(Asked(dumps=dump, output=output, topic=topic or (), log_dir=log_dir or ())))
