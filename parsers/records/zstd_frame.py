"""Zstandard streams: frame and block headers bound the output before a byte is decompressed."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Final

import cramjam

from parsers.records.undecodable import Undecodable, too_large

_FRAME: Final = 0xFD2FB528
_SKIPPABLE: Final = 0x184D2A50
_BLOCK_MAX: Final = 128 * 1024
_DECODER_WINDOW: Final = 8 * 1024 * 1024
"""Every decoder must support a window of this size, so it is granted below any limit."""
_HEAP_MAX: Final = 1024 * 1024
_TOGETHER: Final = 4 * 1024 * 1024
"""The most that streams may hold which are read by one decoder."""
_MARK: Final = bytes(range(0xE0, 0xF0))
_MARK_FRAME: Final = (
    _FRAME.to_bytes(4, "little") + bytes((0x20, len(_MARK))) + (len(_MARK) << 3 | 1).to_bytes(3, "little") + _MARK
)
"""One frame that states its size, with one block that is stored as it is."""


def unzstd(data: memoryview, limit: int) -> bytes:
    """All frames of a stream, concatenated."""
    bound = _output_bound(data, limit)
    room = min(bound, limit)
    # Block headers bound the output loosely: beyond a megabyte only pages that are written shall cost memory.
    buffer: bytearray | mmap.mmap = bytearray(room) if room <= _HEAP_MAX else mmap.mmap(-1, room)
    try:
        written = cramjam.zstd.decompress_into(data, buffer)
    except cramjam.DecompressionError as error:
        if bound > limit and "whole buffer" in str(error):
            raise too_large(limit) from error
        raise
    return bytes(buffer[:written])


def unzstd_each(streams: Sequence[memoryview], limit: int) -> Iterator[bytes]:
    """The content of each of some streams; `Undecodable` or the library's error where one of them is broken.

    A decoder costs more than a small stream does, so that many go through one. What stands between them keeps them
    apart: a marker of its own frame, of which no end is another's beginning. More of it than was put there, or less,
    is a stream that holds it, and then each is read by itself.
    """
    taken: list[memoryview] = []
    room = 0
    for stream in streams:
        bound = _output_bound(stream, limit)
        if taken and room + bound > _TOGETHER:
            yield from _together(taken, room, limit)
            taken, room = [], 0
        taken.append(stream)
        room += bound + len(_MARK)
    yield from _together(taken, room, limit)


def _together(streams: Sequence[memoryview], room: int, limit: int) -> Sequence[bytes]:
    if len(streams) > 1 and room <= _TOGETHER:
        joined = b"".join(part for stream in streams for part in (stream, _MARK_FRAME))
        with mmap.mmap(-1, room) as buffer:
            parts = buffer[: cramjam.zstd.decompress_into(joined, buffer)].split(_MARK)
        if len(parts) == len(streams) + 1 and not parts[-1]:
            return parts[:-1]
    return [unzstd(stream, limit) for stream in streams]


def _output_bound(data: memoryview, limit: int) -> int:
    """No stream that follows the format can decompress to more bytes than this."""
    at = bound = 0
    while at < len(data) or at == 0:
        magic = _little(data, at, 4)
        if magic & ~0xF == _SKIPPABLE:
            at += 8 + _little(data, at + 4, 4)
            continue
        if magic != _FRAME:
            raise Undecodable(f"a zstd frame at byte {at}", bytes(data[at : at + 4]))
        at, size = _frame_bound(data, at + 4, limit)
        bound += size
    if at > len(data):
        raise Undecodable("a whole skippable zstd frame", f"a stream that ends at byte {len(data)}")
    return bound


def _frame_bound(data: memoryview, at: int, limit: int) -> tuple[int, int]:
    """The byte after a frame, and the most that it can hold."""
    descriptor = _little(data, at, 1)
    single = bool(descriptor & 0x20)
    at += 1
    window = 0
    if not single:
        window = _window_size(_little(data, at, 1))
        at += 1
    at += (0, 1, 2, 4)[descriptor & 3]
    width = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    stated = _little(data, at, width) + (256 if width == 2 else 0)
    window = stated if single else window
    if window > max(limit, _DECODER_WINDOW):
        raise Undecodable(
            f"a zstd window of at most {max(limit, _DECODER_WINDOW)} bytes", f"{window} bytes", "too_large"
        )
    at, bound = _blocks_bound(data, at + width, min(window, _BLOCK_MAX))
    return at + (4 if descriptor & 0x04 else 0), min(bound, stated) if width else bound


def _blocks_bound(data: memoryview, at: int, block_max: int) -> tuple[int, int]:
    bound = 0
    last = False
    while not last:
        header = _little(data, at, 3)
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if kind == 3 or size > _BLOCK_MAX:
            raise Undecodable(f"a zstd block at byte {at}", f"type {kind}, size {size}")
        at += 3 + (1 if kind == 1 else size)
        bound += block_max if kind == 2 else size
    return at, bound


def _window_size(descriptor: int) -> int:
    base: int = 1 << (10 + (descriptor >> 3))
    return base + base // 8 * (descriptor & 7)


def _little(data: memoryview, at: int, width: int) -> int:
    if at + width > len(data):
        raise Undecodable(f"a zstd field of {width} bytes at byte {at}", f"a stream that ends at byte {len(data)}")
    return int.from_bytes(data[at : at + width], "little")
