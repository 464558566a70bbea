"""Byte layout of a segment's entries: where each header field lies, and what makes a header sound.

Three grades of trust, decided by bytes alone, so that every reader of a file sees one and the same chain:

* A header *fits* when magic and length are possible and the entry ends inside the file.
* It is *plausible* when its other fields make sense too; of magic 0 and 1 the key and value lengths fill the entry.
* It is *sound* when it is plausible, or fits and leads to the end of the file or to a plausible header.

The second way to be sound keeps a batch whose fields rotted, but whose length still holds, a row of the table instead
of a hole in it.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import numpy as np

from parsers.segment.held_bytes import HeldSegment

HEADER_BYTES: Final = 61
"""Header of a magic 2 batch."""
LEGACY_HEADER_BYTES: Final = 26
"""Shortest entry there is, and all of a legacy header's fixed fields."""
PREFIX_BYTES: Final = 18
"""Kafka reads no entry from fewer bytes than these."""
LENGTH_END: Final = 12
MIN_LENGTH: Final = {0: 14, 1: 22, 2: 49}
MAX_LENGTH: Final = 2**31 - 1 - LENGTH_END
"""A segment never exceeds 2^31-1 bytes, nor can an entry in it."""
CRC_START: Final = {0: 16, 1: 16, 2: 21}
CODEC_MASK: Final = 0b111
MAX_CODEC: Final = 4
MAX_LEGACY_CODEC: Final = 3
MAX_ATTRIBUTES: Final = 0x7F
MAX_LEGACY_ATTRIBUTES: Final = 0x0F
INT64_MAX: Final = 2**63 - 1

PREFIX: Final = Struct(">qiib")
V2_HEADER: Final = Struct(">qiibIhiqqqhii")
INT32: Final = Struct(">i")

V2_DTYPE: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("record_count", ">i4"),
    ]
)
LEGACY_DTYPE: Final = np.dtype(
    [
        ("offset", ">i8"),
        ("length", ">i4"),
        ("crc", ">u4"),
        ("magic", "i1"),
        ("attributes", "i1"),
        ("timestamp", ">i8"),
    ]
)


def fits(segment: HeldSegment, position: int) -> int:
    """End of the entry at `position` as its length says; 0 when magic, length or the file's end forbid it."""
    if position + LEGACY_HEADER_BYTES > segment.size:
        return 0
    _, length, _, magic = segment.unpack(PREFIX, position)
    if not 0 <= magic <= 2 or not MIN_LENGTH[magic] <= length <= MAX_LENGTH:
        return 0
    end: int = position + LENGTH_END + length
    return end if end <= segment.size else 0


def plausible(segment: HeldSegment, position: int) -> int:
    """End of the entry at `position` when every header field of it makes sense; else 0."""
    end = fits(segment, position)
    if end and segment.byte(position + 16) == 2:
        return end if sane_v2(segment.unpack(V2_HEADER, position)) else 0
    return end if end and _exact_legacy(segment, position, end) else 0


def sane_v2(header: tuple[int, ...]) -> bool:
    """Whether the fields of a magic 2 header lie in the ranges that Kafka writes."""
    base, _, epoch, _, _, attributes, delta, _, _, producer, producer_epoch, sequence, count = header
    return (
        base >= 0
        and epoch >= -1
        and 0 <= attributes <= MAX_ATTRIBUTES
        and attributes & CODEC_MASK <= MAX_CODEC
        and 0 <= delta <= INT64_MAX - base
        and 0 <= count <= delta + 1
        and producer >= -1
        and producer_epoch >= -1
        and sequence >= -1
    )


def _exact_legacy(segment: HeldSegment, position: int, end: int) -> bool:
    """Whether key and value, as long as their lengths say, fill a legacy entry to its last byte."""
    attributes = segment.byte(position + 17)
    possible = attributes <= MAX_LEGACY_ATTRIBUTES and attributes & CODEC_MASK <= MAX_LEGACY_CODEC
    if segment.byte(position) > 0x7F or not possible:
        return False
    key_at = position + (18 if segment.byte(position + 16) == 0 else 26)
    (key_length,) = segment.unpack(INT32, key_at)
    value_at = key_at + 4 + max(key_length, 0)
    if key_length < -1 or value_at + 4 > end:
        return False
    (value_length,) = segment.unpack(INT32, value_at)
    return bool(value_length >= -1 and value_at + 4 + max(value_length, 0) == end)


def sound(segment: HeldSegment, position: int) -> int:
    """End of the entry at `position` when the chain may follow it; 0 where the chain breaks."""
    end = plausible(segment, position)
    if end:
        return end
    end = fits(segment, position)
    return end if end == segment.size or (end and plausible(segment, end)) else 0


def last_offset(segment: HeldSegment, position: int) -> int:
    """Last offset of the entry at `position`, as its header states it."""
    header = segment.unpack(PREFIX, position)
    if header[3] < 2:
        return int(header[0])
    (delta,) = segment.unpack(INT32, position + 23)
    return int(header[0]) + int(delta)


def first_offset(segment: HeldSegment, position: int) -> int | None:
    """First offset of the entry at `position`; None for a compressed legacy entry, whose header does not tell it."""
    offset, _, _, magic = segment.unpack(PREFIX, position)
    compressed = magic < 2 and segment.byte(position + 17) & CODEC_MASK
    return None if compressed else int(offset)
