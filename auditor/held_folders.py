"""Which log each replica's folder holds: what names of files, first batches and a broker's checkpoint show of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from parsers.checkpoints import read_offset_checkpoint
from parsers.files import FileFault, locate, read_at, read_source
from parsers.inventory import Inventory, ReplicaDir
from parsers.provenance import Source
from parsers.segment import scan_source
from parsers.segment.first_batch import FirstBatch, first_batch
from parsers.tables import Refusal
from rules.replicas.belied import LooseFolder
from rules.replicas.exchanged import Exchanged, exchanged
from rules.replicas.held_folder import HeldFolder, Partition

Place = tuple[str | None, str | None, int | None]
"""A log dir, and a partition in it."""
READ_TO_ITS_END: Final = 64 << 10
"""A last segment of this size is read where no file's name tells the log end."""
Batch = tuple[int | None, int, int, int]
"""What every replica has of a batch: its first offset, leader epoch, size and checksum."""
TAIL_BYTES: Final = 4096


def held_otherwise(
    root: Path, inventory: Inventory, current: Sequence[ReplicaDir]
) -> tuple[tuple[Exchanged, ...], tuple[LooseFolder, ...]]:
    """The folders that hold, or may hold, another partition's log, and those that nothing shows to be in place."""
    files = _plain_files(inventory.files)
    # A cleaner takes the beginnings of logs, and never goes into the segment that is written.
    looked_at = {base for own in files.values() if own.segments for base in (min(own.segments), max(own.segments))}
    nothing = _Files({}, ())
    flushed = _told_ends(root, inventory)
    stopped = {log_dir.path for log_dir in inventory.log_dirs if log_dir.clean_shutdown}
    seen: list[HeldFolder] = []
    logs: dict[HeldFolder, _Files] = {}
    for replica in current:
        own = files.get(replica.path, nothing)
        for folder in _folder(root, replica, own, looked_at, flushed, stopped):
            seen.append(folder)
            logs[folder] = own

    @cache
    def end_of(folder: HeldFolder) -> int | None:
        return _read_to_the_end(root, logs[folder]) if folder.end is None else folder.end

    @cache
    def tail_of(folder: HeldFolder) -> bytes:
        return _tail(root, logs[folder])

    @cache
    def ending_of(folder: HeldFolder) -> frozenset[Batch]:
        return _last_batches(root, logs[folder])

    return exchanged(seen, end_of, tail_of), tuple(_loose(seen, ending_of))


def _loose(folders: Sequence[HeldFolder], ending_of: Callable[[HeldFolder], frozenset[Batch]]) -> Iterator[LooseFolder]:
    """The folders that neither begin as another one of their partition does, nor have one of its last batches."""
    by_place: dict[Partition, list[HeldFolder]] = {}
    for folder in folders:
        by_place.setdefault(folder.of, []).append(folder)
    for folder in folders:
        peers = [peer for peer in by_place[folder.of] if peer is not folder]
        if not any(folder.alike(peer) for peer in peers) and ending_of(folder).isdisjoint(
            batch for peer in peers for batch in ending_of(peer)
        ):
            yield LooseFolder(
                of=folder.of, broker=folder.broker, path=folder.path, end=folder.end, told_end=folder.told_end
            )


class _Files(Struct, frozen=True):
    """The files in plain use of one replica's folder, by the offsets that name them."""

    segments: Mapping[int, Source]
    snapshots: Sequence[int]


def _plain_files(files: Sequence[Source]) -> dict[str, _Files]:
    found: dict[str, tuple[dict[int, Source], list[int]]] = {}
    for file in files:
        if file.base_offset is not None and not file.suffix and file.kind in ("segment", "producer-snapshot"):
            segments, snapshots = found.setdefault(file.origin.source.rpartition("/")[0], ({}, []))
            if file.kind == "segment":
                segments[file.base_offset] = file
            else:
                snapshots.append(file.base_offset)
    return {folder: _Files(segments, snapshots) for folder, (segments, snapshots) in found.items()}


def _told_ends(root: Path, inventory: Inventory) -> dict[Place, int]:
    """Up to where each log dir's broker wrote that a partition's log is flushed."""
    flushed: dict[Place, int] = {}
    for file in inventory.files:
        if file.kind == "recovery-point-offset-checkpoint" and not file.suffix:
            content = read_source(root, file.origin)
            if not isinstance(content, Refusal):
                rows = read_offset_checkpoint(content, file.origin, "recovery-point").rows
                flushed.update({(file.origin.log_dir, row.topic, row.partition): row.offset for row in rows})
    return flushed


def _folder(
    root: Path,
    replica: ReplicaDir,
    files: _Files,
    looked_at: Collection[int],
    flushed: Mapping[Place, int],
    stopped: Collection[str],
) -> Iterator[HeldFolder]:
    origin = replica.origin
    if origin.topic is None or origin.partition is None or origin.broker is None or not files.segments:
        return
    heads = {base: _head(root, files.segments[base]) for base in files.segments.keys() & looked_at}
    last = max(files.segments)
    told_end = flushed.get((origin.log_dir, origin.topic, origin.partition))
    yield HeldFolder(
        topic=origin.topic,
        partition=origin.partition,
        broker=origin.broker,
        path=replica.path,
        topic_id=origin.topic_id,
        heads={base: head for base, head in heads.items() if head is not None},
        empty=last == 0 and not files.segments[last].size,
        stopped=origin.log_dir in stopped,
        end=_end_at_hand(root, files, told_end, stopped=origin.log_dir in stopped),
        told_end=told_end,
    )


def _head(root: Path, segment: Source) -> FirstBatch | None:
    place = locate(root, segment.origin.source)
    return None if isinstance(place, FileFault) else first_batch(place)


def _end_at_hand(root: Path, files: _Files, told_end: int | None, *, stopped: bool) -> int | None:
    """The log end by names alone, or by reading little: at a clean shutdown a broker names a snapshot after it.

    Nothing is read where no end was told that it could be held against.
    """
    last = max(files.segments)
    snapshot = max(files.snapshots, default=-1)
    if not files.segments[last].size:
        return last
    if stopped and snapshot > last:
        return snapshot
    small = files.segments[last].size <= READ_TO_ITS_END
    return _read_to_the_end(root, files) if small and told_end is not None else None


def _tail(root: Path, files: _Files) -> bytes:
    """The last bytes of the last segment: batches bear times, so that no two logs end in the same ones."""
    last = files.segments[max(files.segments)]
    place = locate(root, last.origin.source)
    tail = place if isinstance(place, FileFault) else read_at(place, max(0, last.size - TAIL_BYTES), TAIL_BYTES)
    return b"" if isinstance(tail, FileFault) else tail


def _last_batches(root: Path, files: _Files) -> frozenset[Batch]:
    """The batches of a last segment that is small; of a large one none is read."""
    last = files.segments[max(files.segments)]
    if (last.size or 0) > READ_TO_ITS_END:
        return frozenset()
    columns = ("base_offset", "leader_epoch", "size", "crc")
    chunks = (chunk.headers.select(columns) for chunk in scan_source(root, last.origin, verify=False))
    return frozenset(tuple(row.values()) for chunk in chunks for row in chunk.to_pylist())


def _read_to_the_end(root: Path, files: _Files) -> int | None:
    chunks = scan_source(root, files.segments[max(files.segments)].origin, verify=False)
    ends = [chunk.headers["last_offset"][-1].as_py() for chunk in chunks if len(chunk.headers)]
    return ends[-1] + 1 if ends and ends[-1] is not None else None
