"""The command line: audit a dump, explain a rule, show a finding's bytes, look at the machine."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from auditor.exit_codes import ExitCode, exit_code_table

app = typer.Typer(
    name="tidemark",
    help="Audit the replication of an Apache Kafka cluster from what is left on its disks and in its logs.",
    epilog=f"Exit codes:\n\n{exit_code_table()}".replace("\n", "\n\n"),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Dump = Annotated[Path, typer.Argument(help="Folder that holds the brokers' log dirs, in any arrangement.")]
Topics = Annotated[list[str] | None, typer.Option("--topic", help="Only topics that match (shell pattern, repeatable).")]
ExcludedTopics = Annotated[list[str] | None, typer.Option("--exclude-topic", help="No topics that match (repeatable).")]
Partitions = Annotated[list[int] | None, typer.Option("--partition", help="Only these partitions (repeatable).")]
Level = Annotated[
    str | None,
    typer.Option("--level", help="quick: headers and checkpoints; full: every checksum recomputed (default); deep: every record decoded."),
]
Engine = Annotated[
    str | None, typer.Option("--engine", help="spark (default; local[*] or the master given to spark-submit) or local (no JVM).")
]
LogDirs = Annotated[
    list[str] | None, typer.Option("--log-dir", help="BROKER=PATH: this folder of the dump is a log dir of that broker (repeatable).")
]
KafkaVersions = Annotated[
    list[str] | None, typer.Option("--kafka-version", help="[BROKER=]VERSION that brokers ran, e.g. 3.9.1 or 2=2.8.2 (repeatable).")
]
Protocols = Annotated[
    list[str] | None,
    typer.Option("--inter-broker-protocol", help="[BROKER=]inter.broker.protocol.version or metadata.version (repeatable)."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="YAML file with the same settings, by the flags' names.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress and no notes; the report only.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Also notes for information and deleted replicas.")]


@app.command()
def audit(
    dump: Dump,
    topic: Topics = None,
    exclude_topic: ExcludedTopics = None,
    partition: Partitions = None,
    level: Level = None,
    engine: Engine = None,
    output_format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    output: Annotated[Path | None, typer.Option("--output", help="Write the report there instead of to stdout.")] = None,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", help="Lowest severity that makes the run fail: info, low, medium (default), high, critical.")
    ] = None,
    min_coverage: Annotated[
        float | None, typer.Option("--min-coverage", help="Ratio of bytes that must have been read for a clean verdict.")
    ] = None,
    config: ConfigFile = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")] = False,
    log_dir: LogDirs = None,
    kafka_version: KafkaVersions = None,
    inter_broker_protocol: Protocols = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Read every broker's disks together and say what was lost, where logs diverge, and why.

    The dump is only read. Example: tidemark audit ./cluster-dump --topic 'pay*' --format json --output report.json
    """
    from auditor.config import AuditConfig, merge, read_config  # noqa: PLC0415 - --help stays quick
    from auditor.run_audit import Asked, run_audit  # noqa: PLC0415

    settings = merge(AuditConfig(), {**environment(), **(read_config(config) if config else {})})
    given: dict[str, object] = {
        "topic": topic,
        "exclude_topic": exclude_topic,
        "partition": partition,
        "level": level,
        "engine": engine,
        "fail_on": fail_on,
        "min_coverage": min_coverage,
        "exit_zero": exit_zero or None,
        "log_dir": log_dir,
        "kafka_version": kafka_version,
        "inter_broker_protocol": inter_broker_protocol,
    }
    asked = Asked(dump=dump, output_format=output_format, output=output, quiet=quiet, verbose=verbose)
    raise typer.Exit(run_audit(asked, merge(settings, given)))


def environment() -> dict[str, object]:
    """Settings from TIDEMARK_LEVEL, TIDEMARK_ENGINE and the like; flags and the file outrank them."""
    names = ("level", "engine", "fail_on", "min_coverage")
    found = {name: os.environ.get(f"TIDEMARK_{name.upper()}") for name in names}
    return {name: value for name, value in found.items() if value}


@app.command()
def explain(rule: Annotated[str, typer.Argument(help="Id of a rule, e.g. LOG001.")]) -> None:
    """Print a rule's page: what it proves, when it is undecided, how the defect looks."""
    from auditor.rule_pages import page_text  # noqa: PLC0415

    sys.stdout.write(page_text(rule))


@app.command()
def rules(
    markdown: Annotated[bool, typer.Option("--markdown", help="All pages as one Markdown document.")] = False,
) -> None:
    """List every rule, or print the whole reference."""
    from auditor.rule_pages import listing, reference  # noqa: PLC0415

    sys.stdout.write(reference() if markdown else listing())


@app.command()
def show(
    finding: Annotated[str, typer.Argument(help="Id of a finding, e.g. F-1a2b3c4d (or a unique beginning of it).")],
    report: Annotated[Path | None, typer.Option("--report", help="JSON report that holds it (default: the last audit).")] = None,
    dump: Annotated[Path | None, typer.Option("--dump", help="The dump that the report is about (default: the last audit's).")] = None,
    bytes_shown: Annotated[int, typer.Option("--bytes", help="Bytes shown of each piece of evidence.")] = 256,
    payloads: Annotated[bool, typer.Option("--print-data-log", help="Also show record payloads, which are hidden otherwise.")] = False,
) -> None:
    """Reopen the bytes that a finding stands on."""
    from auditor.show import show_finding  # noqa: PLC0415

    sys.stdout.write(show_finding(finding, report, dump, bytes_shown=bytes_shown, payloads=payloads))


@app.command()
def doctor() -> None:
    """Say what this machine has (Python, Java, Spark, memory, cores) and what to do about what is missing."""
    from auditor.doctor import diagnose, render  # noqa: PLC0415

    diagnosis = diagnose()
    sys.stdout.write(render(diagnosis))
    raise typer.Exit(ExitCode.CLEAN if diagnosis.ready else ExitCode.COULD_NOT_RUN)


def main() -> NoReturn:
    """Run the command line; whatever goes wrong ends in one sentence and a code of the table."""
    try:
        app(standalone_mode=True)
    except SystemExit:
        raise
    except KeyboardInterrupt:
        _end("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ExitCode.CLEAN) from None
    except Exception as error:  # noqa: BLE001 - the last resort of the process
        _fail(error)
    raise SystemExit(ExitCode.CLEAN)


def _fail(error: Exception) -> NoReturn:
    from auditor.config import ConfigError  # noqa: PLC0415

    if isinstance(error, ConfigError):
        _end(str(error), ExitCode.COULD_NOT_RUN)
    if os.environ.get("TIDEMARK_DEBUG"):
        traceback.print_exception(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    _end(f"internal error: {type(error).__name__}: {error} ({place}); set TIDEMARK_DEBUG=1 for the trace", ExitCode.INTERNAL_ERROR)


def _end(message: str, code: ExitCode) -> NoReturn:
    Console(stderr=True).print(f"tidemark: {message}", markup=False, highlight=False, soft_wrap=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
