"""The spine: a dump in, a report out. Inventory, plan, engine, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from auditor.config import AuditConfig, ConfigError
from auditor.engines import local
from auditor.engines.plan import ReadUnit, plan
from auditor.engines.progress import Progress, Silent
from auditor.conclude import build_report
from auditor.report.model import AuditReport
from parsers.inventory import Inventory, take_inventory
from rules.assemble import Surroundings
from rules.verdict import PartitionVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A dump that is ready to be read by an engine."""

    inventory: Inventory
    units: tuple[ReadUnit, ...]
    surroundings: Mapping[str | None, Surroundings]

    @property
    def bytes(self) -> int:
        """Bytes of segments and checkpoints that the units read."""
        return sum(unit.bytes for unit in self.units)


def audit(dump: Path, config: AuditConfig, progress: Progress | None = None) -> AuditReport:
    """The report on a dump."""
    prepared = prepare(dump, config)
    watched = progress or Silent()
    watched.total(prepared.bytes)
    verdicts: list[PartitionVerdict] = []
    interrupted = False
    try:
        # One by one, so that an interrupted run can tell what it knew.
        for verdict in _verdicts(prepared, config, watched):
            verdicts.append(verdict)  # noqa: PERF402
    except KeyboardInterrupt:
        interrupted = True
    return build_report(prepared.inventory, prepared.units, verdicts, config, tool_version(), interrupted=interrupted)


def prepare(dump: Path, config: AuditConfig) -> Prepared:
    """What is there, and how it will be read; refuses what cannot be meant."""
    if not dump.is_dir():
        message = f"{dump}: expected a folder that holds brokers' log dirs, found {_what(dump)}"
        raise ConfigError(message)
    inventory = take_inventory(dump, log_dirs=config.log_dir_overrides)
    if not inventory.log_dirs:
        message = (
            f"{dump}: found no log dir: none of {len(inventory.files)} files is a meta.properties, a checkpoint or a"
            " segment in a TOPIC-PARTITION folder; name one with --log-dir BROKER=PATH"
        )
        raise ConfigError(message)
    unmatched = config.selection.unmatched(inventory)
    if unmatched:
        message = f"{', '.join(unmatched)}: matches nothing in {dump}"
        raise ConfigError(message)
    units = plan(str(dump), inventory, config.selection)
    return Prepared(inventory=inventory, units=units, surroundings=_surroundings(inventory, config))


def _what(path: Path) -> str:
    return "a file" if path.exists() else "nothing"


def _surroundings(inventory: Inventory, config: AuditConfig) -> dict[str | None, Surroundings]:
    clusters = sorted({log_dir.cluster_id for log_dir in inventory.log_dirs}, key=repr)
    found: dict[str | None, Surroundings] = {}
    for cluster in clusters:
        own = [log_dir for log_dir in inventory.log_dirs if log_dir.cluster_id == cluster]
        brokers = sorted({log_dir.broker for log_dir in own if log_dir.broker is not None})
        found[cluster] = Surroundings(
            cluster_id=cluster,
            level=config.level,
            versions=config.versions(brokers),
            copied_live=not any(log_dir.clean_shutdown for log_dir in own),
            brokers_in_dump=len(brokers),
        )
    return found


def _verdicts(prepared: Prepared, config: AuditConfig, progress: Progress) -> Iterator[PartitionVerdict]:
    if config.engine == "local":
        return local.run(prepared.units, prepared.surroundings, progress, config.selection)
    from auditor.engines import spark  # noqa: PLC0415 - the local engine must not pay for pyspark

    return spark.run(prepared.units, prepared.surroundings, progress, config.selection)


def tool_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("tidemark")
    except PackageNotFoundError:
        return "0+source"
