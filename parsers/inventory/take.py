"""The inventory of a dump."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from parsers.files import FileFault, locate, printable, read_head
from parsers.inventory.contents import Inventory, LogDir, ReplicaDir
from parsers.inventory.impostors import misnamed_segments, packed_files, split_impostors
from parsers.inventory.log_dirs import (
    INDEX_CACHE,
    adopt_cluster,
    find_log_dirs,
    identify,
    name_brokers,
    read_overrides,
    refuse_unknown_brokers,
)
from parsers.inventory.neighbours import Neighbours
from parsers.inventory.owners import own_logs
from parsers.inventory.replica_claims import find_replicas, mark_same_log_dirs, mark_same_replicas
from parsers.inventory.tree_walk import Folder, FolderEntry, ancestors, unwatched, walk
from parsers.inventory.unnamed_kinds import HEAD, kind_by_head, kind_by_place
from parsers.provenance import FileKind, Origin, Source
from parsers.refusal import refuse
from parsers.tables import Refusal


def take_inventory(
    root: Path,
    *,
    log_dirs: Sequence[tuple[int, str]] = (),
    parts: Sequence[str] = (),
    seen: Callable[[int, int], None] = unwatched,
) -> Inventory:
    """Every log dir, replica and file under `root`, and a refusal for whatever has no clear owner.

    `log_dirs` gives folders and logs to brokers, as (broker, path relative to `root`); it outweighs what stands on the
    disk, but not a log's own words.
    `parts` limits the walk to some folders under `root`, relative to it; none of them may enclose another.
    `seen` is told how many files were found, and then how many of them were looked into.
    Links that leave the dump are refused; folders inside are visited once, under their own path.
    """
    folders, refusals = walk(root, parts, seen)
    overrides = read_overrides(root, folders, log_dirs)
    found = [identify(root, folders[path]) for path in find_log_dirs(folders, overrides.brokers)]
    refusals += [*overrides.refusals, *(refusal for _, refused in found for refusal in refused)]
    root_name = printable(os.path.basename(os.path.realpath(root)))
    named = adopt_cluster(name_brokers([log_dir for log_dir, _ in found], overrides, root_name))
    replicas, refused = find_replicas(root, named, folders)
    marked_dirs, copies = mark_same_log_dirs(named, replicas)
    marked_replicas, doubles = mark_same_replicas(replicas, marked_dirs)
    refusals += [*refused, *copies, *doubles, *refuse_unknown_brokers(named)]
    neighbours = Neighbours(marked_dirs, root_name)
    files, refused = _sources(
        root, _watched(folders, seen), marked_dirs, marked_replicas, neighbours, root_name
    )
    logs = own_logs(root, files, marked_dirs, neighbours, overrides)
    return Inventory(
        log_dirs=tuple(marked_dirs),
        replicas=tuple(sorted(marked_replicas, key=lambda replica: replica.path)),
        files=tuple(sorted(logs.files, key=lambda file: file.origin.source)),
        refusals=tuple(
            sorted([*refusals, *refused, *logs.refusals], key=lambda refusal: (refusal.source, refusal.span_start))
        ),
        witnesses=tuple(sorted(logs.witnesses, key=lambda word: (word.span.source, word.span.start))),
    )


def _watched(folders: Mapping[str, Folder], seen: Callable[[int, int], None]) -> Iterator[tuple[str, Folder]]:
    """The folders by path, while their files are looked into."""
    done, of = 0, sum(len(folder.files) for folder in folders.values())
    for path, folder in folders.items():
        seen(done, of)
        yield path, folder
        done += len(folder.files)


def _sources(
    root: Path,
    folders: Iterable[tuple[str, Folder]],
    log_dirs: Sequence[LogDir],
    replicas: Sequence[ReplicaDir],
    neighbours: Neighbours,
    root_name: str,
) -> tuple[list[Source], list[Refusal]]:
    """A source for every file; refused is what stands in a file's place, and segments outside a replica's directory."""
    owners = {log_dir.path: log_dir.origin for log_dir in log_dirs}
    owners |= {replica.path: replica.origin for replica in replicas}
    of_replicas = {replica.path for replica in replicas}
    sources: list[Source] = []
    refused: list[Refusal] = []
    for path, folder in folders:
        owner = owners.get(path) or _surrounding(path, owners, of_replicas, neighbours)
        cached = INDEX_CACHE in path.split("/")
        in_replica = path in of_replicas
        missed, impostors = split_impostors(folder, owner, in_replica=in_replica, in_log_dir=path in owners)
        listed = [
            _source(root, replace(owner, source=folder.child(entry.name)), entry, in_replica, cached)
            for entry in (*folder.files, *missed)
        ]
        sources += listed
        refused += [*impostors, *packed_files(listed)]
        if in_replica:
            refused += misnamed_segments(root, listed)
        if not in_replica and any(file.kind == "segment" for file in listed):
            refused.append(_refuse_homeless(path, owner, root_name))
    return sources, refused


def _surrounding(path: str, owners: Mapping[str, Origin], of_replicas: set[str], neighbours: Neighbours) -> Origin:
    """Whose a folder's files are when it is neither log dir nor replica: the log dir's around it, or a neighbour's."""
    around = next(
        (owners[folder] for folder in ancestors(path) if folder in owners and folder not in of_replicas), None
    )
    return around or neighbours.owner_of(path)


def _source(root: Path, origin: Origin, entry: FolderEntry, in_replica: bool, cached: bool) -> Source:
    kind: FileKind = entry.parsed.kind
    if cached:
        kind = "leftover"
    elif kind == "unknown" or (kind == "segment" and not in_replica):
        kind = _sniff(root, origin, entry)
    return Source(
        origin=origin,
        kind=kind,
        size=entry.size,
        base_offset=entry.parsed.base_offset,
        suffix=entry.parsed.suffix,
    )


def _sniff(root: Path, origin: Origin, entry: FolderEntry) -> FileKind:
    """The kind of a file that its name does not tell, by its place in the tree and by its first bytes."""
    kind = kind_by_place(origin.source)
    if kind != "unknown" or not entry.size:
        return kind if entry.size else entry.parsed.kind
    place = locate(root, origin.source)
    head = place if isinstance(place, FileFault) else read_head(place, HEAD)
    sniffed = kind_by_head(origin.source, head) if isinstance(head, bytes) else "unknown"
    return sniffed if sniffed != "unknown" else entry.parsed.kind


def _refuse_homeless(path: str, owner: Origin, root_name: str) -> Refusal:
    name = root_name if path == "." else path
    expected = "segments in a directory named topic-partition, within a log dir"
    return refuse(replace(owner, source=path), "malformed", 0, 0, expected=expected, found=f"segments in {name}")
