"""The command line: audit a dump, explain a rule, show a finding's bytes, look at the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.cli.after_an_incident import ADVISES, BUNDLES, advise, bundle, postmortem, salvage
from auditor.cli.diff import COMPARES, diff
from auditor.cli.find import find
from auditor.cli.options import (
    AUDITS,
    COLLECTS,
    COMMANDS,
    AsMarkdown,
    BytesShown,
    DumpFolder,
    Dumps,
    FindingId,
    PagesFolder,
    Payloads,
    ReportFile,
    RuleName,
    RuleNamed,
    takes,
)
from auditor.cli.quality import quality
from auditor.cli.run_settings import settings_of
from auditor.cli.timeline import timeline
from auditor.cli.usage import WholeUsage
from auditor.exit_codes import ExitCode
from auditor.streams import say
from auditor.version import tool_version

SimulatedScript = Annotated[
    Path, typer.Argument(metavar="SCRIPT", help="A YAML file: brokers, versions, and what happens to them, in order.")
]
SimulatedVersion = Annotated[
    str | None,
    typer.Option("--version", metavar="VERSION", help="Run every broker as this Kafka version."),
]
SimulatedProtocol = Annotated[
    str | None,
    typer.Option(
        "--inter-broker-protocol",
        metavar="VERSION",
        help="Protocol that the brokers speak; the newest of VERSION otherwise.",
    ),
]
Compare = Annotated[
    bool, typer.Option("--compare", help="Run every generation of the protocol and print what each made of it.")
]
SimulatedFormat = Annotated[str, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")]
SimulatedDump = Annotated[
    Path | None,
    typer.Option("--dump", metavar="DIR", help="Write what the brokers left, logs and metadata too, for `audit`."),
]


app = typer.Typer(
    name="tidemark",
    help="Audit the replication of an Apache Kafka cluster from what is left on its disks and in its logs.",
    epilog=COMMANDS,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:  # noqa: FBT001 - so typer calls it
    if asked:
        say(f"tidemark {tool_version()}\n")
        raise typer.Exit(ExitCode.CLEAN)


@app.callback()
def start(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and end.")
    ] = False,
) -> None:
    """Audit the replication of an Apache Kafka cluster from what is left on its disks and in its logs."""


@app.command(epilog=AUDITS, short_help="Say what was lost, where logs diverge, and why.")
@takes(
    "topic exclude_topic partition level engine format output force fail_on min_coverage partial copied config "
    "show_settings dry_run exit_zero baseline log_dir trace log_pattern log_timezone kafka_version "
    "inter_broker_protocol quiet verbose",
)
def audit(dump: Dumps, **given: object) -> None:
    """Read every broker's disks together and say what was lost, where logs diverge, and why."""
    if given["dry_run"]:
        from auditor.dry_run import dry_run as what_would_be_read

        say(what_would_be_read(dump, settings_of(given)))
        raise SystemExit(ExitCode.CLEAN)
    from auditor.run_audit import run_audit

    code = run_audit(dump, settings_of(given))
    raise SystemExit(code)


@app.command(short_help="Print a rule's page.")
def explain(rule: RuleName) -> None:
    """Print a rule's page: what it proves, when it is undecided, how the defect looks."""
    from auditor.rule_pages import page_text

    say(page_text(rule))


@app.command(short_help="List every rule.")
def rules(rule: RuleNamed = None, *, markdown: AsMarkdown = False, pages: PagesFolder = None) -> None:
    """List every rule, print the page of one as `explain` does, or print or write the whole reference."""
    from auditor.config import ConfigError
    from auditor.rule_pages import listing, page_text
    from auditor.rule_reference import document, write_pages

    if (rule is not None) + markdown + (pages is not None) > 1:
        raise ConfigError("tidemark rules: expected one of RULE, --markdown and --pages")
    if pages is not None:
        write_pages(pages)
    elif rule is not None:
        say(page_text(rule))
    else:
        say(document() if markdown else listing())


@app.command(short_help="Reopen the bytes that a finding stands on.")
def show(
    finding: FindingId,
    *,
    report: ReportFile = None,
    dump: DumpFolder = None,
    bytes_shown: BytesShown = 256,
    payloads: Payloads = False,
) -> None:
    """Reopen the bytes that a finding stands on."""
    from auditor.show import show_finding

    say(show_finding(finding, report, dump, bytes_shown=bytes_shown, payloads=payloads))


@app.command(short_help="Run a script of the replication protocol, under one version or all.")
def simulate(
    script: SimulatedScript,
    *,
    version: SimulatedVersion = None,
    inter_broker_protocol: SimulatedProtocol = None,
    compare: Compare = False,
    format: SimulatedFormat = "terminal",  # noqa: A002 - the option's name
    dump: SimulatedDump = None,
) -> None:
    """Run a script of the replication protocol and print what every replica held after each event."""
    from auditor.simulation.run_simulate import simulate as simulated

    say(
        simulated(
            script,
            version=version,
            inter_broker_protocol=inter_broker_protocol,
            side_by_side=compare,
            format=format,
            dump=dump,
        )
    )


@app.command(name="collect-script", epilog=COLLECTS, short_help="Print a script that collects a broker's evidence.")
def collect_script() -> None:
    """Print a POSIX shell script that copies what a broker left, in the right order, with checksums and a manifest."""
    from auditor.collection.printed_script import script_text

    say(script_text())


@app.command(short_help="Say what this machine has, and what it lacks.")
def doctor() -> None:
    """Say what this machine has (Python, Java, Spark, memory, cores) and what to do about what is missing."""
    from auditor.doctor import diagnose, render

    diagnosis = diagnose()
    say(render(diagnosis))
    raise SystemExit(ExitCode.CLEAN if diagnosis.ready else ExitCode.COULD_NOT_RUN)


app.command(epilog=COMPARES, short_help="Compare two reports or dumps: what is new, what is fixed.")(diff)
app.command(short_help="Check the tables of a dump before anyone relies on them.")(quality)
app.command(short_help="Find an offset or a timestamp, as a broker looks it up.")(find)
app.command(short_help="Draw one partition's history, expected beside told.")(timeline)
app.command(short_help="Write the incident report: what it cost, and who must act.")(postmortem)
app.command(short_help="Say whom to elect, what to copy, and what not to restart.", epilog=ADVISES)(advise)
app.command(short_help="Write lost records from a copy that still stands to a file.")(salvage)
app.command(epilog=BUNDLES, short_help="Pack the evidence of findings, every payload masked.")(bundle)
for command in app.registered_commands:
    command.cls = WholeUsage
