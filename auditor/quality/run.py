"""The quality command: read the dump's tables, hold them against their plans, write pages and a summary."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from auditor.archives import at_hand
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import DumpParts, gather
from auditor.quality.checkpoint import Quality
from auditor.quality.data_docs import build_site
from auditor.quality.frames import measured
from auditor.quality.outcome import QualityReport
from auditor.quality.plan import QUALITY_TABLES, plan_quality
from auditor.quality.summary import as_json, markdown, terminal
from auditor.streams import say
from auditor.unmatched import require_matches
from auditor.whole_files import whole_file
from parsers.files import found_at
from parsers.inventory import take_inventory
from parsers.spark import open_dump
from spark_jobs.session import build_session

DATA_DOCS: Final = "data-docs"
SUMMARY: Final = "tidemark-quality"
"""Name of the summaries; by it a later run knows the folder as one of its own."""


def run_quality(dumps: Sequence[Path], output: Path, config: AuditConfig) -> int:
    """Check, write and tell; the exit code."""
    with at_hand(dumps) as here:
        return _check_and_tell(here.folders, output, config)


def _check_and_tell(folders: Sequence[Path], output: Path, config: AuditConfig) -> int:
    given = gather(folders)
    _require_input(given, config)
    _require_output(given, output)
    dump = open_dump(_session(), folders, topics=config.topic, log_dirs=config.log_dir_overrides)
    quality = Quality()
    tables = {name: dump.table(name) for name in QUALITY_TABLES}
    named = ", ".join(folder.resolve().name for folder in folders)
    report = assess(quality, tables, dump=named, topics=config.topic)
    _write(report, quality, output)
    say(f"{terminal(report)}\npages: {output / DATA_DOCS / 'index.html'}\n")
    return int(report.exit_code)


def assess(
    quality: Quality, tables: Mapping[str, DataFrame], *, dump: str, topics: Sequence[str] = ()
) -> QualityReport:
    """Every table held against its plan, one after the other."""
    frames = measured(tables)
    outcomes = tuple(quality.validate(plan, frames[plan.table]) for plan in plan_quality())
    return QualityReport(dump=dump, topics=tuple(topics), tables=outcomes)


def _require_input(dump: DumpParts, config: AuditConfig) -> None:
    """A dump without logs, or words that match nothing in it, are mistakes that an empty report would hide."""
    root = dump.root
    for broker, path in config.log_dir_overrides:
        if found_at(root / path) != "a folder":
            raise ConfigError(f"{config.named('log_dir')} {broker}={path}: no such folder in {root}")
    inventory = take_inventory(root, log_dirs=config.log_dir_overrides, parts=dump.parts)
    if not inventory.log_dirs:
        raise ConfigError(
            f"{root}: found no log dir; give the folder that holds the brokers' log dirs,"
            " or name one with --log-dir BROKER=PATH"
        )
    held = {(replica.origin.topic, replica.origin.partition) for replica in inventory.replicas}
    require_matches(config.selection, held, config, root)


def _require_output(dump: DumpParts, output: Path) -> None:
    """Refuse to write into the dump, and over anything that an earlier run of this command has not written."""
    if dump.holds(output):
        raise ConfigError(f"--output: {output} lies inside the dump, which is never written into")
    if found_at(output) not in ("a folder", "nothing"):
        raise ConfigError(f"--output: {output}: expected a folder, found {found_at(output)}")
    if found_at(output) == "a folder" and any(output.iterdir()) and not (output / f"{SUMMARY}.json").is_file():
        raise ConfigError(f"--output: {output} holds other things; name an empty folder or one of an earlier run")


def _session() -> SparkSession:
    try:
        return build_session("tidemark quality")
    except RuntimeError as error:  # no fitting Java, no fitting Spark, a JVM that did not start
        raise ConfigError(str(error)) from error


def _write(report: QualityReport, quality: Quality, output: Path) -> None:
    try:
        shutil.rmtree(output / DATA_DOCS, ignore_errors=True)
        output.mkdir(parents=True, exist_ok=True)
        # First the mark by which a later run knows the folder as its own.
        for ending, text in (("json", as_json(report)), ("md", markdown(report))):
            with whole_file(output / f"{SUMMARY}.{ending}", replace=True) as file:
                file.write(text)
        build_site(quality.context, output / DATA_DOCS, report)
    except OSError as error:
        raise ConfigError(f"--output: cannot write {output}: {error.strerror}") from error
