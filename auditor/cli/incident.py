"""The commands for the night of an incident: its report, what to do about it, and what can still be saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.cli.options import (
    ConfigFile,
    Copied,
    DumpFolder,
    Dumps,
    Engine,
    FindingId,
    Force,
    KafkaVersions,
    Level,
    LogDirs,
    LogPatterns,
    LogTimezones,
    Output,
    Partial,
    Partitions,
    Protocols,
    Quiet,
    ReportFile,
    ShowSettings,
    TextFormat,
    Topics,
    Traces,
)
from auditor.cli.settings import settings_of
from auditor.exit_codes import ExitCode
from auditor.streams import say

Target = Annotated[Path, typer.Option("--to", metavar="FILE", help="New file outside the dump; never overwritten.")]
SalvagedBroker = Annotated[
    int | None, typer.Option("--broker", metavar="N", help="Only from this broker's disk, where sides disagree.")
]
Understood = Annotated[
    bool, typer.Option("--yes-i-understand", help="Write; without it the command only says what it would write.")
]


def postmortem(  # noqa: PLR0913 - one parameter an option
    dump: Dumps,
    *,
    topic: Topics = None,
    partition: Partitions = None,
    trace: Traces = None,
    log_pattern: LogPatterns = None,
    log_timezone: LogTimezones = None,
    level: Level = None,
    engine: Engine = None,
    log_dir: LogDirs = None,
    kafka_version: KafkaVersions = None,
    inter_broker_protocol: Protocols = None,
    partial: Partial = None,
    copied: Copied = None,
    quiet: Quiet = None,
    output: Output = None,
    force: Force = None,
    config: ConfigFile = None,
    show_settings: ShowSettings = False,
) -> None:
    """Audit, and write the incident report in Markdown that reads as plain text."""
    given = locals()
    from auditor.run_audit import run_audit

    raise SystemExit(run_audit(dump, settings_of(given, config, {"format": "postmortem"})))


def advise(  # noqa: PLR0913 - one parameter an option
    dump: Dumps,
    *,
    topic: Topics = None,
    partition: Partitions = None,
    trace: Traces = None,
    log_pattern: LogPatterns = None,
    log_timezone: LogTimezones = None,
    level: Level = None,
    engine: Engine = None,
    log_dir: LogDirs = None,
    kafka_version: KafkaVersions = None,
    inter_broker_protocol: Protocols = None,
    partial: Partial = None,
    copied: Copied = None,
    quiet: Quiet = None,
    format: TextFormat = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = None,
    config: ConfigFile = None,
    show_settings: ShowSettings = False,
) -> None:
    """Say of every troubled partition who could lead at what cost, what a restart destroys, and what to copy first."""
    given = locals()
    from auditor.advise import run_advise

    raise SystemExit(int(run_advise(dump, settings_of(given, config))))


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
    say(run_salvage(request))
    raise SystemExit(int(ExitCode.CLEAN if yes_i_understand else ExitCode.COULD_NOT_RUN))
