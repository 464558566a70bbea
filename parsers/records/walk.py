"""One walk over the stored records of a batch that proves them sound.

Written in the part of Python that `machine` turns into machine code; run as it stands where that cannot be had.
"""

from __future__ import annotations

from collections.abc import Sequence

_INT32 = 5
_INT64 = 10
"""The most bytes of a number."""


def number(data: Sequence[int], at: int) -> tuple[int, int]:
    """A 32-bit zig-zag number and the byte after it; -1 for that byte where there is no such number."""
    raw = 0
    for index in range(_INT32):
        if at + index >= len(data):
            return 0, -1
        byte = int(data[at + index])
        raw |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            raw &= 0xFFFFFFFF
            return raw >> 1 ^ -(raw & 1), at + index + 1
    return 0, -1


def behind_time(data: Sequence[int], at: int) -> int:
    """The byte after a 64-bit number; -1 where there is none."""
    for index in range(_INT64):
        if at + index >= len(data):
            return -1
        if data[at + index] < 0x80:
            return at + index + 1
    return -1


def behind_field(data: Sequence[int], at: int) -> int:
    """The byte after a field and its length, which is negative for null; -1 where there is no length."""
    size, at = number(data, at)
    return at + max(size, 0) if at >= 0 else -1


def behind_headers(data: Sequence[int], at: int) -> int:
    """The byte after a record's headers; -1 where one has no key."""
    count, at = number(data, at)
    if at < 0 or count < 0:
        return -1
    for _ in range(count):
        size, at = number(data, at)
        if at < 0 or size < 0:
            return -1
        at = behind_field(data, at + size)
        if at < 0:
            return -1
    return at


def walk(data: Sequence[int], count: int, last_offset_delta: int) -> bool:
    """Whether these bytes are so many records and nothing more, with offsets that their batch allows."""
    at = 0
    for _ in range(count):
        length, at = number(data, at)
        end = at + length
        if at < 0 or length < 0 or end > len(data):
            return False
        at = behind_time(data, at + 1)
        if at < 0:
            return False
        delta, at = number(data, at)
        if at < 0 or delta < 0 or delta > last_offset_delta:
            return False
        at = behind_field(data, at)
        if at < 0:
            return False
        at = behind_field(data, at)
        if at < 0 or behind_headers(data, at) != end:
            return False
        at = end
    return at == len(data)
