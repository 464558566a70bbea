"""Kafka's codecs, each bounded before or while it decompresses: no stream grows past the limit."""

from __future__ import annotations

import zlib
from typing import Final

import cramjam

from parsers.records.lz4_frame import lz4_frames
from parsers.records.undecodable import Undecodable, too_large
from parsers.records.zstd_frame import unzstd

NONE: Final = 0
GZIP: Final = 1
SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4
CODEC_MASK: Final = 0x07

_FIRST_WINDOW: Final = 512
_WINDOW: Final = 64 * 1024
_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = 16
_SNAPPY_RATIO: Final = 22
"""A snappy copy element spends three bytes on at most 64."""


def decompress(codec: int, data: memoryview, *, magic: int, limit: int) -> bytes:
    """The bytes behind one compressed stream, `Undecodable` where it breaks or outgrows the limit."""
    try:
        if codec == GZIP:
            return _gunzip(data, limit)
        if codec == SNAPPY:
            return _unsnappy(data, limit)
        if codec == LZ4:
            return lz4_frames(data, check_descriptor=magic > 0, limit=limit)
        if codec == ZSTD and magic > 1:
            return unzstd(data, limit)
    except (zlib.error, cramjam.DecompressionError) as error:
        raise Undecodable(f"a sound {_name(codec)} stream", str(error)) from error
    raise Undecodable(f"a codec that magic {magic} knows", f"codec {codec}")


def _name(codec: int) -> str:
    return ("none", "gzip", "snappy", "lz4", "zstd")[codec]


def _gunzip(data: memoryview, limit: int) -> bytes:
    out = bytearray()
    at = _gunzip_member(data, 0, out, limit)
    while at < len(data):
        at = _gunzip_member(data, at, out, limit)
    return bytes(out)


def _gunzip_member(data: memoryview, at: int, out: bytearray, limit: int) -> int:
    """Append one member to `out`; the byte after it.

    The window starts small and grows, because zlib copies what follows a member: many tiny members must not cost
    a copy of the rest of the stream each.
    """
    member = zlib.decompressobj(wbits=31)
    window = _FIRST_WINDOW
    while not member.eof:
        piece = data[at : at + window]
        if not piece:
            raise Undecodable("the end of a gzip member", f"a stream that ends at byte {at}")
        out += member.decompress(piece, limit - len(out) + 1)
        if len(out) > limit:
            raise too_large(limit)
        at += len(piece) - len(member.unused_data)
        window = min(2 * window, _WINDOW)
    return at


def _unsnappy(data: memoryview, limit: int) -> bytes:
    """Raw snappy, or xerial framing whose header may come again between chunks."""
    if bytes(data[:8]) != _XERIAL_MAGIC:
        return _snappy_block(data, 0, limit)
    out = bytearray()
    at = 0
    while at < len(data):
        if bytes(data[at : at + 8]) == _XERIAL_MAGIC:
            at += _XERIAL_HEADER
            if at > len(data):
                raise Undecodable("a snappy stream header of 16 bytes", bytes(data[at - _XERIAL_HEADER :]))
            continue
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        chunk = data[at + 4 : at + 4 + max(size, 0)]
        if size < 0 or len(chunk) < size or at + 4 > len(data):
            raise Undecodable(
                f"a whole snappy chunk at byte {at}", f"size {size}, {max(len(data) - at - 4, 0)} bytes left"
            )
        out += _snappy_block(chunk, len(out), limit)
        at += 4 + size
    return bytes(out)


def _snappy_block(block: memoryview, already: int, limit: int) -> bytes:
    """One raw block; its preamble states the size, which is judged before anything is allocated."""
    stated = cramjam.snappy.decompress_raw_len(block)
    if already + stated > limit:
        raise too_large(limit)
    if stated > _SNAPPY_RATIO * len(block):
        raise Undecodable(
            "a snappy block as large as its bytes can hold", f"{stated} bytes stated in {len(block)} bytes"
        )
    return bytes(cramjam.snappy.decompress_raw(block))
