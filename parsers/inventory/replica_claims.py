"""The replicas of the log dirs, and claims of two directories to be the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from msgspec.structs import replace

from parsers.checkpoints import read_partition_metadata
from parsers.files import read_source
from parsers.inventory.contents import LogDir, ReplicaDir
from parsers.inventory.file_names import parse_replica_name
from parsers.inventory.tree_walk import Folder
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal

_METADATA_LIMIT: Final = 4 << 10
_PATH_LIMIT: Final = 2_000
Item = TypeVar("Item")


def find_replicas(
    root: Path, log_dirs: Sequence[LogDir], folders: Mapping[str, Folder]
) -> tuple[list[ReplicaDir], list[Refusal]]:
    """The replicas of all log dirs, each with the topic id that its partition.metadata gives."""
    roots = {log_dir.path for log_dir in log_dirs}
    replicas: list[ReplicaDir] = []
    refusals: list[Refusal] = []
    for log_dir in log_dirs:
        folder = folders[log_dir.path]
        for path in map(folder.child, folder.subfolders):
            replica = None if path in roots else _replica(path, log_dir)
            if replica:
                identified, refused = _identify(root, replica, folders[path])
                replicas.append(replace(identified, listed=folders[path].listed))
                refusals += refused
    return replicas, refusals


def _replica(path: str, log_dir: LogDir) -> ReplicaDir | None:
    name = parse_replica_name(path.rpartition("/")[2])
    if not name:
        return None
    origin = replace(log_dir.origin, source=path, topic=name.topic, partition=name.partition, state=name.state)
    return ReplicaDir(origin=origin, path=path, state=name.state)


def _identify(root: Path, replica: ReplicaDir, folder: Folder) -> tuple[ReplicaDir, tuple[Refusal, ...]]:
    entry = next((entry for entry in folder.files if entry.parsed.kind == "partition-metadata"), None)
    if not entry:
        return replica, ()
    origin = replace(replica.origin, source=folder.child(entry.name))
    content = read_source(root, origin, _METADATA_LIMIT)
    if not isinstance(content, bytes):
        return replica, (content,)
    metadata = read_partition_metadata(content, origin)
    own = replace(replica.origin, topic_id=metadata.topic_id)
    return replace(replica, origin=own), metadata.refusals


def mark_same_log_dirs(
    log_dirs: Sequence[LogDir], replicas: Sequence[ReplicaDir]
) -> tuple[list[LogDir], list[Refusal]]:
    """Log dirs that are copies of one: the same directory.id, or the same broker with the same set of replicas."""
    held: dict[str, set[tuple[str | None, int | None, str | None]]] = {}
    for replica in replicas:
        if replica.state == "current":
            origin = replica.origin
            held.setdefault(origin.log_dir or ".", set()).add((origin.topic, origin.partition, origin.topic_id))
    by_directory = _pairs((log_dir.directory_id, log_dir) for log_dir in log_dirs if log_dir.directory_id)
    by_content = _pairs(
        ((log_dir.cluster_id, log_dir.broker, frozenset(held[log_dir.path])), log_dir)
        for log_dir in log_dirs
        if log_dir.broker is not None and log_dir.path in held
    )
    pairs = {(first.path, second.path): first for first, second in by_directory + by_content}
    refusals = [
        _refuse_pair(first.origin, path, other, "one copy of a log dir") for (path, other), first in pairs.items()
    ]
    ambiguous = {path for pair in pairs for path in pair}
    return [replace(item, ambiguous=True) if item.path in ambiguous else item for item in log_dirs], refusals


def mark_same_replicas(
    replicas: Sequence[ReplicaDir], log_dirs: Sequence[LogDir]
) -> tuple[list[ReplicaDir], list[Refusal]]:
    """Current directories of one broker that claim one replica. Two topic ids are two topics; an absent one may be any.

    All replicas of log dirs that are refused as copies of each other are marked, without a refusal of their own.
    """
    copied = {log_dir.path for log_dir in log_dirs if log_dir.ambiguous}
    groups: dict[tuple[str | None, int, str | None, int | None], list[ReplicaDir]] = {}
    for replica in replicas:
        origin = replica.origin
        if replica.state == "current" and origin.broker is not None:
            groups.setdefault((origin.cluster_id, origin.broker, origin.topic, origin.partition), []).append(replica)
    pairs = [pair for group in groups.values() if len(group) > 1 for pair in _claims(group)]
    refusals = [
        _refuse_pair(first.origin, first.path, second.path, "one folder of this partition on a broker")
        for first, second in pairs
        if not {first.origin.log_dir, second.origin.log_dir} <= copied
    ]
    ambiguous = {replica.path for pair in pairs for replica in pair}
    ambiguous |= {replica.path for replica in replicas if replica.origin.log_dir in copied}
    return [replace(item, ambiguous=True) if item.path in ambiguous else item for item in replicas], refusals


def _claims(group: Sequence[ReplicaDir]) -> list[tuple[ReplicaDir, ReplicaDir]]:
    unknown = [replica for replica in group if replica.origin.topic_id is None]
    if unknown:
        return [(unknown[0], other) for other in group if other is not unknown[0]]
    return _pairs((replica.origin.topic_id, replica) for replica in group)


def _pairs(keyed: Iterable[tuple[object, Item]]) -> list[tuple[Item, Item]]:
    """The first item of each key, with every further one of that key."""
    first: dict[object, Item] = {}
    pairs: list[tuple[Item, Item]] = []
    for key, item in keyed:
        earlier = first.setdefault(key, item)
        if earlier is not item:
            pairs.append((earlier, item))
    return pairs


def _refuse_pair(origin: Origin, path: str, other: str, expected: str) -> Refusal:
    """Both paths stand in `found` in full: they are what the user must choose between."""
    refusal = refuse(replace(origin, source=path), "ambiguous", 0, 0, expected=expected, found="")
    return replace(refusal, found=f"{path} and {other}"[:_PATH_LIMIT])
