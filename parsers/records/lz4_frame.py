"""LZ4 frames as Kafka reads them: independent blocks, and the header checksum that magic 0 gets wrong by design."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import cramjam
from msgspec import Struct

from parsers.records.undecodable import Undecodable, too_large

_MAGIC: Final = b"\x04\x22\x4d\x18"
_UNCOMPRESSED: Final = 0x80000000
_END_MARK: Final = b"\0\0\0\0"
_WORD: Final = 0xFFFFFFFF


class FrameDescriptor(Struct, frozen=True, kw_only=True):
    """FLG and BD, the content size they announce, and where the blocks begin."""

    flags: int
    block_max: int
    content_size: int | None
    blocks_at: int

    @property
    def block_checksums(self) -> bool:
        """Four bytes of checksum follow each block."""
        return bool(self.flags & 0x10)

    @property
    def content_checksum(self) -> bool:
        """Four bytes of checksum follow the end mark."""
        return bool(self.flags & 0x04)


def lz4_frames(data: memoryview, *, check_descriptor: bool, limit: int) -> bytes:
    """The content of one frame that spans the whole stream; the end mark may be missing."""
    frame = _descriptor(data, check_descriptor)
    out = bytearray()
    buffer = bytearray(frame.block_max)
    at, ended = frame.blocks_at, False
    while at < len(data) and not ended:
        at, ended = _block(data, at, frame, buffer, out)
        if len(out) > limit:
            raise too_large(limit)
    _check_end(data, at, ended, frame, len(out))
    if frame.block_checksums or frame.content_checksum:
        _check_sums(data, frame, ended)
    return bytes(out)


def _descriptor(data: memoryview, check: bool) -> FrameDescriptor:
    if len(data) < 7 or bytes(data[:4]) != _MAGIC:
        raise Undecodable("an lz4 frame", bytes(data[:7]))
    return _described(bytes(data[4 : 15 if data[4] & 0x08 else 7]), check)


@lru_cache(maxsize=64)
def _described(head: bytes, check: bool) -> FrameDescriptor:
    """A descriptor behind the magic; batches of one producer begin alike."""
    flags, block = head[0], head[1]
    if flags >> 6 != 1 or flags & 0x03 or block & 0x8F or block >> 4 < 4:
        raise Undecodable("an lz4 frame descriptor of version 1 without a dictionary", head[:2])
    if not flags & 0x20:
        raise Undecodable("independent lz4 blocks, the only kind Kafka reads", "linked blocks")
    end = 10 if flags & 0x08 else 2
    if len(head) <= end:
        raise Undecodable("a whole lz4 frame descriptor", _MAGIC + head)
    checksum = xxh32_short(head[:end]) >> 8 & 0xFF
    if check and head[end] != checksum:
        raise Undecodable(f"lz4 descriptor checksum {checksum}", f"{head[end]}")
    size = int.from_bytes(head[2:10], "little") if flags & 0x08 else None
    return FrameDescriptor(flags=flags, block_max=1 << (8 + 2 * (block >> 4)), content_size=size, blocks_at=end + 5)


def _block(data: memoryview, at: int, frame: FrameDescriptor, buffer: bytearray, out: bytearray) -> tuple[int, bool]:
    """Append one block to `out`; the byte after it, and whether it was the end mark."""
    word = int.from_bytes(data[at : at + 4], "little")
    size = word & ~_UNCOMPRESSED
    block = data[at + 4 : at + 4 + size]
    if at + 4 > len(data) or len(block) < size or size > frame.block_max:
        raise Undecodable(
            f"a whole lz4 block of at most {frame.block_max} bytes at byte {at}", f"size {size}, {len(block)} there"
        )
    if size == 0:
        return at + 4, True
    if word & _UNCOMPRESSED:
        out += block
    else:
        written = cramjam.lz4.decompress_block_into(block, buffer, output_len=len(buffer))
        out += memoryview(buffer)[:written]
    return at + 4 + size + (4 if frame.block_checksums else 0), False


def _check_end(data: memoryview, at: int, ended: bool, frame: FrameDescriptor, size: int) -> None:
    end = at + (4 if ended and frame.content_checksum else 0)
    if end != len(data) or (frame.content_checksum and not ended):
        raise Undecodable(f"the lz4 frame to end at byte {end}", f"a stream of {len(data)} bytes")
    if frame.content_size not in (None, size):
        raise Undecodable(f"lz4 content of {frame.content_size} bytes", f"{size} bytes")


def _check_sums(data: memoryview, frame: FrameDescriptor, ended: bool) -> None:
    """Decompress once more with a decoder that verifies checksums; the output is known to be bounded by now."""
    head = bytes(data[4 : frame.blocks_at - 1])
    repaired = _MAGIC + head + bytes([xxh32_short(head) >> 8 & 0xFF])
    cramjam.lz4.decompress(repaired + bytes(data[frame.blocks_at :]) + (b"" if ended else _END_MARK))


def xxh32_short(data: bytes) -> int:
    """xxHash32 with seed 0 of fewer than 16 bytes, which is all that a frame descriptor needs."""
    word = (374761393 + len(data)) & _WORD
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = word + int.from_bytes(data[at : at + 4], "little") * 3266489917 & _WORD
        word = _rotate(word, 17) * 668265263 & _WORD
    for byte in data[whole:]:
        word = word + byte * 374761393 & _WORD
        word = _rotate(word, 11) * 2654435761 & _WORD
    word = (word ^ word >> 15) * 2246822519 & _WORD
    word = (word ^ word >> 13) * 3266489917 & _WORD
    return word ^ word >> 16


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD
