"""The commands for the night of an incident: its report, what to do about it, and what can still be saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from auditor.cli_options import (
    ConfigFile,
    DumpFolder,
    Dumps,
    Engine,
    FindingId,
    Format,
    Level,
    Output,
    Partitions,
    ReportFile,
    Topics,
)
from auditor.cli_settings import settings_of
from auditor.exit_codes import ExitCode

Target = Annotated[Path, typer.Option("--to", metavar="FILE", help="New file outside the dump; never overwritten.")]
SalvagedBroker = Annotated[
    int | None, typer.Option("--broker", metavar="N", help="Only from this broker's disk, where sides disagree.")
]
Understood = Annotated[
    bool, typer.Option("--yes-i-understand", help="Write; without it the command only says what it would write.")
]


def postmortem(
    dump: Dumps,
    *,
    topic: Topics = None,
    partition: Partitions = None,
    level: Level = None,
    engine: Engine = None,
    output: Output = None,
    config: ConfigFile = None,
) -> None:
    """Audit, and write the incident report in Markdown that reads as plain text."""
    from auditor.run_audit import run_audit

    given = {"topic": topic, "partition": partition, "level": level, "engine": engine, "output": output}
    raise SystemExit(run_audit(dump, settings_of({**given, "format": "postmortem"}, config)))


def advise(
    dump: Dumps,
    *,
    topic: Topics = None,
    partition: Partitions = None,
    level: Level = None,
    engine: Engine = None,
    format: Format = None,  # noqa: A002 - the option's name
    config: ConfigFile = None,
) -> None:
    """Say of every troubled partition who could lead at what cost, what a restart destroys, and what to copy first."""
    from auditor.advise import run_advise

    given = {"topic": topic, "partition": partition, "level": level, "engine": engine, "format": format}
    told, code = run_advise(dump, settings_of(given, config))
    sys.stdout.write(told)
    raise SystemExit(int(code))


def salvage(
    finding: FindingId,
    *,
    to: Target,
    report: ReportFile = None,
    dump: DumpFolder = None,
    broker: SalvagedBroker = None,
    yes_i_understand: Understood = False,
) -> None:
    """Write the records that a finding calls lost to a new file of JSON lines, and say from where and at what risk."""
    from auditor.salvage import SalvageRequest, run_salvage

    request = SalvageRequest(
        finding=finding, target=to, report=report, dump=dump, broker=broker, understood=yes_i_understand
    )
    sys.stdout.write(run_salvage(request))
    raise SystemExit(int(ExitCode.CLEAN if yes_i_understand else ExitCode.COULD_NOT_RUN))
