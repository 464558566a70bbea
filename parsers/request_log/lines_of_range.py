"""Lines of a byte range: a line belongs to the range that holds its first byte, so a file may be cut anywhere."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

CHUNK: Final = 1 << 19
"""Bytes that are read, and become columns, at once: about what the processor keeps at hand."""
LINE_LIMIT: Final = 32 << 20
"""Bytes of a line."""
MARKS_LIMIT: Final = 1 << 19
"""Marks with which values of a line begin or are told apart: some thirty thousand partitions, asked and answered.

What is made of one takes up to four hundred bytes.
"""
_MARKS: Final = (b",", b"{", b"[")
UNPACKED_LIMIT: Final = 1 << 38


class Line(NamedTuple):
    """One line without its line feed: bytes `[start, end)`; `whole` is false where only its head was kept."""

    start: int
    end: int
    data: bytes
    whole: bool = True
    ended: bool = True


class WholeLines(NamedTuple):
    """Whole lines, each with its line feed, from byte `start` on."""

    start: int
    data: bytes


class Unpackable(Exception):
    """A compressed file that cannot be unpacked any further."""


def blocks_of(file: BinaryIO, start: int, end: int | None, limit: int = LINE_LIMIT) -> Iterator[WholeLines | Line]:
    """The lines whose first byte lies in `[start, end)` of a file that can seek; `end` None reads to its end.

    Lines come in blocks; one that is too long, or that no line feed ends, comes by itself.
    """
    file.seek(max(start - 1, 0))
    if start > 0:
        _skip_line(file)
    yield from _blocks(file, file.tell(), end if end is not None else 1 << 62, limit)


def unpacked_blocks(
    file: BinaryIO, limit: int = LINE_LIMIT, unpacked_limit: int = UNPACKED_LIMIT
) -> Iterator[WholeLines | Line]:
    """The lines of a gzip file, addressed by their bytes in the unpacked text."""
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            yield from _blocks(unpacked, 0, unpacked_limit, limit)  # type: ignore[arg-type]
            if unpacked.tell() > unpacked_limit:
                raise Unpackable(f"more than {unpacked_limit} bytes")
    except (OSError, EOFError, zlib.error) as error:
        raise Unpackable(str(error)) from error


def pieces_of(file: BinaryIO, start: int, end: int | None, limit: int = LINE_LIMIT) -> Iterator[WholeLines | Line]:
    """The lines of a range of a file, packed or not; a packed file is one range, which begins at 0."""
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    if not packed:
        yield from blocks_of(file, start, end, limit)
    elif start == 0:
        yield from unpacked_blocks(file, limit)


def _blocks(file: BinaryIO, position: int, stop: int, limit: int) -> Iterator[WholeLines | Line]:
    """Memory is bounded by `limit` and two chunks."""
    held = bytearray()
    while position < stop and (chunk := file.read(CHUNK)):
        left = stop - position - len(held)
        # The last line of the range is the one that holds the byte before its end; no line ends in what is held.
        last = chunk.find(b"\n", max(0, left - 1)) if len(chunk) >= left else -1
        cut = last + 1 if last >= 0 else chunk.rfind(b"\n") + 1
        if cut:
            yield WholeLines(position, b"".join((held, memoryview(chunk)[:cut])))
            if last >= 0:
                return
            position += len(held) + cut
            held.clear()
        held += memoryview(chunk)[cut:]
        if len(held) > limit:
            size, ended = _measure(file, len(held))
            yield Line(position, position + size, bytes(held[:limit]), whole=False, ended=ended)
            held.clear()
            position += size + 1
    if held and position < stop:
        yield Line(position, position + len(held), bytes(held), ended=False)


def is_crowded(data: bytes) -> bool:
    """Whether a line holds more values than are read of one line; told before any of them is made."""
    return len(data) > MARKS_LIMIT and sum(map(data.count, _MARKS)) > MARKS_LIMIT


def _measure(file: BinaryIO, size: int) -> tuple[int, bool]:
    """The length of a line of which `size` bytes were read, and if a line feed ends it; the rest is passed over."""
    while rest := file.readline(CHUNK):
        if rest.endswith(b"\n"):
            return size + len(rest) - 1, True
        size += len(rest)
    return size, False


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(CHUNK)) and not rest.endswith(b"\n"):
        pass


def beginning(file: BinaryIO, size: int) -> bytes:
    """The first bytes of a file's text, packed or not; fewer where it cannot be unpacked."""
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    try:
        return gzip.GzipFile(fileobj=file, mode="rb").read(size) if packed else file.read(size)
    except (OSError, EOFError, zlib.error):
        return b""
