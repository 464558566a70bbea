"""The commands for the night of an incident: its report, what to do about it, and what can still be saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from auditor.cli.options import (
    PARAGRAPH,
    DumpFolder,
    Dumps,
    FindingId,
    ReportFile,
    TextFormat,
    takes,
)
from auditor.cli.run_settings import settings_of
from auditor.exit_codes import OF_ADVISE, ExitCode, exit_code_table
from auditor.streams import say

IncidentFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="postmortem (default), which is Markdown, or html, one page."),
]
Appendix = Annotated[
    bool | None,
    typer.Option("--appendix", "-v", "--verbose", help="Append every loss, moment and finding with its bytes."),
]
Target = Annotated[Path, typer.Option("--to", metavar="FILE", help="New file outside the dump; never overwritten.")]
BundleTarget = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="New .tar.gz or .tar.zst outside the dump.")
]
BundledOf = Annotated[
    list[Path],
    typer.Argument(
        metavar="DUMP|F-…",
        help="The dump; or findings (F-…) or incidents (I-…), of this dump or of the last audit's.",
    ),
]
Bundled = Annotated[
    list[str] | None,
    typer.Option("--finding", metavar="F-…", help="Only what this finding rests on; may be given again."),
]
ADVISES: Final = f"""{PARAGRAPH}Exit codes:
{exit_code_table(OF_ADVISE)}

The audit command counts findings, and advise counts what must wait. So of one dump they can end with different codes.
"""
BUNDLES: Final = f"""{PARAGRAPH}Examples:
  tidemark bundle ./dump -o bundle.tar.gz
  tidemark bundle F-1a2b3c4d -o bundle.tar.zst
  tidemark bundle ./dump I-5e6f7a8b -o bundle.tar.gz
  tidemark audit bundle.tar.gz

{PARAGRAPH}In the bundle: the logs, checkpoints and epoch files of the findings' partitions,
what kafka-dump-log printed, and the brokers' logs, packed ones too. Masked: keys,
values and headers of records, names of clients, groups and principals, and the
lines of logs that no rule reads. Left as they are: names of topics, hosts and
brokers, offsets, epochs, times. The bundle is audited before it is written. What
it does not show again is told (exit code 3).
"""
SalvagedBroker = Annotated[
    int | None,
    typer.Option("--broker", metavar="N", help="Take them from this broker's disk only, where replicas disagree."),
]
Understood = Annotated[
    bool, typer.Option("--yes-i-understand", help="Write; without it the command only says what it would write.")
]


@takes(
    "topic partition trace log_pattern log_timezone level engine log_dir kafka_version inter_broker_protocol "
    "partial copied quiet format output force verbose config show_settings",
    format=IncidentFormat,
    verbose=Appendix,
)
def postmortem(dump: Dumps, **given: object) -> None:
    """Audit, and write the incident report: Markdown that reads as plain text, or a page with pictures."""
    from auditor.run_audit import run_postmortem

    # Settings for other commands may name formats that no incident report has.
    decided = {"format": "postmortem"} if given["format"] is None else {}
    raise SystemExit(run_postmortem(dump, settings_of(given, decided)))


@takes(
    "topic partition trace log_pattern log_timezone level engine log_dir kafka_version inter_broker_protocol "
    "partial copied quiet format output force config show_settings",
    format=TextFormat,
)
def advise(dump: Dumps, **given: object) -> None:
    """Say of every troubled partition who could lead at what cost, what a restart destroys, and what to copy first."""
    from auditor.advise import run_advise

    raise SystemExit(int(run_advise(dump, settings_of(given))))


@takes(
    "topic partition level engine log_dir kafka_version inter_broker_protocol partial copied quiet force "
    "config show_settings",
)
def bundle(dump: BundledOf, *, to: BundleTarget, finding: Bundled = None, **given: object) -> None:
    """Pack the evidence behind findings with every payload masked, and try whether it still shows them."""
    from auditor.bundle import requested, run_bundle

    settings = settings_of(given)
    raise SystemExit(run_bundle(requested(dump, to, finding or ()), settings))


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
