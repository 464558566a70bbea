"""Whole lines of a byte range, in blocks that end between entries, with lines beyond a limit passed over unheld."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct

LINE_LIMIT: Final = 1 << 20
_CHUNK: Final = 4 << 20
_CHUNK_BEHIND: Final = 64 << 10


class Block(Struct, frozen=True, kw_only=True):
    """Whole lines from byte `offset` on. `torn`: the last one has no line end, the file stops inside it."""

    offset: int
    data: bytes
    torn: bool = False


class LongLine(Struct, frozen=True, kw_only=True):
    """A line longer than the limit: its place and its first bytes."""

    start: int
    end: int
    beginning: bytes


def whole_lines(file: BinaryIO, start: int, end: int | None, limit: int) -> Iterator[Block | LongLine]:
    """All lines that start at or behind `start`, up to the end of the file; read in small pieces once behind `end`."""
    position, held = _first_line(file, start)
    while chunk := _filled(file, _CHUNK if end is None else min(_CHUNK, max(end - position, _CHUNK_BEHIND))):
        cut = chunk.rfind(b"\n") + 1
        lines = b"".join((held, memoryview(chunk)[:cut])) if cut else b""
        held = chunk[cut:] if cut else held + chunk
        yield from _pieces(position, lines, limit)
        position += len(lines)
        if len(held) > limit:
            beginning, passed = held[:100], len(held)
            more, held = _past_newline(file)
            yield LongLine(start=position, end=position + passed + more, beginning=beginning)
            position += passed + more
    if held:
        yield from _pieces(position, held, limit, torn=True)


def _filled(file: BinaryIO, size: int) -> bytes:
    """The next bytes of a file, `size` of them unless it ends; a packed text gives fewer at once."""
    pieces: list[bytes] = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _first_line(file: BinaryIO, start: int) -> tuple[int, bytes]:
    """The first line that starts at or behind `start`, and what was read of it; an earlier line is for who reads there."""
    if start == 0:
        return 0, b""
    file.seek(start - 1)
    passed, held = _past_newline(file)
    return start - 1 + passed, held


def _past_newline(file: BinaryIO) -> tuple[int, bytes]:
    """Reads up to the next line end without holding what lies before: the bytes passed, and those read behind it."""
    passed = 0
    while chunk := file.read(_CHUNK_BEHIND):
        found = chunk.find(b"\n")
        if found >= 0:
            return passed + found + 1, chunk[found + 1 :]
        passed += len(chunk)
    return passed, b""


def _pieces(offset: int, data: bytes, limit: int, *, torn: bool = False) -> Iterator[Block | LongLine]:
    """Whole lines as they stand, cut around lines beyond the limit; looks at one line end in every `limit` bytes."""
    begin = line = 0
    while line + limit < len(data):
        last = data.rfind(b"\n", line, line + limit + 1)
        if last >= 0:
            line = last + 1
            continue
        if line > begin:
            yield Block(offset=offset + begin, data=data[begin:line])
        begin = data.find(b"\n", line + limit) + 1 or len(data)
        yield LongLine(start=offset + line, end=offset + begin, beginning=data[line : line + 100])
        line = begin
    if begin < len(data):
        yield Block(offset=offset + begin, data=data[begin:], torn=torn)


def entry_blocks(
    file: BinaryIO, start: int, end: int | None, head: re.Pattern[bytes], opening: bytes, limit: int
) -> Iterator[Block | LongLine]:
    """Blocks that end where an entry begins, so that no entry of fewer than `limit` bytes is cut.

    Reads past `end` only as far as the last entry before it goes on; what starts behind `end` is for the caller to leave.
    """
    held: list[Block] = []
    for piece in whole_lines(file, start, end, limit):
        if isinstance(piece, LongLine) or (held and held[0].offset + len(held[0].data) != piece.offset):
            yield from held
            held = []
        if end is not None and piece_start(piece) >= end and not held:
            return
        if isinstance(piece, LongLine):
            yield piece
            continue
        block = _joined(held, piece)
        if end is not None and (stop := _entry_behind(block, end, head)) is not None:
            yield Block(offset=block.offset, data=block.data[:stop])
            return
        cut = len(block.data) if block.torn else _last_entry(block.data, head, opening)
        if not cut and len(block.data) > limit:
            cut = len(block.data)
        if cut:
            yield Block(offset=block.offset, data=block.data[:cut], torn=block.torn)
        rest = block.data[cut:]
        held = [Block(offset=block.offset + cut, data=rest)] if rest else []
    yield from held


def piece_start(piece: Block | LongLine) -> int:
    """The first byte of a piece."""
    return piece.offset if isinstance(piece, Block) else piece.start


def _joined(held: list[Block], block: Block) -> Block:
    if not held:
        return block
    return Block(offset=held[0].offset, data=held[0].data + block.data, torn=block.torn)


def _entry_behind(block: Block, end: int, head: re.Pattern[bytes]) -> int | None:
    """Where in the block the first entry that starts at or behind `end` begins."""
    if block.offset + len(block.data) <= end:
        return None
    position = block.data.rfind(b"\n", 0, max(end - block.offset, 0)) + 1
    while position < len(block.data):
        if block.offset + position >= end and head.match(block.data, position):
            return position
        position = block.data.find(b"\n", position) + 1
        if not position:
            return None
    return None


def _last_entry(data: bytes, head: re.Pattern[bytes], opening: bytes) -> int:
    """Where the last entry begins; 0 where no other begins in the data."""
    position = len(data)
    while (position := data.rfind(b"\n" + opening, 0, position)) >= 0:
        if head.match(data, position + 1):
            return position + 1
        position += len(opening)
    return 0
