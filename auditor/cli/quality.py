"""The words of `tidemark quality`: its options with their help, and its one call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from auditor.cli.options import ConfigFile, Dumps, LogDirs, ShowSettings, Topics
from auditor.cli.run_settings import settings_of

HEEDED: Final = ("topic", "log_dir")


def quality(
    dump: Dumps,
    *,
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Folder for the pages and the summary.")
    ] = Path("tidemark-quality"),
    topic: Topics = None,
    log_dir: LogDirs = None,
    config: ConfigFile = None,
    show_settings: ShowSettings = None,
) -> None:
    """Check every table of a dump against what its columns promise: types, ranges, keys, addresses, checksums."""
    given = {"topic": topic, "log_dir": log_dir, "config": config, "show_settings": show_settings}
    settings = settings_of(given, {"exclude_topic": (), "partition": ()}, HEEDED)
    from auditor.quality.run import run_quality

    raise SystemExit(run_quality(dump, output, settings))
