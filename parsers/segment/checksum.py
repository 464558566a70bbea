"""Checksums of single entries: CRC-32C for magic 2, the older CRC-32 for magic 0 and 1."""

from __future__ import annotations

import zlib
from typing import Final

import google_crc32c

from parsers.segment.entry_header import CRC_START
from parsers.segment.held_bytes import HeldSegment

STEP: Final = 4 << 20
"""Most bytes copied at once: the library takes `bytes` alone, and an entry may claim two gigabytes."""
_CRC_AT: Final = {0: 12, 1: 12, 2: 17}


def crc_holds(segment: HeldSegment, start: int, end: int) -> bool:
    """Whether the entry `[start, end)` has the checksum it carries."""
    magic = segment.byte(start + 16)
    at = start + _CRC_AT[magic]
    stored = int.from_bytes(segment.read(at, at + 4), "big")
    extend = google_crc32c.extend if magic == 2 else _extend_crc32
    computed = 0
    for step in range(start + CRC_START[magic], end, STEP):
        computed = extend(computed, segment.read(step, min(step + STEP, end)))
    return computed == stored


def _extend_crc32(crc: int, chunk: bytes) -> int:
    return zlib.crc32(chunk, crc)
