"""The encodings of Kafka's own records: plain (int16 and int32 lengths) and flexible (unsigned varints, tags)."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Final, TypeVar

Value = TypeVar("Value")

_VARINT_LIMIT: Final = 5
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
    """A list or a set beyond what is read."""


class UnknownVersion(Exception):
    """A version this reader does not know; the text says which."""


class Cursor:
    """A place in the bytes of one record; every read is bounded by what is left, so no length can claim memory.

    `flexible` tells the two encodings apart; some records only say after their first field which one they are in.
    """

    __slots__ = ("_data", "_position", "flexible")

    def __init__(self, data: bytes, *, flexible: bool = True) -> None:
        self._data = data
        self._position = 0
        self.flexible = flexible

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

    def length(self) -> int:
        """The length of bytes or of an array; negative for null."""
        return self.uvarint() - 1 if self.flexible else self.int32()

    def nullable_string(self) -> str | None:
        """A string that may be null."""
        size = self.uvarint() - 1 if self.flexible else self.int16()
        if size < 0:
            return None
        try:
            return self.take(size, "string").decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed("a string in UTF-8", f"byte {error.start} of it is not") from error

    def string(self) -> str:
        """A string that may not be null."""
        value = self.nullable_string()
        if value is None:
            raise Malformed("a string", "null")
        return value

    def count(self, least: int) -> int | None:
        """How many elements of `least` bytes or more an array has; None for a null array."""
        count = self.length()
        if count < 0:
            return None
        if count * least > self.remaining():
            raise Malformed(f"an array of {count} elements of {least} bytes or more", f"{self.remaining()} bytes left")
        return count

    def tags(self) -> dict[int, bytes]:
        """The tagged fields that end a flexible struct, by ascending tag; a plain struct has none."""
        fields: dict[int, bytes] = {}
        previous = -1
        for _ in range(self.uvarint() if self.flexible else 0):
            tag = self.uvarint()
            if tag <= previous:
                raise Malformed(f"a tag above {previous}", str(tag))
            fields[tag] = self.take(self.uvarint(), f"tagged field {tag}")
            previous = tag
        return fields

    def finish(self) -> None:
        """The end of the bytes; any left over mean that they were read by the wrong grammar."""
        if self.remaining():
            raise Malformed("the end of the record", f"{self.remaining()} bytes more")


Place = TypeVar("Place", bound=Cursor)


def filling(cursor: Place, read: Callable[[Place], Value]) -> Value:
    """The value that takes all of the bytes, as that of a tagged field must."""
    value = read(cursor)
    cursor.finish()
    return value
