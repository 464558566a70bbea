"""Zig-zag base-128 integers of record fields."""

from __future__ import annotations

from parsers.records.undecodable import Undecodable


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A 32-bit varint at `at` and the byte after it; `IndexError` where the data end inside it."""
    byte = data[at]
    if byte < 0x80:
        return byte >> 1 ^ -(byte & 1), at + 1
    second = data[at + 1]
    if second < 0x80:
        raw = byte & 0x7F | second << 7
        return raw >> 1 ^ -(raw & 1), at + 2
    return _long(data, at, 32, 5)


def varlong(data: bytes, at: int) -> tuple[int, int]:
    """A 64-bit varint at `at` and the byte after it; `IndexError` where the data end inside it."""
    byte = data[at]
    if byte < 0x80:
        return byte >> 1 ^ -(byte & 1), at + 1
    second = data[at + 1]
    if second < 0x80:
        raw = byte & 0x7F | second << 7
        return raw >> 1 ^ -(raw & 1), at + 2
    return _long(data, at, 64, 10)


def _long(data: bytes, at: int, bits: int, longest: int) -> tuple[int, int]:
    raw = 0
    for index in range(longest):
        byte = data[at + index]
        raw |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            raw &= (1 << bits) - 1
            return raw >> 1 ^ -(raw & 1), at + index + 1
    raise Undecodable(f"a varint of at most {longest} bytes at byte {at}", data[at : at + longest + 1])


def encode_varint(value: int) -> bytes:
    """The shortest zig-zag encoding of a value."""
    raw = value << 1 if value >= 0 else (-value << 1) - 1
    out = bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)
