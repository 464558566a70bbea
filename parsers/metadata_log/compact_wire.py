"""What the metadata log's records are made of: compact arrays, sets of bounded size, tagged fields."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from parsers import wire
from parsers.wire import Malformed, TooLarge, filling

Value = TypeVar("Value")

# Far above any cluster; it keeps one absurd set from being carried along by every later change of its partition.
_SET_LIMIT: Final = 1000


class MetadataCursor(wire.Cursor):
    """A place in a metadata record, which is always in the flexible encoding."""

    __slots__ = ()

    def nullable_array(self, read: Callable[[], Value], least: int) -> tuple[Value, ...] | None:
        """A compact array of elements that take at least `least` bytes each; null is a length of 0."""
        count = self.count(least)
        return None if count is None else tuple(read() for _ in range(count))

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
        count = self.length()
        if count > _SET_LIMIT:
            raise TooLarge(f"a set of at most {_SET_LIMIT} brokers or directories", f"one of {count}")
        return count


def tagged(fields: Mapping[int, bytes], tag: int, read: Callable[[MetadataCursor], Value], default: Value) -> Value:
    """A tagged field decoded, or what its absence means."""
    data = fields.get(tag)
    return default if data is None else filling(MetadataCursor(data), read)
