"""The two encodings of coordinators' records: plain (int16 and int32 lengths) and flexible (unsigned varints, tags)."""

from __future__ import annotations

import base64
import struct
from typing import Final

_VARINT_LIMIT: Final = 5


class Malformed(Exception):
    """Bytes that break the encoding; caught where the record's address is known."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found


class UnknownVersion(Exception):
    """A version this reader does not know; the text says which."""


class TooLarge(Malformed):
    """A list beyond what is read."""


class Fields:
    """A place in one key or value; every read is bounded by what is left, so no length can claim memory."""

    __slots__ = ("_data", "_position", "flexible")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self.flexible = False

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
        return int.from_bytes(self.take(1, "int8"), "big", signed=True)

    def int16(self) -> int:
        """A big-endian int16."""
        return int.from_bytes(self.take(2, "int16"), "big", signed=True)

    def int32(self) -> int:
        """A big-endian int32."""
        return int.from_bytes(self.take(4, "int32"), "big", signed=True)

    def int64(self) -> int:
        """A big-endian int64."""
        return int.from_bytes(self.take(8, "int64"), "big", signed=True)

    def uvarint(self) -> int:
        """An unsigned varint, never zig-zag."""
        value = 0
        for index in range(_VARINT_LIMIT):
            byte = self.take(1, "unsigned varint")[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return value
        raise Malformed(f"an unsigned varint of at most {_VARINT_LIMIT} bytes", "a longer one")

    def nullable_string(self) -> str | None:
        """A string; a negative length is null."""
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

    def skip_bytes(self) -> None:
        """Pass over a field of bytes."""
        size = self.uvarint() - 1 if self.flexible else self.int32()
        self.take(max(size, 0), "bytes")

    def count(self, least: int) -> int | None:
        """How many elements of `least` bytes or more an array has; None for a null array."""
        count = self.uvarint() - 1 if self.flexible else self.int32()
        if count < 0:
            return None
        if count * least > self.remaining():
            raise Malformed(f"an array of {count} elements of {least} bytes or more", f"{self.remaining()} bytes left")
        return count

    def int32s(self) -> tuple[int, ...]:
        """An array of int32."""
        count = self.count(4) or 0
        return struct.unpack(f">{count}i", self.take(4 * count, f"array of {count} int32"))

    def tags(self) -> dict[int, bytes]:
        """The tagged fields that end a flexible struct, by tag; a plain struct has none."""
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
        """The end of the key or value; bytes left over mean that it was read by the wrong grammar."""
        if self.remaining():
            raise Malformed("the end of the record", f"{self.remaining()} bytes more")


def tagged_uuid(data: bytes | None) -> str | None:
    """A uuid in a tagged field, as Kafka prints it."""
    if data is None:
        return None
    _expect_size(data, 16)
    return base64.urlsafe_b64encode(data)[:22].decode("ascii")


def tagged_int64(data: bytes | None) -> int | None:
    """An int64 in a tagged field; -1 says none."""
    if data is None:
        return None
    _expect_size(data, 8)
    value = int.from_bytes(data, "big", signed=True)
    return None if value == -1 else value


def _expect_size(data: bytes, size: int) -> None:
    if len(data) != size:
        raise Malformed(f"a tagged field of {size} bytes", f"one of {len(data)}")
