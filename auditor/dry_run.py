"""What an audit would read, by kind, and about how long it would take; no segment and no log is read for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from auditor.archives import at_hand
from auditor.audit import Prepared, prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.plan.units import UnitKind
from auditor.outlet import require_reports
from auditor.report.sheet import size
from rules.words import counted

KINDS: Final[dict[UnitKind, str]] = {
    "log": "segments",
    "directory": "checkpoints and snapshots",
    "root": "checkpoints and snapshots",
    "metadata": "metadata log",
    "group-offsets": "topics of coordinators",
    "transaction-states": "topics of coordinators",
    "request-log": "request logs",
    "broker-log": "brokers' logs",
    "server-properties": "properties",
    "dump-text": "texts of kafka-dump-log",
    "trace-table": "tables of fetches",
    "describe-text": "outputs of tools",
    "znodes": "znodes",
}
SLOW_AND_FAST: Final[dict[str, tuple[int, int]]] = {"segments": (40 << 20, 800 << 20)}
OF_TEXTS: Final = (5 << 20, 25 << 20)
"""Bytes a second of one core, for small and large batches, and for texts, as audits of busy clusters took."""
A_REPLICA: Final = (0.03, 0.005)
START_OF_SPARK: Final = (20, 6)
QUICK: Final = 20
"""Level quick reads headers alone: segments go so many times faster."""


class Amount(Struct, frozen=True, kw_only=True):
    """How much of one kind would be read."""

    kind: str
    files: int
    bytes: int


def dry_run(dumps: Sequence[Path], config: AuditConfig) -> str:
    """The table, what it is about, and the time."""
    require_reports(config)
    with at_hand(dumps, quiet=config.quiet) as here:
        return "\n".join(_page(prepare(gather(here.folders, here.archives), config), config)) + "\n"


def amounts(prepared: Prepared) -> list[Amount]:
    """What the units of the plan read, a file once in its kind."""
    files: dict[str, set[str]] = {}
    held: dict[str, int] = {}
    for unit in prepared.units:
        kind = KINDS[unit.kind]
        files.setdefault(kind, set()).update(piece.source for piece in unit.pieces)
        held[kind] = held.get(kind, 0) + unit.bytes
    kinds = dict.fromkeys(KINDS.values())
    return [Amount(kind=kind, files=len(files[kind]), bytes=held[kind]) for kind in kinds if files.get(kind)]


def _page(prepared: Prepared, config: AuditConfig) -> Iterator[str]:
    amounts_read = amounts(prepared)
    yield "An audit would read this. No segment and no log was read now, beyond what tells whose each file is."
    yield ""
    rows = [(each.kind, each.files, size(each.bytes)) for each in amounts_read]
    rows.append(("in all", sum(each.files for each in amounts_read), size(sum(each.bytes for each in amounts_read))))
    yield from (f"  {kind:26} {counted(files, 'file'):>12} {much:>12}" for kind, files, much in rows)
    yield ""
    own = {(unit.cluster_id, unit.topic, unit.partition) for unit in prepared.units if unit.topic is not None}
    brokers = {(unit.cluster_id, unit.broker) for unit in prepared.units if unit.broker >= 0}
    replicas, partitions = counted(prepared.replicas, "replica"), counted(len(own), "partition")
    yield f"{replicas} of {partitions} on {counted(len(brokers), 'broker')}, at level {config.level}."
    slow, fast = _seconds(amounts_read, prepared.replicas, config)
    where = "in one process" if config.engine == "local" else f"on Spark with {counted(os.cpu_count() or 1, 'core')}"
    lasting = " to ".join(dict.fromkeys((_time(fast), _time(slow))))
    yield f"It would take about {lasting} {where}. Small batches and busy request logs are slow."


def _seconds(amounts_read: Sequence[Amount], replicas: int, config: AuditConfig) -> tuple[float, float]:
    """The longer and the shorter guess."""
    cores = 1 if config.engine == "local" else os.cpu_count() or 1
    guesses = []
    for which in (0, 1):
        faster = QUICK if config.level == "quick" else 1
        work = replicas * A_REPLICA[which]
        for each in amounts_read:
            rate = SLOW_AND_FAST[each.kind][which] * faster if each.kind in SLOW_AND_FAST else OF_TEXTS[which]
            work += each.bytes / rate
        guesses.append(work / cores + (0 if config.engine == "local" else START_OF_SPARK[which]))
    return guesses[0], guesses[1]


def _time(seconds: float) -> str:
    if seconds < 1:
        return "1 s"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"  # noqa: PLR2004 - a minute and a half
