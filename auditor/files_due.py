"""Small files that every broker writes, and that a dump lacks or holds emptied: what they tell cannot be judged.

A file is due where Kafka has written it for sure. Where it may not have written it yet, an empty one is lawful: it is
named, and leaves the verdict as it is. So does a kind whose absence can hide nothing grave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from auditor.engines.plan.selection import Selection
from parsers.inventory import Inventory, LogDir, ReplicaDir
from parsers.provenance import FileKind, Source
from rules.evidence import METADATA_TOPIC
from rules.verdict import FilesLacking

Folders = Mapping[str, Sequence[Source]]
INDEXED_BYTES: Final = 8192
"""A segment of this size has an entry in its offset index, by `index.interval.bytes` as Kafka sets it."""
KRAFT_META: Final = 1
"""The version of meta.properties from KRaft on."""


class DueKind(Struct, frozen=True, kw_only=True):
    """A kind of small file: what it is called, what it tells, and whether grave findings rest on it."""

    noun: str
    tells: str
    opens: bool = True


DUE: Final[dict[FileKind, DueKind]] = {
    "replication-offset-checkpoint": DueKind(noun="replication-offset-checkpoint", tells="high watermarks"),
    "recovery-point-offset-checkpoint": DueKind(
        noun="recovery-point-offset-checkpoint", tells="how far logs were flushed"
    ),
    "log-start-offset-checkpoint": DueKind(noun="log-start-offset-checkpoint", tells="which records were deleted"),
    "clean-shutdown": DueKind(noun="clean-shutdown marker", tells="whose logs were closed whole", opens=False),
    "meta-properties": DueKind(noun="meta.properties file", tells="whose disk it is"),
    "segment": DueKind(noun="metadata log", tells="elections and ISR changes"),
    "quorum-state": DueKind(noun="quorum-state file", tells="who votes"),
    "kraft-snapshot": DueKind(noun="metadata snapshot", tells="the cluster's state"),
    "producer-snapshot": DueKind(noun="producer snapshot", tells="producers and log ends"),
    "partition-metadata": DueKind(noun="partition.metadata file", tells="topic ids", opens=False),
    "offset-index": DueKind(noun="offset index", tells="where a lookup begins", opens=False),
    "time-index": DueKind(noun="time index", tells="where a lookup by time begins", opens=False),
}
"""Without an index, a broker makes it again; records whose topic ids differ show themselves as different.

What lacks a marker is judged as after a crash. Other files need no word here. A cluster of ZooKeeper without any
partition.metadata may be older than these files. Segments alone tell whether they need a transaction index (IDX003).
All that a controller's log of KRaft tells of states is in the metadata log.
"""
NAMES: Final[dict[FileKind, str]] = {
    "partition-metadata": "partition.metadata", "meta-properties": "meta.properties",
    "clean-shutdown": ".kafka_cleanshutdown",
}  # fmt: skip
INDEXES: Final[tuple[tuple[FileKind, str], ...]] = (("offset-index", "index"), ("time-index", "timeindex"))
OF_LOG_DIRS: Final[tuple[FileKind, ...]] = (
    "replication-offset-checkpoint", "recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
)  # fmt: skip


class Due(Struct, frozen=True):
    """A file that is due, and whether it tells nothing; lawful is what a broker may not have written yet."""

    kind: FileKind
    path: str
    lacking: bool
    lawful: bool = False


def files_lacking(
    inventory: Inventory, selection: Selection, stopped: Collection[tuple[str | None, int]] = ()
) -> tuple[FilesLacking, ...]:
    """What is lacking of each kind, over all that is due of it; some brokers' logs end with a clean shutdown."""
    due = [*_due(inventory, selection), *_markers(inventory, stopped)]
    return tuple(lack for kind in DUE for lack in _lacking(kind, [each for each in due if each.kind == kind]))


def _lacking(kind: FileKind, due: Sequence[Due]) -> Iterator[FilesLacking]:
    lacking = [each for each in due if each.lacking]
    if lacking:
        some = len(lacking) < len(due)
        yield FilesLacking(
            noun=DUE[kind].noun,
            tells=DUE[kind].tells,
            due=len(due),
            paths=tuple(sorted(each.path for each in lacking)),
            opens=DUE[kind].opens and some and any(not each.lawful for each in lacking),
        )


def _due(inventory: Inventory, selection: Selection) -> Iterator[Due]:
    folders = inventory.files_by_folder()
    log_dirs = {d.path: d for d in inventory.log_dirs if d.broker is not None and not d.ambiguous}
    replicas = [r for r in inventory.replicas if r.state == "current" and r.listed and not r.ambiguous]
    asked = [
        r for r in replicas
        if r.origin.log_dir in log_dirs and selection.admits(r.origin.topic, r.origin.partition)
    ]  # fmt: skip
    kraft = {r.origin.cluster_id for r in replicas if r.origin.topic == METADATA_TOPIC}
    kraft |= {d.cluster_id for d in log_dirs.values() if d.meta_version == KRAFT_META}
    with_ids = kraft | {r.origin.cluster_id for r in replicas if r.origin.topic_id is not None}
    if selection.admits(METADATA_TOPIC, 0):
        yield from _metadata_logs([d for d in log_dirs.values() if d.cluster_id in kraft], replicas, folders)
    for path in sorted({r.origin.log_dir or "" for r in asked}):
        held = any(r.origin.log_dir == path and r.origin.topic != METADATA_TOPIC for r in asked)
        yield from _of_log_dir(log_dirs[path], folders.get(path, ()), with_replicas=held)
    for replica in asked:
        stopped = log_dirs[replica.origin.log_dir or ""].clean_shutdown is not None
        files = [file for file in folders.get(replica.path, ()) if not file.suffix]
        yield from _of_replica(replica, files, stopped=stopped, with_ids=replica.origin.cluster_id in with_ids)


