"""Lines of a byte stream with their addresses, however long they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

HEAD_LIMIT: Final = 64 * 1024
"""Bytes kept of a line: what the tool prints about a record stands before its key and payload."""


class DumpLine(NamedTuple):
    """One line: its bytes without the line end, cut to a bounded head, and the span of all of it."""

    head: bytes
    start: int
    end: int
    complete: bool


def read_lines(stream: BinaryIO, head_limit: int = HEAD_LIMIT) -> Iterator[DumpLine]:
    """Every line of a stream; only a line that ends in a newline is complete."""
    at = 0
    while piece := stream.readline(head_limit):
        start, head = at, piece
        at += len(piece)
        while not piece.endswith(b"\n") and (piece := stream.readline(head_limit)):
            at += len(piece)
        # The last piece read is empty at the end of the stream, which is how a cut line shows.
        yield DumpLine(_bare(head, start), start, at, piece.endswith(b"\n"))


def _bare(head: bytes, start: int) -> bytes:
    """A line without its end, and the first one without a byte order mark."""
    return (head if start else head.removeprefix(b"\xef\xbb\xbf")).rstrip(b"\r\n")
