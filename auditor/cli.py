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

from auditor.exit_codes import ExitCode, exit_code_table
from auditor.version import tool_version

PARAGRAPH = "\b\n"
"""Keeps the lines of a paragraph of help as they are."""
EXIT_CODES = f"{PARAGRAPH}Exit codes:\n{exit_code_table()}"
COMMANDS = f"""{PARAGRAPH}Examples:
  tidemark audit ./dump                    what happened on these disks?
  tidemark show F-1a2b3c4d                 the bytes that a finding stands on
  tidemark explain LOG001                  what a rule proves, and when it cannot
  tidemark doctor                          is this machine ready?

{EXIT_CODES}
"""
AUDITS = f"""{PARAGRAPH}Examples:
  tidemark audit ./dump
  tidemark audit /mnt/broker-1 /mnt/broker-2 /mnt/broker-3
  tidemark audit ./dump --topic 'pay*' --exclude-topic '*-test' --partition 0
  tidemark audit ./dump --level quick --engine local
  tidemark audit ./dump --log-dir 1=a/data --log-dir 2=b/data --kafka-version 2.8.2
  tidemark audit ./dump --format json --output report.json --fail-on high

{PARAGRAPH}A dump is any folder with copies of brokers' log dirs, or with the text that
kafka-dump-log printed of them. It is only read.

{PARAGRAPH}Every option is also a line of the --config file (fail-on: high) and a variable
(TIDEMARK_FAIL_ON=high). A flag outranks the variable, the variable the file.

{EXIT_CODES}
"""

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

Dumps = Annotated[
    list[Path],
    typer.Argument(metavar="DUMP", help="Folders that hold the brokers' log dirs, in any arrangement: one, or one a broker."),
]
Topics = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="PATTERN", help="Only topics that match a shell pattern; may be given again."),
]
ExcludedTopics = Annotated[
    list[str] | None, typer.Option("--exclude-topic", metavar="PATTERN", help="No topics that match; may be given again.")
]
Partitions = Annotated[
    list[int] | None, typer.Option("--partition", metavar="N", help="Only partitions of this number; may be given again.")
]
Level = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        help="quick: headers and checkpoints; full: every checksum recomputed (default); deep: every record decoded.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="spark (default): this machine's cores, or the cluster that spark-submit names; local: no JVM.",
    ),
]
Format = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")]
Output = Annotated[
    str | None, typer.Option("--output", metavar="FILE", help="Write the report there; - is stdout (default).")
]
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="SEVERITY",
        help="Lowest severity that makes the verdict 'findings': info, low, medium (default), high, critical.",
    ),
]
MinCoverage = Annotated[
    float | None,
    typer.Option("--min-coverage", metavar="RATIO", help="Part of the bytes, 0 to 1, that a clean verdict needs to have read."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="YAML file of settings, named as the flags.")]
ExitZero = Annotated[bool | None, typer.Option("--exit-zero", help="End with 0 whatever is found.")]
LogDirs = Annotated[
    list[str] | None,
    typer.Option(
        "--log-dir",
        metavar="BROKER=PATH",
        help="This folder, absolute or relative to the dump, is a log dir of that broker; may be given again.",
    ),
]
KafkaVersions = Annotated[
    list[str] | None,
    typer.Option(
        "--kafka-version", metavar="[BROKER=]V", help="Release that the brokers, or one, ran: 3.9.1, 2=2.8.2; may be given again."
    ),
]
Protocols = Annotated[
    list[str] | None,
    typer.Option(
        "--inter-broker-protocol",
        metavar="[BROKER=]V",
        help="inter.broker.protocol.version or metadata.version that they spoke; may be given again.",
    ),
]
Quiet = Annotated[bool | None, typer.Option("-q", "--quiet", help="No progress and no remarks: verdict, findings, replicas.")]
Verbose = Annotated[
    bool | None, typer.Option("-v", "--verbose", help="Every replica, deleted ones too, and notes for information.")
]


def _version(asked: bool) -> None:
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
def audit(  # one parameter an option: this is the command line's table of contents
    dump: Dumps,
    topic: Topics = None,
    exclude_topic: ExcludedTopics = None,
    partition: Partitions = None,
    level: Level = None,
    engine: Engine = None,
    format: Format = None,
    output: Output = None,
    fail_on: FailOn = None,
    min_coverage: MinCoverage = None,
    config: ConfigFile = None,
    exit_zero: ExitZero = None,
    log_dir: LogDirs = None,
    kafka_version: KafkaVersions = None,
    inter_broker_protocol: Protocols = None,
    quiet: Quiet = None,
    verbose: Verbose = None,
) -> None:
    """Read every broker's disks together and say what was lost, where logs diverge, and why."""
    given = {name: value for name, value in locals().items() if name not in ("dump", "config") and value not in (None, [], ())}
    with _one_sentence():
        from auditor.config import AuditConfig, as_variable, environment, merge, read_config
        from auditor.run_audit import run_audit

        file = config or (Path(named) if (named := os.environ.get("TIDEMARK_CONFIG")) else None)
        settings = AuditConfig()
        if file is not None:
            settings = merge(settings, read_config(file), lambda name: f"{file}: {name.replace('_', '-')}")
        settings = merge(settings, environment(os.environ), as_variable)
        code = run_audit(dump, merge(settings, given))
    raise typer.Exit(code)


@app.command(short_help="Print a rule's page.")
def explain(rule: Annotated[str, typer.Argument(metavar="RULE", help="Id or name of a rule, e.g. LOG001.")]) -> None:
    """Print a rule's page: what it proves, when it is undecided, how the defect looks."""
    with _one_sentence():
        from auditor.rule_pages import page_text

        _say(page_text(rule))


@app.command(short_help="List every rule.")
def rules(
    markdown: Annotated[bool, typer.Option("--markdown", help="All pages as one Markdown document.")] = False,
) -> None:
    """List every rule, or print the whole reference."""
    with _one_sentence():
        from auditor.rule_pages import listing, reference

        _say(reference() if markdown else listing())


@app.command(short_help="Reopen the bytes that a finding stands on.")
def show(
    finding: Annotated[
        str, typer.Argument(metavar="FINDING", help="Id of a finding, e.g. F-1a2b3c4d, or a unique beginning of it.")
    ],
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="JSON report that holds it (default: the last audit's).")
    ] = None,
    dump: Annotated[
        Path | None, typer.Option("--dump", metavar="DUMP", help="Folder that the report is about (default: the last audit's).")
    ] = None,
    bytes_shown: Annotated[int, typer.Option("--bytes", metavar="N", min=1, help="Bytes shown of each piece of text or payload.")] = 256,
    payloads: Annotated[bool, typer.Option("--print-data-log", help="Also show record payloads, which are hidden otherwise.")] = False,
) -> None:
    """Reopen the bytes that a finding stands on."""
    with _one_sentence():
        from auditor.show import show_finding

        _say(show_finding(finding, report, dump, bytes_shown=bytes_shown, payloads=payloads))


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


if __name__ == "__main__":
    main()