def _markers(inventory: Inventory, stopped: Collection[tuple[str | None, int]]) -> Iterator[Due]:
    """One in each log dir with replicas, since its broker says that it stopped, and not that it started again."""
    held = {r.origin.log_dir for r in inventory.replicas if r.origin.topic != METADATA_TOPIC}
    for log_dir in inventory.log_dirs:
        if log_dir.path in held and not log_dir.ambiguous and (log_dir.cluster_id, log_dir.broker) in stopped:
            path = _child(log_dir.path, NAMES["clean-shutdown"])
            yield Due("clean-shutdown", path, not log_dir.clean_shutdown)


def _metadata_logs(log_dirs: Sequence[LogDir], replicas: Sequence[ReplicaDir], folders: Folders) -> Iterator[Due]:
    """One of each node of a KRaft cluster, in any of its log dirs; none is ever without a record and a snapshot."""
    copies = [r for r in replicas if r.origin.topic == METADATA_TOPIC]
    nodes: dict[tuple[str | None, int | None], list[LogDir]] = {}
    for log_dir in log_dirs:
        nodes.setdefault((log_dir.cluster_id, log_dir.broker), []).append(log_dir)
    for (cluster, broker), own in nodes.items():
        here = [r.path for r in copies if (r.origin.cluster_id, r.origin.broker) == (cluster, broker)]
        held = [file for path in here for file in folders.get(path, ()) if not file.suffix]
        lacking = not any(file.size for file in held if file.kind in ("segment", "kraft-snapshot"))
        yield Due("segment", min(here, default=_child(own[0].path, f"{METADATA_TOPIC}-0")), lacking)


def _of_log_dir(log_dir: LogDir, files: Sequence[Source], *, with_replicas: bool) -> Iterator[Due]:
    """Checkpoints are made empty at a start, and written every few seconds, and at a stop."""
    plain = [file for file in files if not file.suffix]
    meta = next((file.origin.source for file in plain if file.kind == "meta-properties"), None)
    yield Due("meta-properties", meta or _child(log_dir.path, NAMES["meta-properties"]), meta is None)
    yield from _emptied(plain, "kraft-snapshot")
    for kind in OF_LOG_DIRS if with_replicas else ():
        own = [file for file in plain if file.kind == kind]
        path = own[0].origin.source if own else _child(log_dir.path, kind)
        yield Due(kind, path, not any(file.size for file in own), lawful=bool(own) and not log_dir.clean_shutdown)


def _of_replica(replica: ReplicaDir, files: Sequence[Source], *, stopped: bool, with_ids: bool) -> Iterator[Due]:
    segments = sorted(file.base_offset or 0 for file in files if file.kind == "segment")
    written = any(file.size for file in files if file.kind == "segment")
    if replica.origin.topic == METADATA_TOPIC:
        yield _one_of("quorum-state", replica, files)
    yield from _indexes(files, segments[-1:], stopped=stopped, all_due=replica.origin.topic != METADATA_TOPIC)
    if with_ids and written:
        yield _one_of("partition-metadata", replica, files)
    yield from _emptied(files, "kraft-snapshot")
    snapshots = list(_emptied(files, "producer-snapshot", lawful=not stopped))
    yield from snapshots
    if written and not snapshots and (stopped or len(segments) > 1):
        yield Due("producer-snapshot", _child(replica.path, "*.snapshot"), lacking=True)


def _one_of(kind: FileKind, replica: ReplicaDir, files: Sequence[Source]) -> Due:
    """A file of which every replica has one; what is wrong with an emptied one its reader says."""
    return Due(kind, _child(replica.path, NAMES.get(kind, kind)), all(file.kind != kind for file in files))


def _emptied(files: Sequence[Source], kind: FileKind, *, lawful: bool = False) -> Iterator[Due]:
    """Files that are never empty once they were written to disk."""
    for file in files:
        if file.kind == kind:
            yield Due(kind, file.origin.source, not file.size, lawful)


def _indexes(files: Sequence[Source], active: Sequence[int], *, stopped: bool, all_due: bool) -> Iterator[Due]:
    """Both of each segment with records; of the one that is written they are due from a clean shutdown on.

    Of a log that no client reads, and so looks up in no index, those that are here count alone.
    """
    for segment in files:
        if segment.kind == "segment" and segment.size and (stopped or segment.base_offset not in active):
            for kind, ending in INDEXES:
                own = [f for f in files if (f.kind, f.base_offset) == (kind, segment.base_offset)]
                sparse = kind == "offset-index" and segment.size < INDEXED_BYTES and bool(own)
                path = f"{segment.origin.source.removesuffix('.log')}.{ending}"
                if own or all_due:
                    yield Due(kind, path, not sparse and not any(file.size for file in own))


def _child(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
