"""Stretches of bytes of a dump's files, and where those lie."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from parsers.provenance import FileKind, Source


class Piece(Struct, frozen=True, kw_only=True):
    """Bytes `[start, end)` of one file of the dump."""

    source: str
    kind: FileKind
    base_offset: int | None
    size: int
    start: int
    end: int


def whole(file: Source) -> Piece:
    """All bytes of a file."""
    return Piece(
        source=file.origin.source, kind=file.kind, base_offset=file.base_offset, size=file.size, start=0, end=file.size
    )


def part(piece: Piece, start: int, end: int) -> Piece:
    """Bytes `[start, end)` of a piece's file."""
    return Piece(
        source=piece.source,
        kind=piece.kind,
        base_offset=piece.base_offset,
        size=piece.size,
        start=start,
        end=end,
    )


def parts_of(piece: Piece, size: int) -> Iterator[Piece]:
    """A piece of a whole file in pieces of at most `size` bytes."""
    for start in range(0, piece.size, size):
        yield part(piece, start, min(piece.size, start + size))
