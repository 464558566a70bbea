"""An entry of a log with its contents masked: every header field and length as it was, no key, value or header.

A checksum that held holds again, and one that did not is wrong by the same bits: what a checksum tells is kept.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import google_crc32c

from parsers.records.refitted import refitted
from parsers.records.undecodable import Undecodable
from parsers.records.varint import varint, varlong

Mask = Callable[[bytes], bytes]
"""Bytes to as many others."""
HEADER = 61
_CRC = struct.Struct(">I")
_INT = struct.Struct(">i")
_CODEC = 0x07
_CONTROL = 0x20
_NO_CONTENTS = 22
"""Bytes of the shortest message in which a key could stand."""
_MARKER = 6
"""Bytes of a transaction marker's value; its key has four."""
_BROKEN = (Undecodable, IndexError, struct.error)


def masked_entry(entry: bytes, mask: Mask, keep_value: Mask | None = None) -> bytes:
    """The entry with its contents masked; `keep_value` masks a value that is Kafka's own, as in the metadata log.

    A packed batch becomes a plain one, its contents cut to what has room in as many bytes. What cannot be told apart,
    or has no room, is masked as a whole.
    """
    if len(entry) < _NO_CONTENTS or (len(entry) < HEADER and entry[16] > 1):
        return entry
    if entry[16] > 1:
        made, value = bytearray(entry), keep_value or mask
        if made[22] & _CONTROL:
            # Kafka's own: whole in the metadata log, elsewhere as long as its markers are and no longer.
            mask, value = _unless_marker(mask), _as_it_is if keep_value else _unless_marker(mask)
        plain = refitted(entry, mask, HEADER) if made[22] & _CODEC else None
        if plain is not None:
            made[22] &= ~_CODEC
            made[HEADER:] = plain
        else:
            made[HEADER:] = _records(entry[HEADER:], bool(made[22] & _CODEC), mask, value)
        return _checked(entry, made, 17, 21, google_crc32c.value)
    return _checked(entry, _message(entry, mask), 12, 16, zlib.crc32)


def _unless_marker(mask: Mask) -> Mask:
    return lambda content: content if len(content) <= _MARKER else mask(content)


def _as_it_is(content: bytes) -> bytes:
    return content


def _checked(entry: bytes, made: bytearray, place: int, start: int, crc_of: Callable[[bytes], int]) -> bytes:
    """The same mistake in the checksum, if there was one."""
    mistake = _CRC.unpack_from(entry, place)[0] ^ crc_of(entry[start:])
    _CRC.pack_into(made, place, crc_of(bytes(made[start:])) ^ mistake)
    return bytes(made)


def _records(records: bytes, packed: bool, mask: Mask, value: Mask) -> bytes:
    made = bytearray(records)
    try:
        at = 0
        while not packed and at < len(records):
            at = _record(records, at, made, mask, value)
    except _BROKEN:
        packed = True
    return mask(records) if packed else bytes(made)


def _record(records: bytes, at: int, made: bytearray, mask: Mask, value: Mask) -> int:
    """Mask the record at a place; where the next one begins."""
    length, at = varint(records, at)
    end = at + length
    if length <= 0 or end > len(records):
        raise Undecodable("a record within its batch", f"{length} bytes")
    made[at] = min(records[at], 1)  # Kafka leaves a record's attributes 0; a client may write anything there
    _, at = varlong(records, at + 1)
    _, at = varint(records, at)
    at = _field(records, at, end, made, mask)
    at = _field(records, at, end, made, value)
    count, at = varint(records, at)
    for _ in range(2 * count):
        at = _field(records, at, end, made, mask)
    if at != end:
        raise Undecodable("a record that ends where it says", f"{end - at} bytes more")
    return end


def _field(records: bytes, at: int, end: int, made: bytearray, mask: Mask) -> int:
    length, at = varint(records, at)
    if length < 0:
        return at
    if at + length > end:
        raise Undecodable("a field within its record", f"{length} bytes")
    made[at : at + length] = mask(records[at : at + length])
    return at + length


def _message(entry: bytes, mask: Mask) -> bytearray:
    """A message of the formats before 2: a key and a value, of which a wrapper's value is packed messages."""
    made, first = bytearray(entry), 18 + 8 * entry[16]
    try:
        at = first
        for _ in range(2):
            length = int(_INT.unpack_from(entry, at)[0])
            at += 4
            if length >= 0:
                if at + length > len(entry):
                    raise Undecodable("a field within its message", f"{length} bytes")
                made[at : at + length] = mask(entry[at : at + length])
                at += length
        made[at:] = mask(entry[at:])
    except _BROKEN:
        made[first:] = mask(entry[first:])
    return made
