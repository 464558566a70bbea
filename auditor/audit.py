"""The spine: a dump in, a report out. Inventory, plan, engine, report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.collection import refused_by_manifests
from auditor.conclude import build_report
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import DumpParts, gather
from auditor.engines import local
from auditor.engines.plan.brought_along import plan_brought_along
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.text_units import TextPlan, plan_texts
from auditor.engines.plan.units import OF_ONE_PARTITION, ReadUnit, plan
from auditor.engines.progress import Progress
from auditor.engines.witnesses.internal_topics import plan_internal
from auditor.report.model import AuditReport
from auditor.stopping import now_telling
from auditor.surroundings import surroundings_of
from auditor.unmatched import numbered_briefly, require_matches
from auditor.version import tool_version
from parsers.files import found_at, printable
from parsers.inventory import HOME, UNPACKED, Inventory, take_inventory
from parsers.provenance import FileKind
from rules.catalog import RULES
from rules.judging.judge_topics import judge_topics
from rules.narrow.facts import Surroundings
from rules.verdict import PartitionVerdict

TELLING_KINDS: Final[tuple[FileKind, ...]] = ("request-log", "broker-log")
"""Files that tell of partitions over time, though no broker's disk be there."""


class Prepared(Struct, frozen=True, kw_only=True):
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
    given = gather(dump)
    watched = progress or Progress()
    prepared = prepare(given, config, watched)
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
    now_telling()
    if not interrupted:
        _require_matches(given.root, prepared, verdicts, config)
        verdicts.extend(judge_topics(tuple(verdicts), RULES))
    return build_report(prepared.inventory, prepared.units, verdicts, config, tool_version(), interrupted=interrupted)


def prepare(dump: DumpParts, config: AuditConfig, progress: Progress | None = None) -> Prepared:
    """What is there, and how it will be read; refuses what cannot be meant."""
    places, files = _overrides(dump.root, config)
    seen = (progress or Progress()).seen
    inventory = take_inventory(dump.root, log_dirs=places, parts=dump.parts, seen=seen)
    texts = plan_texts(str(dump.root), inventory, files)
    _require_something(dump.root, inventory, texts, config)
    logs = plan(str(dump.root), inventory, config.selection, config.log_pattern)
    own = tuple(unit for unit in logs if not (unit.kind in OF_ONE_PARTITION and unit.path in texts.homes))
    beside = plan_brought_along(str(dump.root), inventory, _traces(dump.root, inventory, config))
    read = (
        unit
        if unit.kind in OF_ONE_PARTITION
        else replace(unit, log_patterns=config.log_pattern, log_timezones=config.log_timezone)
        for unit in (*own, *beside.units)
    )
    units = (*read, *texts.units, *plan_internal(str(dump.root), inventory))
    collected = refused_by_manifests(dump.root, inventory, config.level)
    inventory = replace(inventory, refusals=(*inventory.refusals, *texts.refusals, *beside.refusals, *collected))
    return Prepared(inventory=inventory, units=units, surroundings=surroundings_of(dump.root, inventory, units, config))


def _overrides(root: Path, config: AuditConfig) -> tuple[list[tuple[int, str]], dict[str, int]]:
    """Brokers that the user gave to log dirs and logs, and to texts of kafka-dump-log."""
    places: list[tuple[int, str]] = []
    files: dict[str, int] = {}
    for broker, path in config.log_dir_overrides:
        place = root / path
        found = found_at(place)
        if found not in ("a folder", "a regular file"):
            raise ConfigError(f"{config.named('log_dir')} {broker}={path}: no such folder in {root}")
        places.append((broker, path))
        if found == "a regular file":
            files[_source_of(root, place)] = broker
    return places, files


