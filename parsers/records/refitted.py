"""A packed batch written anew without packing, in as many bytes: masked contents, cut to what has room.

So the records can still be counted, dated and told apart, and every byte behind the batch keeps its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from parsers.records.batch import StoredRecord, batch_fields, stored_records
from parsers.records.undecodable import Undecodable
from parsers.records.varint import encode_varint

LIMIT = 128 << 20
ROOM_FOR_EACH = (8, 4, 2, 1, 0)
"""Bytes of each key and value that are tried, the most telling first."""
_LONGEST_VARINT = 5


def refitted(entry: bytes, mask: Callable[[bytes], bytes], header: int) -> bytes | None:
    """The records' section as plain records of the same length in all; nothing where that cannot be."""
    view = memoryview(entry)
    try:
        records = list(stored_records(view, batch_fields(view), LIMIT))
    except (Undecodable, IndexError):
        return None
    room = len(entry) - header
    for size in ROOM_FOR_EACH:
        written = [_record(fields, mask, size) for fields in records]
        left = room - sum(len(body) + len(encode_varint(len(body))) for body in written)
        if records and left >= 0 and (filled := _filled(written, records[-1], mask, size, left)) is not None:
            return filled
    return None


def _record(fields: StoredRecord, mask: Callable[[bytes], bytes], size: int, spare: int = 0) -> bytes:
    """A record's body without its headers, its value lengthened by some zero bytes."""
    key = None if fields.key is None else _masked(fields.key, mask, size)
    value = None if fields.value is None and not spare else _masked(fields.value or b"", mask, size) + bytes(spare)
    deltas = encode_varint(fields.timestamp_delta) + encode_varint(fields.offset_delta)
    return b"\0" + deltas + _sized(key) + _sized(value) + b"\0"


def _masked(content: bytes, mask: Callable[[bytes], bytes], size: int) -> bytes:
    return mask(content)[:size]


def _sized(content: bytes | None) -> bytes:
    return encode_varint(-1) if content is None else encode_varint(len(content)) + content


def _filled(
    written: Sequence[bytes], last: StoredRecord, mask: Callable[[bytes], bytes], size: int, left: int
) -> bytes | None:
    """The records with the room that is left given to the last one, to the byte."""
    whole = b"".join(encode_varint(len(body)) + body for body in written[:-1])
    room = len(encode_varint(len(written[-1]))) + len(written[-1]) + left
    for spare in range(left, max(-1, left - 2 * _LONGEST_VARINT), -1):
        body = _record(last, mask, size, spare) if spare else written[-1]
        length = _long_varint(len(body), room - len(body))
        if length is not None:
            return whole + length + body
    return None


def _long_varint(value: int, width: int) -> bytes | None:
    """A number in exactly so many bytes, where it has room in them."""
    short = encode_varint(value)
    if not len(short) <= width <= _LONGEST_VARINT:
        return None
    more = width - len(short)
    return short if not more else short[:-1] + bytes([short[-1] | 0x80]) + b"\x80" * (more - 1) + b"\0"
