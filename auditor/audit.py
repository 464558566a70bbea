"""The spine: a dump in, a report out. Inventory, plan, engine, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.conclude import build_report
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import Dump, gather
from auditor.engines import local
from auditor.engines.plan import ReadUnit, plan
from auditor.engines.progress import Progress, Silent
from auditor.engines.versions import known_versions, logged_versions
from auditor.report.model import AuditReport
from auditor.version import tool_version
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

    @property
    def replicas(self) -> int:
        """Replicas that will be judged, as far as directories tell."""
        return sum(unit.kind == "directory" for unit in self.units)


def audit(dump: Path | Sequence[Path], config: AuditConfig, progress: Progress | None = None) -> AuditReport:
    """The report on a dump, or on several folders that are one dump together."""
    prepared = prepare(gather(dump), config)
    watched = progress or Silent()
    watched.total(prepared.bytes, prepared.replicas)
    verdicts: list[PartitionVerdict] = []
    interrupted = False
    try:
        # One by one, so that an interrupted run can tell what it knew.
        for verdict in _verdicts(prepared, config, watched):
            verdicts.append(verdict)
            watched.judged(len(verdict.replicas))
    except KeyboardInterrupt:
        interrupted = True
    return build_report(prepared.inventory, prepared.units, verdicts, config, tool_version(), interrupted=interrupted)


def prepare(dump: Dump, config: AuditConfig) -> Prepared:
    """What is there, and how it will be read; refuses what cannot be meant."""
    for broker, path in config.log_dir_overrides:
        if not (dump.root / path).is_dir():
            raise ConfigError(f"--log-dir {broker}={path}: no such folder in {dump.root}")
    inventory = take_inventory(dump.root, log_dirs=config.log_dir_overrides, parts=dump.parts)
    _require_something(dump.root, inventory, config)
    units = plan(str(dump.root), inventory, config.selection)
    return Prepared(inventory=inventory, units=units, surroundings=_surroundings(dump.root, inventory, config))


def _require_something(root: Path, inventory: Inventory, config: AuditConfig) -> None:
    """A dump without logs, or words that match nothing in it, are mistakes that an empty report would hide."""
    if not inventory.log_dirs:
        raise ConfigError(
            f"{root}: found no log dir: none of {len(inventory.files)} files is a meta.properties, a checkpoint or a"
            " segment in a TOPIC-PARTITION folder; name one with --log-dir BROKER=PATH"
        )
    brokers = {log_dir.broker for log_dir in inventory.log_dirs}
    unmatched = [*config.selection.unmatched(inventory)]
    unmatched += [words for words, broker in config.brokers_named() if broker not in brokers]
    if unmatched:
        raise ConfigError(f"{', '.join(unmatched)}: matches nothing in {root}")


def _surroundings(root: Path, inventory: Inventory, config: AuditConfig) -> dict[str | None, Surroundings]:
    clusters = sorted({log_dir.cluster_id for log_dir in inventory.log_dirs}, key=repr)
    found: dict[str | None, Surroundings] = {}
    for cluster in clusters:
        own = [log_dir for log_dir in inventory.log_dirs if log_dir.cluster_id == cluster]
        brokers = sorted({log_dir.broker for log_dir in own if log_dir.broker is not None})
        found[cluster] = Surroundings(
            cluster_id=cluster,
            level=config.level,
            versions=known_versions(config.versions(brokers), logged_versions(root, inventory, cluster)),
            copied_live=not any(log_dir.clean_shutdown for log_dir in own),
            brokers_in_dump=len(brokers),
        )
    return found


def _verdicts(prepared: Prepared, config: AuditConfig, progress: Progress) -> Iterator[PartitionVerdict]:
    if config.engine == "local":
        return local.run(prepared.units, prepared.surroundings, progress, config.selection)
    from auditor.engines import spark

    return spark.run(prepared.units, prepared.surroundings, progress, config.selection)
