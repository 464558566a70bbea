"""What coordinators' records are made of: the plain encoding in keys and older values, the flexible one in newer."""

from __future__ import annotations

import struct

from parsers.wire import Cursor, Malformed, UnknownVersion, filling


class Fields(Cursor):
    """A place in one key or value; a key is plain, and a value says by its version which encoding it is in."""

    __slots__ = ()

    def __init__(self, data: bytes) -> None:
        super().__init__(data, flexible=False)

    def version(self, latest: int, *, flexible_from: int) -> int:
        """The version that a value begins with; what follows is read in the encoding of that version."""
        version = self.int16()
        if not 0 <= version <= latest:
            raise UnknownVersion(f"version {version}")
        self.flexible = version >= flexible_from
        return version

    def int32s(self) -> tuple[int, ...]:
        """An array of int32; null reads as empty."""
        count = self.count(4) or 0
        return struct.unpack(f">{count}i", self.take(4 * count, f"array of {count} int32"))


def record_key(key: bytes | None) -> tuple[Fields, int]:
    """What follows the type that every key begins with, and the type."""
    if key is None:
        raise Malformed("a key", "null")
    fields = Fields(key)
    kind = fields.int16()
    if kind < 0:
        raise Malformed("a record type", str(kind))
    return fields, kind


def tagged_uuid(data: bytes | None) -> str | None:
    """A uuid in a tagged field, as Kafka prints it."""
    return None if data is None else filling(Fields(data), Fields.uuid)


def tagged_int64(data: bytes | None) -> int | None:
    """An int64 in a tagged field; -1 says none."""
    value = -1 if data is None else filling(Fields(data), Fields.int64)
    return None if value == -1 else value
