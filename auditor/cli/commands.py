"""The command line: audit a dump, explain a rule, show a finding's bytes, look at the machine."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from auditor.cli.incident import advise, postmortem, salvage
from auditor.cli.options import (
    AUDITS,
    COMMANDS,
    AsMarkdown,
    BytesShown,
    ConfigFile,
    DumpFolder,
    Dumps,
    Engine,
    ExcludedTopics,
    ExitZero,
    FailOn,
    FindingId,
    Format,
    KafkaVersions,
    Level,
    LogDirs,
    LogPatterns,
    LogTimezones,
    MinCoverage,
    Output,
    Partitions,
    Payloads,
    Protocols,
    Quiet,
    ReportFile,
    RuleName,
    Topics,
    Traces,
    Verbose,
)
from auditor.cli.quality import quality
from auditor.cli.settings import settings_of
from auditor.cli.simulate import (
    Compare,
    SimulatedDump,
    SimulatedFormat,
    SimulatedProtocol,
    SimulatedScript,
    SimulatedVersion,
)
from auditor.cli.timeline import timeline
from auditor.exit_codes import ExitCode
from auditor.start_up import own_process
from auditor.version import tool_version

app = typer.Typer(
    name="tidemark",
    help="Audit the replication of an Apache Kafka cluster from what is left on its disks and in its logs.",
    epilog=COMMANDS,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:  # noqa: FBT001 - so typer calls it
    if asked:
        _say(f"tidemark {tool_version()}\n")
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
def audit(  # noqa: PLR0913 - one parameter an option: the command line's table of contents
    dump: Dumps,
    *,
    topic: Topics = None,
    exclude_topic: ExcludedTopics = None,
    partition: Partitions = None,
    level: Level = None,
    engine: Engine = None,
    format: Format = None,  # noqa: A002 - the option's name
    output: Output = None,
    fail_on: FailOn = None,
    min_coverage: MinCoverage = None,
    config: ConfigFile = None,
    exit_zero: ExitZero = None,
    log_dir: LogDirs = None,
    trace: Traces = None,
    log_pattern: LogPatterns = None,
    log_timezone: LogTimezones = None,
    kafka_version: KafkaVersions = None,
    inter_broker_protocol: Protocols = None,
    quiet: Quiet = None,
    verbose: Verbose = None,
) -> None:
    """Read every broker's disks together and say what was lost, where logs diverge, and why."""
    given = {
        name: value
        for name, value in locals().items()
        if name not in ("dump", "config") and value not in (None, [], ())
    }
    with _one_sentence():
        from auditor.run_audit import run_audit

        code = run_audit(dump, settings_of(given, config))
    raise typer.Exit(code)


@app.command(short_help="Print a rule's page.")
def explain(rule: RuleName) -> None:
    """Print a rule's page: what it proves, when it is undecided, how the defect looks."""
    with _one_sentence():
        from auditor.rule_pages import page_text

        _say(page_text(rule))


@app.command(short_help="List every rule.")
def rules(*, markdown: AsMarkdown = False) -> None:
    """List every rule, or print the whole reference."""
    with _one_sentence():
        from auditor.rule_pages import listing, reference

        _say(reference() if markdown else listing())


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
    with _one_sentence():
        from auditor.show import show_finding

        _say(show_finding(finding, report, dump, bytes_shown=bytes_shown, payloads=payloads))


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
    with _one_sentence():
        from auditor.simulation.simulate import simulate as simulated

        _say(
            simulated(
                script,
                version=version,
                inter_broker_protocol=inter_broker_protocol,
                side_by_side=compare,
                format=format,
                dump=dump,
            )
        )


@app.command(short_help="Say what this machine has, and what it lacks.")
def doctor() -> None:
    """Say what this machine has (Python, Java, Spark, memory, cores) and what to do about what is missing."""
    with _one_sentence():
        from auditor.doctor import diagnose, render

        diagnosis = diagnose()
        _say(render(diagnosis))
    raise typer.Exit(ExitCode.CLEAN if diagnosis.ready else ExitCode.COULD_NOT_RUN)


def main() -> NoReturn:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # whoever replaced the stream has chosen its ways
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    own_process()
    app(prog_name="tidemark")
    raise SystemExit(ExitCode.CLEAN)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Whatever goes wrong inside ends in one sentence on stderr and a code of the table."""
    try:
        yield
    except KeyboardInterrupt:
        _end("interrupted before anything was known", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ExitCode.CLEAN) from None
    except Exception as error:  # noqa: BLE001 - the last resort of the process
        _fail(error)


app.command(short_help="Check the tables of a dump before anyone relies on them.")(_one_sentence()(quality))
app.command(short_help="Draw one partition's history, expected beside told.")(_one_sentence()(timeline))
app.command(short_help="Write the incident report: what it cost, and who must act.")(_one_sentence()(postmortem))
app.command(short_help="Say whom to elect, what to copy, and what not to restart.")(_one_sentence()(advise))
app.command(short_help="Write lost records from a copy that still stands to a file.")(_one_sentence()(salvage))


def _fail(error: Exception) -> NoReturn:
    from auditor.config import ConfigError

    if isinstance(error, ConfigError):
        _end(str(error), ExitCode.COULD_NOT_RUN)
    if os.environ.get("TIDEMARK_DEBUG"):
        traceback.print_exception(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    words = f"{type(error).__name__}: {error} ({place})"
    _end(f"internal error: {words}; set TIDEMARK_DEBUG=1 for the trace", ExitCode.INTERNAL_ERROR)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _end(message: str, code: ExitCode) -> NoReturn:
    from auditor.report.plain import plain

    sys.stderr.write(f"tidemark: {plain(message)}\n")
    raise SystemExit(int(code))
