"""The command line's words: every option with its help, the examples, the table of exit codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer
from typer.models import OptionInfo

from auditor.exit_codes import exit_code_table

Command = TypeVar("Command", bound=Callable[..., None])

LONGEST_NUMBER: Final = 25
"""Digits; numbers that no offset can be are refused by who looks them up."""
PARAGRAPH: Final = "\b\n"
"""Keeps the lines of a paragraph of help as they are."""
EXIT_CODES: Final = f"{PARAGRAPH}Exit codes:\n{exit_code_table()}"
COMMANDS: Final = f"""{PARAGRAPH}Examples:
  tidemark audit ./dump                    what happened on these disks?
  tidemark show F-1a2b3c4d                 the bytes that a finding stands on
  tidemark advise ./dump                   whom to elect, what to copy, what not to restart
  tidemark postmortem ./dump               the incident report: the bill, the causes, who must act
  tidemark explain LOG001                  what a rule proves, and when it cannot
  tidemark doctor                          is this machine ready?

{EXIT_CODES}
"""
AUDITS: Final = f"""{PARAGRAPH}Examples:
  tidemark audit ./dump
  tidemark audit /mnt/broker-1 /mnt/broker-2 /mnt/broker-3
  tidemark audit broker-1.tar.gz broker-2.tar.zst broker-3.zip
  tidemark audit ./dump --topic 'pay*' --exclude-topic '*-test' --partition 0
  tidemark audit ./dump --level quick --engine local
  tidemark audit ./dump --log-dir 1=a/data --log-dir 2=b/data --kafka-version 2.8.2
  tidemark audit ./dump --format json --output report.json --fail-on high
  tidemark audit ./dump --format sarif=a.sarif --format openmetrics=tidemark.prom --force

{PARAGRAPH}A dump is any folder with copies of brokers' log dirs, or with the text that
kafka-dump-log printed of them. It is only read. A .tar, .tar.gz, .tar.zst or .zip is
unpacked into a private folder below TMPDIR, which is gone at the end.

{PARAGRAPH}Beside the log dirs are found and read:
  server.log, controller.log, state-change.log, kafka-request.log, server.properties
  *.csv, *.jsonl     tables of fetches with a column fetchOffset; others by --trace
  any other name     outputs of --describe (topics, configs, groups, quorum),
                     znodes: brokers/topics/… as files, or as zookeeper-shell printed them

{PARAGRAPH}Every option is also a line of the --config file (fail-on: high) and a variable
(TIDEMARK_FAIL_ON=high). A flag outranks the variable, the variable the file.

{EXIT_CODES}
"""

COLLECTS: Final = f"""{PARAGRAPH}Examples:
  tidemark collect-script > collect.sh
  sh collect.sh -o /mnt/evidence -b 1 -d /var/lib/kafka/data -l /var/log/kafka
  tidemark audit /mnt/evidence

