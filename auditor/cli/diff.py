"""The words of `tidemark diff`: its options with their help, and its one call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from auditor.cli.options import (
    PARAGRAPH,
    TextFormat,
    takes,
)
from auditor.cli.run_settings import settings_of
from auditor.exit_codes import OF_DIFF, exit_code_table

COMPARES: Final = f"""{PARAGRAPH}Examples:
  tidemark diff monday.json tuesday.json
  tidemark diff monday.json ./dump --engine local
  tidemark diff ./dump-before ./dump-after --format json --output diff.json

{PARAGRAPH}Each side is a report of `audit --format json`, or a dump, which is audited now.
The options of an audit hold for the dumps. Findings are the same where rule, place,
brokers and offsets are, as for --baseline, and no topic ids tell them apart.
  new         only the later side has it; these alone make the command fail
  changed     both have it, and say it otherwise
  fixed       it was looked for again, on as much evidence, and is not there
  untold      it is not there, and nobody can say that it was mended

{PARAGRAPH}Exit codes:
{exit_code_table(OF_DIFF)}
"""
Before = Annotated[Path, typer.Argument(metavar="BEFORE", help="The earlier report or dump.")]
VerboseDiff = Annotated[
    bool | None,
    typer.Option("-v", "--verbose", help="Print all: every value in full, and the files that evidence lies in."),
]
After = Annotated[Path, typer.Argument(metavar="AFTER", help="The later report or dump.")]


@takes(
    "format output force fail_on min_coverage topic exclude_topic partition level engine partial copied "
    "log_dir trace log_pattern log_timezone kafka_version inter_broker_protocol verbose quiet config "
    "show_settings",
    format=TextFormat,
    verbose=VerboseDiff,
)
def diff(before: Before, after: After, **given: object) -> None:
    """Compare two reports, or two dumps, and say which findings are new, changed or fixed."""
    from auditor.diff import run_diff

    # The earlier side is the baseline: another one would make two notions of what is new.
    settings = settings_of(given, {"baseline": ""})
    raise SystemExit(run_diff(before, after, settings))
