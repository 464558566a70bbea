"""Records of one legacy entry: a message of magic 0 or 1, or a wrapper that holds a compressed set of them."""

from __future__ import annotations

import struct
from functools import partial
from typing import Final, NamedTuple

from parsers.records.batch import BYTES_PER_ROW, LOG_APPEND_TIME
from parsers.records.codecs import CODEC_MASK, decompress
from parsers.records.record_rows import Entry, content_hash, headers_hash, key_hash
from parsers.records.undecodable import Undecodable, too_large
from parsers.tables import RecordRow

_PREFIX: Final = struct.Struct(">qi")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_SMALLEST: Final = 14
_INT64_MAX: Final = (1 << 63) - 1


class Message(NamedTuple):
    """One legacy message: a record, or the wrapper of a compressed set."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None


class MessageSet(NamedTuple):
    """What a wrapper holds: its messages with absolute offsets, and the bytes of a cut last one, if any."""

    messages: list[Message]
    left_over: int


def legacy_rows(view: memoryview, entry: Entry) -> tuple[list[RecordRow], int]:
    """The records of a legacy entry, and how many bytes of a cut last message its compressed set ends in."""
    found = message_set(view, entry.limit)
    make = entry.maker(leader_epoch=-1)
    return [_row(message, make, entry.payloads) for message in found.messages], found.left_over


def message_set(view: memoryview, limit: int) -> MessageSet:
    """The messages of an entry with absolute offsets and effective timestamps."""
    outer = _message(view, "the entry")
    codec = outer.attributes & CODEC_MASK
    if codec == 0:
        return MessageSet([outer], 0)
    if outer.value is None:
        raise Undecodable("a compressed message set", "a null value")
    stream = decompress(codec, memoryview(outer.value), magic=outer.magic, limit=limit)
    inner, left_over = _inner(stream, limit)
    base = _base_of(outer, inner[-1].offset)
    messages = [_placed(outer, message, base) for message in inner]
    return MessageSet(messages, left_over)


def _message(view: memoryview, what: str) -> Message:
    """One message, consumed to its last byte."""
    offset = int(_PREFIX.unpack_from(view)[0])
    magic, attributes = view[16], view[17]
    if magic > 1:
        raise Undecodable(f"magic 0 or 1 in {what}", f"magic {magic}")
    at = 18
    timestamp = -1
    if magic == 1:
        if len(view) < 26:
            raise Undecodable(f"a timestamp in {what}", f"{len(view)} bytes")
        timestamp, at = int(_INT64.unpack_from(view, at)[0]), 26
    key, at = _nullable(view, at, f"the key of {what}")
    value, at = _nullable(view, at, f"the value of {what}")
    if at != len(view):
        raise Undecodable(f"{what} to end at byte {at}", f"{len(view) - at} bytes left over")
    return Message(offset, magic, attributes, timestamp, key, value)


def _nullable(view: memoryview, at: int, what: str) -> tuple[bytes | None, int]:
    if at + 4 > len(view):
        raise Undecodable(f"{what} at byte {at}", f"{len(view) - at} bytes left")
    size = int(_INT32.unpack_from(view, at)[0])
    if size < 0:
        return None, at + 4
    if at + 4 + size > len(view):
        raise Undecodable(f"{what}, {size} bytes at byte {at + 4}", f"{len(view) - at - 4} bytes left")
    return bytes(view[at + 4 : at + 4 + size]), at + 4 + size


def _inner(stream: bytes, limit: int) -> tuple[list[Message], int]:
    """The messages of a decompressed set with offsets as stored; a cut last message ends the set, as in Kafka."""
    view = memoryview(stream)
    messages: list[Message] = []
    at = 0
    while at + _PREFIX.size <= len(view):
        size = int(_PREFIX.unpack_from(view, at)[1])
        if size < _SMALLEST:
            raise Undecodable(
                f"an inner message of at least {_SMALLEST} bytes at decompressed byte {at}", f"size {size}"
            )
        if at + _PREFIX.size + size > len(view):
            break
        message = _message(view[at : at + _PREFIX.size + size], f"the inner message at decompressed byte {at}")
        if message.attributes & CODEC_MASK:
            raise Undecodable("inner messages that are not compressed", f"codec {message.attributes & CODEC_MASK}")
        messages.append(message)
        if len(messages) > max(limit // BYTES_PER_ROW, 1):
            raise too_large(limit)
        at += _PREFIX.size + size
    if not messages:
        raise Undecodable("an inner message in a compressed set", f"{len(view)} decompressed bytes")
    return messages, len(view) - at


def _base_of(outer: Message, last_inner: int) -> int:
    """What inner offsets count from; some librdkafka versions wrote wrapper offset 0, which means base 0."""
    if outer.magic == 0 or outer.offset == 0:
        return 0
    if outer.offset < last_inner:
        raise Undecodable(f"inner offsets up to the wrapper's {outer.offset}", f"a last inner offset of {last_inner}")
    return outer.offset - last_inner


def _placed(outer: Message, inner: Message, base: int) -> Message:
    """An inner message with its absolute offset, and the wrapper's time if that is the time of append."""
    offset = base + inner.offset
    if not -_INT64_MAX <= offset <= _INT64_MAX:
        raise Undecodable("an offset of 64 bits", str(offset))
    append_time = outer.magic == 1 and inner.magic == 1 and bool(outer.attributes & LOG_APPEND_TIME)
    return inner._replace(offset=offset, timestamp=outer.timestamp if append_time else inner.timestamp)


def _row(message: Message, make: partial[RecordRow], payloads: bool) -> RecordRow:
    key, value = message.key, message.value
    return make(
        offset=message.offset,
        timestamp=message.timestamp,
        sequence=-1,
        key_size=-1 if key is None else len(key),
        value_size=-1 if value is None else len(value),
        header_count=0,
        key_hash=key_hash(key),
        content_hash=content_hash(key, value, message.timestamp),
        headers_hash=headers_hash(()),
        control_type=None,
        key=key if payloads else None,
        value=value if payloads else None,
    )
