"""Kafka's flexible encoding: unsigned varints, compact strings and arrays, tagged fields."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

Value = TypeVar("Value")

_VARINT_LIMIT: Final = 5
# Far above any cluster; it keeps one absurd set from being carried along by every later change of its partition.
_SET_LIMIT: Final = 1000
_INT16 = struct.Struct(">h")
_UINT16 = struct.Struct(">H")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")


class Malformed(Exception):
    """Bytes that break the encoding; caught where the record's address is known."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found


class TooLarge(Malformed):
    """A set beyond what is read."""


class UnknownVersion(Exception):
    """A version this reader does not know; the text says which."""


class Cursor:
    """A place in one record's bytes; every read is bounded by what is left, so no length can claim memory."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def remaining(self) -> int:
        """Bytes not yet read."""
        return len(self._data) - self._position

    def take(self, size: int, what: str) -> bytes:
        """The next `size` bytes."""
        start = self._position
        if size > len(self._data) - start:
            raise Malformed(f"{what} of {size} bytes", f"{len(self._data) - start} bytes left")
        self._position = start + size
        return self._data[start : start + size]

    def int8(self) -> int:
        """A signed byte."""
        byte = self.take(1, "int8")[0]
        return byte - 256 if byte > 127 else byte

    def flag(self) -> bool:
        """A boolean byte; like Kafka, anything but 0 is true."""
        return self.take(1, "bool")[0] != 0

    def int16(self) -> int:
        """A big-endian int16."""
        return int(_INT16.unpack(self.take(2, "int16"))[0])

    def uint16(self) -> int:
        """A big-endian uint16."""
        return int(_UINT16.unpack(self.take(2, "uint16"))[0])

    def int32(self) -> int:
        """A big-endian int32."""
        return int(_INT32.unpack(self.take(4, "int32"))[0])

    def int64(self) -> int:
        """A big-endian int64."""
        return int(_INT64.unpack(self.take(8, "int64"))[0])

    def uuid(self) -> str:
        """A uuid as Kafka prints it: 22 base64url characters."""
        return base64.urlsafe_b64encode(self.take(16, "uuid"))[:22].decode("ascii")

    def uvarint(self) -> int:
        """An unsigned varint, never zig-zag."""
        position = self._position
        if position < len(self._data) and (single := self._data[position]) < 0x80:
            # Nearly all lengths, tags and versions are below 128.
            self._position = position + 1
            return single
        value = 0
        for index in range(_VARINT_LIMIT):
            byte = self.take(1, "unsigned varint")[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return value
        raise Malformed(f"an unsigned varint of at most {_VARINT_LIMIT} bytes", "a longer one")

    def nullable_string(self) -> str | None:
        """A compact string; null is a length of 0."""
        size = self.uvarint() - 1
        if size < 0:
            return None
        try:
            return self.take(size, "string").decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed("a string in UTF-8", f"byte {error.start} of it is not") from error

    def string(self) -> str:
        """A compact string that may not be null."""
        value = self.nullable_string()
        if value is None:
            raise Malformed("a string", "null")
        return value

    def nullable_array(self, read: Callable[[], Value], least: int) -> tuple[Value, ...] | None:
        """A compact array of elements that take at least `least` bytes each; null is a length of 0."""
        count = self.uvarint() - 1
        if count < 0:
            return None
        if count * least > self.remaining():
            raise Malformed(f"an array of {count} elements of {least} bytes or more", f"{self.remaining()} bytes left")
        return tuple(read() for _ in range(count))

    def array(self, read: Callable[[], Value], least: int) -> tuple[Value, ...]:
        """A compact array that may not be null."""
        values = self.nullable_array(read, least)
        if values is None:
            raise Malformed("an array", "null")
        return values

    def int32s(self) -> tuple[int, ...]:
        """A compact array of broker ids; null reads as empty, as the first versions wrote it."""
        return self.nullable_int32s() or ()

    def nullable_int32s(self) -> tuple[int, ...] | None:
        """A compact array of broker ids that may be null."""
        count = self._set_size()
        return None if count < 0 else struct.unpack(f">{count}i", self.take(4 * count, f"array of {count} int32"))

    def uuids(self) -> tuple[str, ...]:
        """A compact array of directory ids; null reads as empty."""
        return self.nullable_uuids() or ()

    def nullable_uuids(self) -> tuple[str, ...] | None:
        """A compact array of directory ids that may be null."""
        count = self._set_size()
        return None if count < 0 else tuple(self.uuid() for _ in range(count))

    def _set_size(self) -> int:
        count = self.uvarint() - 1
        if count > _SET_LIMIT:
            raise TooLarge(f"a set of at most {_SET_LIMIT} brokers or directories", f"one of {count}")
        return count

    def tags(self) -> dict[int, bytes]:
        """The tagged fields that end a struct, by tag; ascending tags are part of the encoding."""
        fields: dict[int, bytes] = {}
        previous = -1
        for _ in range(self.uvarint()):
            tag = self.uvarint()
            if tag <= previous:
                raise Malformed(f"a tag above {previous}", str(tag))
            fields[tag] = self.take(self.uvarint(), f"tagged field {tag}")
            previous = tag
        return fields

    def finish(self) -> None:
        """The end of the value; bytes left over mean that it was read by the wrong grammar."""
        if self.remaining():
            raise Malformed("the end of the record", f"{self.remaining()} bytes more")


def tagged(fields: Mapping[int, bytes], tag: int, read: Callable[[Cursor], Value], default: Value) -> Value:
    """A tagged field decoded, or what its absence means; it must fill the size it declares."""
    data = fields.get(tag)
    if data is None:
        return default
    cursor = Cursor(data)
    value = read(cursor)
    cursor.finish()
    return value
