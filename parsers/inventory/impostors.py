"""What stands in a file's place and is none: a folder, a FIFO, a socket, a dead link, a segment of no base offset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from parsers.files import FileFault, locate, read_head
from parsers.inventory.file_names import IN_REPLICAS, LOG_DIR_MARKS, is_archive
from parsers.inventory.tree_walk import Folder, FolderEntry, Impostor
from parsers.inventory.unnamed_kinds import HEAD, begins_segment
from parsers.provenance import FileKind, Origin, Source
from parsers.refusal import refuse
from parsers.tables import Refusal

_MISSED: Final[tuple[FileKind, ...]] = ("segment", "leader-epoch-checkpoint")
"""Files whose name alone says something of the replica. They are listed, and refused by whoever would read them."""

UNPACKED: Final = "files as brokers left them, unpacked"
_SEGMENT_ENDS: Final = (".log", ".log.swap")
_SEGMENT_BEGINS: Final = re.compile(r"\d{20}\.log\b")
"""A name that somebody lengthened."""


def split_impostors(
    folder: Folder, owner: Origin, *, in_replica: bool, in_log_dir: bool
) -> tuple[Sequence[FolderEntry], Sequence[Refusal]]:
    """Those of a folder's impostors that its replica misses, and the refusals of all others.

    A folder may bear the name of a file wherever Kafka would not write that file.
    """
    missed: list[FolderEntry] = []
    refused: list[Refusal] = []
    for impostor in folder.impostors:
        kind = impostor.entry.parsed.kind
        due = (in_replica and kind in IN_REPLICAS) or (in_log_dir and kind in LOG_DIR_MARKS)
        if in_replica and kind in _MISSED:
            missed.append(impostor.entry)
        elif due or not impostor.is_folder:
            refused.append(_refusal(impostor, replace(owner, source=folder.child(impostor.entry.name))))
    return missed, refused


def misnamed_segments(root: Path, files: Iterable[Source]) -> Iterator[Refusal]:
    """Files of a replica's directory named or begun as segments that no broker would load: their bytes go unread."""
    for file in files:
        name = file.origin.source.rpartition("/")[2]
        if file.kind == "unknown" and not is_archive(name) and _was_segment(root, file, name.lower()):
            expected = "a segment named by its base offset: 20 digits, at most 9223372036854775807"
            yield refuse(file.origin, "malformed", 0, file.size, expected=expected, found=name)


def _was_segment(root: Path, file: Source, name: str) -> bool:
    if name.endswith(_SEGMENT_ENDS):
        return True
    if not file.size or _SEGMENT_BEGINS.match(name):
        return file.size > 0
    place = locate(root, file.origin.source)
    head = place if isinstance(place, FileFault) else read_head(place, HEAD)
    return isinstance(head, bytes) and begins_segment(head)


def packed_files(files: Iterable[Source]) -> Iterator[Refusal]:
    """Archives, which nobody has unpacked: what they hold may be what the dump lacks."""
    for file in files:
        name = file.origin.source.rpartition("/")[2]
        if file.kind == "unknown" and is_archive(name):
            yield refuse(file.origin, "unreadable", 0, file.size, expected=UNPACKED, found=f"the archive {name}")


def _refusal(impostor: Impostor, origin: Origin) -> Refusal:
    return refuse(origin, impostor.kind, 0, 0, expected=impostor.expected, found=impostor.found)
