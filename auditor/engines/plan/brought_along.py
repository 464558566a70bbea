"""Which tables, transcripts and tools' outputs are read: what people brought along beside the brokers' own files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.engines.plan.borne_ids import topic_names
from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit, UnitKind
from parsers.inventory import Inventory
from parsers.provenance import FileKind, Source
from parsers.refusal import refuse
from parsers.tables import Refusal
from rules.replicas.topic_names import TopicName

_UNITS: Final[Mapping[FileKind, UnitKind]] = {
    "trace-table": "trace-table",
    "describe-text": "describe-text",
    "znode": "znodes",
    "znode-text": "znodes",
}
Group = tuple[UnitKind, str | None, str]


class BroughtAlong(Struct, frozen=True, kw_only=True):
    """Units that read what was told, and files that belong to no cluster."""

    units: tuple[ReadUnit, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def plan_brought_along(dump: str, inventory: Inventory, traces: Mapping[str, int | None]) -> BroughtAlong:
    """A unit for every table and text, and one for all the znodes of a cluster: states and assignments are one.

    `traces` are tables that the user named, each with the broker that answered, where that was given.
    """
    clusters = {log_dir.cluster_id for log_dir in inventory.log_dirs}
    grouped: dict[Group, list[Source]] = {}
    refusals: list[Refusal] = []
    for file in _files_brought(inventory, traces):
        if not file.size:
            continue
        cluster = file.origin.cluster_id or (next(iter(clusters)) if len(clusters) == 1 else None)
        if cluster is None and len(clusters) > 1:
            expected, found = "a folder of one cluster around it", f"{len(clusters)} clusters in the dump"
            refusals.append(refuse(file.origin, "ambiguous", 0, file.size, expected=expected, found=found))
            continue
        kind = _UNITS[file.kind]
        together = "" if kind == "znodes" else file.origin.source
        grouped.setdefault((kind, cluster, together), []).append(file)
    names = topic_names(inventory)
    units = tuple(_unit(dump, group, files, traces, names) for group, files in grouped.items())
    return BroughtAlong(units=units, refusals=tuple(refusals))


def _files_brought(inventory: Inventory, traces: Mapping[str, int | None]) -> Iterator[Source]:
    for file in inventory.files:
        given = file.origin.source in traces
        if given or file.kind in _UNITS:
            yield replace(file, kind="trace-table") if given else file


def _unit(
    dump: str, group: Group, files: Sequence[Source], traces: Mapping[str, int | None], names: tuple[TopicName, ...]
) -> ReadUnit:
    kind, cluster, _ = group
    first = files[0].origin
    given = traces.get(first.source)
    broker = first.broker if given is None else given
    return ReadUnit(
        kind=kind,
        dump=dump,
        cluster_id=cluster,
        broker=-1 if broker is None else broker,
        log_dir=first.log_dir or "",
        order=-3,
        pieces=tuple(_piece(file) for file in files),
        names=names if kind == "trace-table" else (),
    )


def _piece(file: Source) -> Piece:
    return Piece(source=file.origin.source, kind=file.kind, base_offset=None, size=file.size, start=0, end=file.size)
