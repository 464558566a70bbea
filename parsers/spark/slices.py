"""Tasks of a scan: which files, and which bytes of them, each one reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from parsers.provenance import FileKind, Origin, Source

OPENING_COST: Final = 16 << 10
"""To open a file takes as long as reading so many bytes; small files fill a task by their number."""
SPLITTABLE: Final[frozenset[FileKind]] = frozenset({"segment", "broker-log", "trace-table"})
"""Files of which a part gives its rows whatever stands before it."""


class FilePart(Struct, frozen=True, kw_only=True):
    """Bytes `[start, end)` of one file."""

    origin: Origin
    kind: FileKind
    base_offset: int | None
    size: int
    start: int
    end: int


class Slice(Struct, frozen=True, kw_only=True):
    """What one task gives: the rows in some parts of files, or rows that the plan has found already."""

    parts: tuple[FilePart, ...] = ()
    rows: bytes = b""
    """Rows as an Arrow stream."""


def by_bytes(
    files: Iterable[Source], split_bytes: int, splittable: frozenset[FileKind] = SPLITTABLE
) -> Iterator[Slice]:
    """Files in their order, large ones cut and small ones together, about `split_bytes` a slice."""
    parts: list[FilePart] = []
    room = split_bytes
    for file in files:
        for part in cut(file, split_bytes, splittable):
            length = part.end - part.start
            if parts and length > room:
                yield Slice(parts=tuple(parts))
                parts, room = [], split_bytes
            parts.append(part)
            room -= max(length, min(OPENING_COST, split_bytes))
    if parts:
        yield Slice(parts=tuple(parts))


def by_replica(files: Iterable[Source]) -> Iterator[Slice]:
    """All files of one directory together, in their order: for what only makes sense from its beginning."""
    for _, own in groupby(files, key=lambda file: file.origin.source.rpartition("/")[0]):
        yield Slice(parts=tuple(_part(file, 0, file.size) for file in own))


def cut(file: Source, split_bytes: int, splittable: frozenset[FileKind]) -> Sequence[FilePart]:
    """A file in parts of at most `split_bytes`, if it is of a kind that may be cut."""
    if file.kind not in splittable or file.size <= split_bytes:
        return (_part(file, 0, file.size),)
    starts = range(0, file.size, split_bytes)
    return tuple(_part(file, start, min(start + split_bytes, file.size)) for start in starts)


def _part(file: Source, start: int, end: int) -> FilePart:
    return FilePart(
        origin=file.origin, kind=file.kind, base_offset=file.base_offset, size=file.size, start=start, end=end
    )