{PARAGRAPH}The script runs on each broker and needs no more than a POSIX shell. It copies in an
order that keeps a running broker's copy consistent: what is deleted soon, checkpoints,
then each replica, and the logs last. An audit holds the copy against the manifest.
"""


def whole_number(text: object) -> int:
    """A number from 0 on, as options and defaults name it."""
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER:
        return int(text)
    if isinstance(text, int):
        return text
    raise typer.BadParameter(f"expected a number from 0 on, found {text!r}")


def _repeated(flag: str, metavar: str, words: str, parser: Callable[[object], object] | None = None) -> OptionInfo:
    """An option that takes one value each time it is given."""
    option: OptionInfo = typer.Option(flag, metavar=metavar, help=f"{words}; may be given again.", parser=parser)
    return option


Dumps = Annotated[
    list[Path],
    typer.Argument(
        metavar="DUMP",
        help="Folders that hold the brokers' log dirs, in any arrangement: one, or one a broker. Archives will do.",
    ),
]
Topics = Annotated[list[str] | None, _repeated("--topic", "PATTERN", "Only topics that match a shell pattern")]
ExcludedTopics = Annotated[list[str] | None, _repeated("--exclude-topic", "PATTERN", "No topics that match")]
Partitions = Annotated[list[int] | None, _repeated("--partition", "N", "Only partitions of this number", whole_number)]
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
Format = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help="terminal (default), html, json, jsonl, csv, sarif, junit, openmetrics, github, postmortem, "
        "postmortem-html; again with a file each: --format html=a.html --format junit=a.xml.",
    ),
]
TextFormat = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")]
Output = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the report there; - is stdout (default).")
]
Force = Annotated[
    bool | None, typer.Option("--force", help="Overwrite files of --output and --format that exist already.")
]
ShowSettings = Annotated[
    bool | None, typer.Option("--show-settings", help="Print each setting, its value and who gave it, and end.")
]
DryRun = Annotated[
    bool | None, typer.Option("--dry-run", help="Print what would be read and about how long it would take, and end.")
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
    str | None,
    typer.Option(
        "--min-coverage", metavar="RATIO", help="Part of the bytes, 0 to 1, that a clean verdict needs to have read."
    ),
]
Partial = Annotated[
    bool | None,
    typer.Option(
        "--partial",
        help="Take this dump for complete: what is not here leaves the verdict open only where a rule asks for it.",
    ),
]
Copied = Annotated[
    str | None,
    typer.Option(
        "--copied",
        metavar="HOW",
        help="How brokers that left no clean-shutdown marker were copied: live, stopped or crashed.",
    ),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="YAML file of settings, named as the flags.")
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="An earlier JSON report: only findings that it does not have make the run fail.",
    ),
]
ExitZero = Annotated[bool | None, typer.Option("--exit-zero", help="End with 0 whatever is found.")]
LogDirs = Annotated[
    list[str] | None,
    _repeated(
        "--log-dir",
        "BROKER=PATH",
        "This folder, absolute or relative to the dump, is a log dir of that broker",
    ),
]
Traces = Annotated[
    list[str] | None,
    _repeated(
        "--trace",
        "[BROKER=]PATH",
        "Read this file of the dump as a table of fetches (CSV or JSON lines). BROKER answered them, unless a column"
        " says who did",
    ),
]
KafkaVersions = Annotated[
    list[str] | None,
    _repeated("--kafka-version", "[BROKER=]V", "Release that the brokers, or one, ran: 3.9.1, 2=2.8.2"),
]
Protocols = Annotated[
    list[str] | None,
    _repeated(
        "--inter-broker-protocol",
        "[BROKER=]V",
        "inter.broker.protocol.version or metadata.version that they spoke",
    ),
]
LogPatterns = Annotated[
    list[str] | None,
    _repeated(
        "--log-pattern",
        "[BROKER=]PATTERN",
        "log4j or logback layout of the brokers' logs, tried before Kafka's own",
    ),
]
LogTimezones = Annotated[
    list[str] | None,
    _repeated(
        "--log-timezone",
        "[BROKER=]ZONE",
        "Zone of the times in logs: Europe/Berlin, 2=UTC, +02:00; never guessed",
    ),
]
Quiet = Annotated[
    bool | None, typer.Option("-q", "--quiet", help="Show no progress. `audit` also leaves out its part NOT SEEN.")
]
Verbose = Annotated[
    bool | None, typer.Option("-v", "--verbose", help="Print all: each finding with its evidence, and every replica.")
]

OPTIONS: Final[Mapping[str, object]] = {
    "topic": Topics, "exclude_topic": ExcludedTopics, "partition": Partitions, "level": Level, "engine": Engine,
    "format": Format, "output": Output, "force": Force, "fail_on": FailOn, "min_coverage": MinCoverage,
    "partial": Partial, "copied": Copied, "config": ConfigFile, "show_settings": ShowSettings, "dry_run": DryRun,
    "exit_zero": ExitZero, "baseline": Baseline, "log_dir": LogDirs, "trace": Traces, "log_pattern": LogPatterns,
    "log_timezone": LogTimezones, "kafka_version": KafkaVersions, "inter_broker_protocol": Protocols, "quiet": Quiet,
    "verbose": Verbose,
}  # fmt: skip
"""What several commands take, by the names of settings."""


def takes(options: str, **own: object) -> Callable[[Command], Command]:
    """A command with these options, in the order of its help; `own` are those that it words itself."""

    def declare(command: Command) -> Command:
        every = signature(command, eval_str=True).parameters.values()
        named = [each for each in every if each.kind is not Parameter.VAR_KEYWORD]
        listed = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=own.get(name, OPTIONS[name]))
            for name in options.split()
        ]
        whole = [*named, *listed]
        command.__signature__ = Signature(whole)  # type: ignore[attr-defined]  # the library asks for it
        command.__annotations__ = {each.name: each.annotation for each in whole}
        return command

    return declare


RuleName = Annotated[str, typer.Argument(metavar="RULE", help="Id or name of a rule, e.g. LOG001.")]
RuleNamed = Annotated[
    str | None, typer.Argument(metavar="RULE", help="Id or name of a rule: print its page, as `explain` does.")
]
PagesFolder = Annotated[
    Path | None,
    typer.Option("--pages", metavar="FOLDER", help="Write the pages as Markdown, a file a rule, and an index."),
]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="All pages as one Markdown document.")]
FindingId = Annotated[
    str,
    typer.Argument(
        metavar="FINDING",
        help="Id of a finding, e.g. F-1a2b3c4d, or of an incident (I-…), or a unique beginning of it; or a rule's id.",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="JSON report that holds it (default: the last audit's)."),
]
DumpFolder = Annotated[
    Path | None,
    typer.Option("--dump", metavar="DUMP", help="Folder that the report is about (default: the last audit's)."),
]
BytesShown = Annotated[
    int, typer.Option("--bytes", metavar="N", min=1, help="Bytes shown of each piece of text or payload.")
]
Payloads = Annotated[
    bool, typer.Option("--print-data-log", help="Also show record payloads, which are hidden otherwise.")
]
