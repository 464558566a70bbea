"""Which folders are log dirs, and whose they are."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.checkpoints import CleanShutdown, MetaProperties, read_clean_shutdown, read_meta_properties
from parsers.files import printable, read_source
from parsers.inventory.contents import LogDir
from parsers.inventory.file_names import LOG_DIR_MARKS, broker_of_number, broker_of_word, parse_replica_name
from parsers.inventory.tree_walk import Folder, ancestors
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal

_IDENTITY_LIMIT: Final = 64 << 10
INDEX_CACHE: Final = "remote-log-index-cache"


class Overrides(Struct, frozen=True):
    """Brokers that the user gave to folders."""

    brokers: Mapping[str, int]
    refusals: tuple[Refusal, ...]

    def broker_of(self, path: str) -> int | None:
        """The broker given to a folder or, nearest first, to one that encloses it."""
        return next((self.brokers[folder] for folder in ancestors(path) if folder in self.brokers), None)


def read_overrides(root: Path, folders: Mapping[str, Folder], given: Sequence[tuple[int, str]]) -> Overrides:
    """The user's folders found in the tree; one that is not there, or is given to two brokers, is refused."""
    brokers: dict[str, int] = {}
    refusals: list[Refusal] = []
    for broker, text in given:
        path = _folder_of(root, text)
        origin = Origin(source=path, broker=broker)
        if path not in folders and not _is_file(path, folders):
            expected = f"a folder of the dump, for --log-dir {broker}=…"
            refusals.append(refuse(origin, "unreadable", 0, 0, expected=expected, found=path))
        elif brokers.setdefault(path, broker) != broker:
            expected = "one broker a log dir"
            refusals.append(refuse(origin, "ambiguous", 0, 0, expected=expected, found=f"{brokers[path]} and {broker}"))
    return Overrides(brokers, tuple(refusals))


def _is_file(path: str, folders: Mapping[str, Folder]) -> bool:
    folder, _, name = path.rpartition("/")
    return any(entry.name == name for entry in folders[folder or "."].files) if (folder or ".") in folders else False


def _folder_of(root: Path, text: str) -> str:
    path = text.replace("\\", "/") or "."
    if os.path.isabs(path):
        path = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    return "/".join(printable(name) for name in os.path.normpath(path).split(os.sep))


def find_log_dirs(folders: Mapping[str, Folder], given: Collection[str]) -> list[str]:
    """Paths of the log dirs: folders with a log dir's own files, with replicas' folders, or named by the user."""
    found = {path for path, folder in folders.items() if _has_mark(folder) or _has_replica(folder, folders)}
    enclosing = {above for path in found for above in ancestors(path)}
    return sorted(found | {path for path in given if path in folders and path not in enclosing})


def _has_mark(folder: Folder) -> bool:
    return any(entry.parsed.kind in LOG_DIR_MARKS for entry in folder.files)


def _has_replica(folder: Folder, folders: Mapping[str, Folder]) -> bool:
    replicas = (folders[folder.child(name)] for name in folder.subfolders if parse_replica_name(name))
    parsed = (entry.parsed for replica in replicas for entry in replica.files)
    return any(name.base_offset is not None or name.kind == "leader-epoch-checkpoint" for name in parsed)


def identify(root: Path, folder: Folder) -> tuple[LogDir, list[Refusal]]:
    """What a log dir's own files say of it."""
    meta = clean = None
    for entry in folder.files:
        origin = Origin(source=folder.child(entry.name), log_dir=folder.path)
        if entry.parsed.kind == "meta-properties":
            meta = _read_meta(root, origin)
        elif entry.parsed.kind == "clean-shutdown":
            clean = _read_clean_shutdown(root, origin, entry.size)
    log_dir = LogDir(path=folder.path)
    if meta:
        log_dir = replace(
            log_dir,
            cluster_id=meta.cluster_id,
            broker=meta.broker,
            directory_id=meta.directory_id,
            meta_version=meta.version,
            meta=meta.span,
        )
    if clean:
        log_dir = replace(log_dir, clean_shutdown=clean.span)
    return log_dir, [*(meta.refusals if meta else ()), *(clean.refusals if clean else ())]


def _read_meta(root: Path, origin: Origin) -> MetaProperties:
    content = read_source(root, origin, _IDENTITY_LIMIT)
    if isinstance(content, bytes):
        return read_meta_properties(content, origin)
    return MetaProperties(span=origin.span(0, content.span_end), refusals=(content,))


def _read_clean_shutdown(root: Path, origin: Origin, size: int) -> CleanShutdown:
    content = read_source(root, origin, _IDENTITY_LIMIT)
    if isinstance(content, bytes):
        return read_clean_shutdown(content, origin)
    return CleanShutdown(span=origin.span(0, size), refusals=(content,))


def name_brokers(log_dirs: Sequence[LogDir], overrides: Overrides, root_name: str) -> list[LogDir]:
    """Log dirs with their broker: the user's word first, then meta.properties, then the name of a folder around."""
    stated = [_override(log_dir, overrides) for log_dir in log_dirs]
    brokers: dict[str, set[int]] = {}
    for log_dir in stated:
        if log_dir.broker is not None:
            for folder in ancestors(log_dir.path):
                brokers.setdefault(folder, set()).add(log_dir.broker)
    return [_from_folder(log_dir, root_name, brokers) if log_dir.broker is None else log_dir for log_dir in stated]


def _override(log_dir: LogDir, overrides: Overrides) -> LogDir:
    broker = overrides.broker_of(log_dir.path)
    return log_dir if broker is None else replace(log_dir, broker=broker)


def _from_folder(log_dir: LogDir, root_name: str, brokers: Mapping[str, set[int]]) -> LogDir:
    """The nearest folder named after a broker, by word before by bare number, since disks bear numbers too."""
    folders = [(path, root_name if path == "." else path.rpartition("/")[2]) for path in ancestors(log_dir.path)]
    for broker_of in (broker_of_word, broker_of_number):
        for path, name in folders:
            broker = broker_of(name)
            # A folder that holds another broker's log dir too is not named after a broker.
            if broker is not None and brokers.get(path, {broker}) == {broker}:
                return replace(log_dir, broker=broker)
    return log_dir


def adopt_cluster(log_dirs: Sequence[LogDir]) -> list[LogDir]:
    """A copy without meta.properties belongs to the dump's only cluster, if it has only one."""
    clusters = {log_dir.cluster_id for log_dir in log_dirs if log_dir.meta}
    only = next(iter(clusters)) if len(clusters) == 1 else None
    if only is None:
        return list(log_dirs)
    return [log_dir if log_dir.meta else replace(log_dir, cluster_id=only) for log_dir in log_dirs]


def refuse_unknown_brokers(log_dirs: Sequence[LogDir]) -> list[Refusal]:
    """A refusal for each log dir that no broker could be named for."""
    return [
        refuse(
            log_dir.origin, "ambiguous", 0, 0,
            expected=f"meta.properties with the broker's id, or --log-dir BROKER={log_dir.path}",
            found=f"log dir {log_dir.path} of an unknown broker",
        )
        for log_dir in log_dirs if log_dir.broker is None
    ]  # fmt: skip