def _traces(root: Path, inventory: Inventory, config: AuditConfig) -> dict[str, int | None]:
    """Tables of fetches that the user named, each with the broker that answered, where it was given."""
    sources = {file.origin.source for file in inventory.files}
    named: dict[str, int | None] = {}
    for broker, path in config.traces:
        place = next((each for each in (root / path, Path(path)) if found_at(each) == "a regular file"), None)
        if place is None:
            raise ConfigError(f"{config.named('trace')} {path}: no such file in {root}")
        source = _source_of(root, place)
        if source not in sources:
            raise ConfigError(
                f"{config.named('trace')} {path}: lies outside {root}; copy it there, or give its folder as a DUMP too"
            )
        named[source] = broker
    return named


def _source_of(root: Path, place: Path) -> str:
    names = Path(os.path.relpath(os.path.realpath(place), os.path.realpath(root))).parts
    return "/".join(map(printable, names))


def _require_something(root: Path, inventory: Inventory, texts: TextPlan, config: AuditConfig) -> None:
    """A dump without logs, or words that match nothing in it, are mistakes that an empty report would hide."""
    telling = {file.origin.broker for file in inventory.files if file.kind in TELLING_KINDS} - {None}
    telling |= {witness.broker for witness in inventory.witnesses}
    if not inventory.log_dirs and not texts.units and not texts.refusals and not telling:
        _refuse_what_is_no_log_dir(root, inventory)
        if not inventory.files:
            raise ConfigError(f"{root}: found no log dir: the folder is empty; copy the brokers' log dirs into it")
        raise ConfigError(
            f"{root}: found no log dir. Of {len(inventory.files)} files none is a meta.properties, a checkpoint, a"
            " segment in a TOPIC-PARTITION folder, the text of kafka-dump-log, or a log that names its broker or lies"
            " in a folder named after one. Give the folder that holds the brokers' log dirs, or name one with --log-dir"
            " BROKER=PATH"
        )
    brokers = {log_dir.broker for log_dir in inventory.log_dirs} | {unit.broker for unit in texts.units} | telling
    strange = [words for words, broker in config.brokers_named() if broker not in brokers]
    if strange:
        here = numbered_briefly(broker for broker in brokers if broker is not None)
        raise ConfigError(f"{', '.join(strange)}: matches nothing in {root}; brokers here: {here}")
    # What texts and logs tell of is known when they are read.
    later = bool(texts.units) or not inventory.replicas
    require_matches(Selection() if later else config.selection, _held(inventory), config, root)


def _refuse_what_is_no_log_dir(root: Path, inventory: Inventory) -> None:
    """Refuse by name what people give in place of log dirs."""
    if any(file.kind == "leader-epoch-checkpoint" for file in inventory.files):
        raise ConfigError(
            f"{root}: found leader-epoch-checkpoint files alone, which do not say whose they are; put each into"
            f" {HOME}, with its segments if there are any"
        )
    packed = [refusal.source for refusal in inventory.refusals if refusal.expected == UNPACKED]
    if packed:
        named = ", ".join(packed[:5])
        raise ConfigError(
            f"{root}: found no log dir, but archives: {named}; unpack them, or give them themselves as DUMPs"
        )


def _held(inventory: Inventory) -> set[tuple[str | None, int | None]]:
    return {(replica.origin.topic, replica.origin.partition) for replica in inventory.replicas}


def _require_matches(
    root: Path, prepared: Prepared, verdicts: Sequence[PartitionVerdict], config: AuditConfig
) -> None:
    """The same for a dump of which texts or logs tell, now that they are read."""
    if any(unit.kind == "dump-text" for unit in prepared.units) or not prepared.inventory.replicas:
        seen = {(v.topic, v.partition) for v in verdicts if v.topic is not None}
        # What is excluded has no verdict by which to tell that it is there.
        asked = replace(config.selection, excluded_topics=()) if seen else config.selection
        require_matches(asked, seen | _held(prepared.inventory), config, root)


def _verdicts(prepared: Prepared, config: AuditConfig, progress: Progress) -> Iterator[PartitionVerdict]:
    if config.engine == "local":
        return local.run(prepared.units, prepared.surroundings, progress, config.selection)
    from auditor.engines.spark import engine as spark

    return spark.run(prepared.units, prepared.surroundings, progress, config.selection)
