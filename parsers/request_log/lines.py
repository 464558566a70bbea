"""Lines of a byte range: a line belongs to the range that holds its first byte, so a file may be cut anywhere."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

CHUNK: Final = 1 << 20
LINE_LIMIT: Final = 64 << 20
UNPACKED_LIMIT: Final = 1 << 38


class Line(NamedTuple):
    """One line without its line feed: bytes `[start, end)`; `whole` is false where only its head was kept."""

    start: int
    end: int
    data: bytes
    whole: bool = True
    ended: bool = True


class Unpackable(Exception):
    """A compressed file that cannot be unpacked any further."""


def lines_of(file: BinaryIO, start: int, end: int | None, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """The lines whose first byte lies in `[start, end)` of a file that can seek; `end` None reads to its end."""
    file.seek(max(start - 1, 0))
    stop = end if end is not None else 1 << 62
    lines = _lines(file, max(start - 1, 0), stop, limit)
    if start > 0:
        next(lines, None)
    return lines


def unpacked_lines(file: BinaryIO, limit: int = LINE_LIMIT, unpacked_limit: int = UNPACKED_LIMIT) -> Iterator[Line]:
    """The lines of a gzip file, addressed by their bytes in the unpacked text."""
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            yield from _lines(unpacked, 0, unpacked_limit, limit)  # type: ignore[arg-type]
            if unpacked.tell() > unpacked_limit:
                raise Unpackable(f"more than {unpacked_limit} bytes")
    except (OSError, EOFError, zlib.error) as error:
        raise Unpackable(str(error)) from error


def _lines(file: BinaryIO, position: int, stop: int, limit: int) -> Iterator[Line]:
    """Lines from `position` on whose first byte lies before `stop`; memory is bounded by `limit` and a chunk."""
    start, head, size = position, bytearray(), 0
    while start < stop and (chunk := file.read(CHUNK)):
        pieces = chunk.split(b"\n")
        for piece in pieces[:-1]:
            end = start + size + len(piece)
            if size:
                head += piece[: limit - len(head)]
                yield Line(start, end, bytes(head), end - start <= limit)
                head, size = bytearray(), 0
            else:
                yield Line(start, end, piece[:limit], len(piece) <= limit)
            start = end + 1
            if start >= stop:
                return
        head += pieces[-1][: limit - len(head)]
        size += len(pieces[-1])
    if size and start < stop:
        yield Line(start, start + size, bytes(head), size <= limit, ended=False)
