"""Files that every replica has, of one whose directory could not be listed or was not copied whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from parsers.inventory import ReplicaDir, absent_segments
from parsers.provenance import FileKind, Source

UNLISTED: Final = "*.log"
"""The segments of a directory that cannot be listed."""
EPOCHS: Final = "leader-epoch-checkpoint"
_LOOKED_FOR: Final[tuple[tuple[str, FileKind, int | None], ...]] = (
    (UNLISTED, "segment", 0), (EPOCHS, "leader-epoch-checkpoint", None),
)  # fmt: skip


def absent_files(replica: ReplicaDir, files: Sequence[Source]) -> tuple[Source, ...]:
    """What is tried all the same, and told as unread or as not copied."""
    if replica.listed:
        return absent_segments(replica.origin, files) if replica.state == "current" else ()
    return tuple(
        Source(origin=replace(replica.origin, source=f"{replica.path}/{name}"), kind=kind, size=0, base_offset=base)
        for name, kind, base in _LOOKED_FOR
    )
