"""Which texts of kafka-dump-log are read for which broker: one unit a broker, since they are judged together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from auditor.engines.plan.pieces import whole
from auditor.engines.plan.units import DIRECTORY_KINDS, ReadUnit, TextHome
from parsers.inventory import Inventory, ReplicaDir, broker_of_word, plain_segments
from parsers.provenance import Source, Span
from parsers.refusal import refuse
from parsers.tables import Refusal

Owner = tuple[str | None, int]


class TextPlan(Struct, frozen=True, kw_only=True):
    """Units that read texts, directories that they read themselves, and texts of nobody."""

    units: tuple[ReadUnit, ...] = ()
    homes: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()


def plan_texts(dump: str, inventory: Inventory, given: Mapping[str, int]) -> TextPlan:
    """A unit for every broker that has texts; `given` names the broker of a text, and outweighs its name and place."""
    texts = [file for file in inventory.files if file.kind == "dump-text" and file.size]
    by_owner: dict[Owner, list[Source]] = {}
    refusals: list[Refusal] = []
    for file in texts:
        broker = _broker(file, given)
        if broker is None:
            expected = f"a folder or file named broker-N, or --log-dir N={file.origin.source}, N being the broker"
            found = "a text whose broker nothing tells"
            refusals.append(refuse(file.origin, "ambiguous", 0, file.size, expected=expected, found=found))
        else:
            by_owner.setdefault((file.origin.cluster_id or _only_cluster(inventory), broker), []).append(file)
    ordered = sorted(by_owner.items(), key=repr)
    units = tuple(_unit(dump, owner, files, inventory) for owner, files in ordered)
    homes = frozenset(home.path for unit in units for home in unit.homes if not home.has_segments)
    return TextPlan(units=units, homes=homes, refusals=tuple(refusals))


def _broker(file: Source, given: Mapping[str, int]) -> int | None:
    """The user's word first, then the log dir that the text lies in, its own name, the folders around it."""
    source = file.origin.source
    if source in given:
        return given[source]
    if file.origin.log_dir is not None:
        return file.origin.broker
    named = broker_of_word(source.rpartition("/")[2].partition(".")[0])
    return file.origin.broker if named is None else named


def _only_cluster(inventory: Inventory) -> str | None:
    clusters = {log_dir.cluster_id for log_dir in inventory.log_dirs}
    return next(iter(clusters)) if len(clusters) == 1 else None


def _unit(dump: str, owner: Owner, files: Sequence[Source], inventory: Inventory) -> ReadUnit:
    cluster, broker = owner
    return ReadUnit(
        kind="dump-text",
        dump=dump,
        cluster_id=cluster,
        broker=broker,
        log_dir=_log_dir(owner, files, inventory),
        order=-2,
        pieces=tuple(whole(file) for file in files),
        homes=tuple(_homes(owner, inventory)),
    )


def _log_dir(owner: Owner, files: Sequence[Source], inventory: Inventory) -> str:
    """The broker's log dir if it has one, else the folder around its texts."""
    own = [log_dir.path for log_dir in inventory.log_dirs if (log_dir.cluster_id, log_dir.broker) == owner]
    if len(own) == 1:
        return own[0]
    folders = [file.origin.source.rpartition("/")[0] or "." for file in files]
    return os.path.commonpath(folders).replace(os.sep, "/") or "."


def _homes(owner: Owner, inventory: Inventory) -> Iterator[TextHome]:
    folders = inventory.files_by_folder()
    stops = {log_dir.path: log_dir.clean_shutdown for log_dir in inventory.log_dirs}
    for replica in inventory.replicas:
        origin = replica.origin
        if (origin.cluster_id, origin.broker) == owner and replica.state == "current" and not replica.ambiguous:
            yield _home(replica, folders.get(replica.path, ()), stops.get(origin.log_dir or "."))


def _home(replica: ReplicaDir, files: Sequence[Source], stop: Span | None) -> TextHome:
    origin = replica.origin
    return TextHome(
        topic=origin.topic or "",
        partition=origin.partition or 0,
        topic_id=origin.topic_id,
        log_dir=origin.log_dir or ".",
        path=replica.path,
        has_segments=bool(plain_segments(files).segments),
        pieces=tuple(whole(file) for file in files if file.kind in DIRECTORY_KINDS and not file.suffix),
        clean_shutdown=stop,
    )
