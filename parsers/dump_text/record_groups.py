"""Batches of texts that print records only: lines of one position are one batch.

Deep iteration printed so before 2.2, and 0.10 always.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from parsers.dump_text.grammar import control_type
from parsers.dump_text.line_facts import BatchLine, PositionedLine

EMPTIED_SIZE: Final = 61
"""A batch emptied by the cleaner is its header alone; deep iteration prints nothing for it."""

_MESSAGE_OVERHEAD: Final = (26, 34)
_SMALLEST_RECORD: Final = 7


@dataclass(slots=True)
class Group:
    """The lines of one position, as far as a row needs them."""

    first: PositionedLine
    base_known: bool
    start: int
    end: int
    last_offset: int
    max_timestamp: int
    count: int = 0
    least_size: int = 0
    exact_size: int | None = 0
    control: bool = False

    @classmethod
    def begin(cls, line: PositionedLine, *, base_known: bool, start: int, end: int) -> Group:
        """A group of one line; `base_known` when no batch could begin below the line's offset."""
        group = cls(line, base_known, start, end, line.offset, line.timestamp)
        group.least_size = 26 if line.magic < 2 else EMPTIED_SIZE
        group.exact_size = EMPTIED_SIZE if _computable(line) and base_known else None
        group.add(line, end)
        return group

    def belongs(self, line: PositionedLine) -> bool:
        """Whether a line of the same position can be the next record of this batch."""
        first = self.first
        return (
            line.offset > self.last_offset
            and (line.magic == first.magic or first.magic < 2)
            and (line.codec, line.producer_id, line.producer_epoch)
            == (first.codec, first.producer_id, first.producer_epoch)
            and (line.transactional, line.before_v2) == (first.transactional, first.before_v2)
        )

    def add(self, line: PositionedLine, end: int) -> None:
        """Take one more record line into the group."""
        self.count += 1
        self.end = end
        self.last_offset = line.offset
        self.max_timestamp = max(self.max_timestamp, line.timestamp)
        self.control = self.control or control_type(line.tail) is not None
        if self.first.magic < 2:
            return
        if line.codec == 0:
            self.least_size += _SMALLEST_RECORD + max(line.key_size, 0) + max(line.value_size, 0)
        if self.exact_size is not None and _computable(line):
            self.exact_size += record_size(line, self.first)
        else:
            self.exact_size = None

    @property
    def compressed_set(self) -> bool:
        """Whether a legacy group is a wrapper's: several messages of one position, or a codec by name."""
        return self.first.magic < 2 and (self.count > 1 or self.first.codec != 0)

    def size_up_to(self, following: int | None) -> int | None:
        """Bytes of the batch: exact where sizes of all fields are printed, else the distance to the next position."""
        exact = self._exact()
        distance = None if following is None else following - self.first.position
        if distance is None or exact is None:
            return exact if distance is None else distance
        hidden = distance - exact
        return exact if hidden > 0 and hidden % EMPTIED_SIZE == 0 and self.first.magic == 2 else distance

    def _exact(self) -> int | None:
        first = self.first
        if first.magic == 2:
            return self.exact_size
        if self.count > 1 or (first.codec != 0 and not first.before_v2):
            return None
        return _MESSAGE_OVERHEAD[first.magic] + max(first.key_size, 0) + max(first.value_size, 0)

    def batch(self, size: int) -> BatchLine:
        """What the group says of its batch: what is not printed is null, bounds and times are the records'."""
        first, v2 = self.first, self.first.magic == 2
        inside = self.compressed_set
        lone = not inside or (first.before_v2 and first.codec != 0 and self.count == 1)
        wrapped = first.before_v2 and lone and first.codec == 0 and size != self._exact()
        plain = lone and not wrapped
        untimed = first.timestamp_type == b""
        return BatchLine(
            base_offset=first.offset if self.base_known and not inside and not wrapped else None,
            last_offset=self.last_offset,
            record_count=None if inside or wrapped else self.count,
            base_sequence=first.sequence if self.base_known or not v2 else None,
            producer_id=first.producer_id,
            producer_epoch=first.producer_epoch,
            leader_epoch=None if v2 else -1,
            transactional=first.transactional,
            control=self.control,
            horizon=None,
            position=first.position,
            timestamp_type=first.timestamp_type,
            timestamp=None if untimed and first.magic else self.max_timestamp,
            size=size,
            magic=first.magic,
            codec=None if wrapped or untimed or (first.before_v2 and self.count > 1) else first.codec,
            crc=first.crc if plain and not v2 else None,
            valid=first.valid if plain and not v2 else None,
        )


def _computable(line: PositionedLine) -> bool:
    return line.magic == 2 and line.codec == 0 and line.timestamp_type == b"CreateTime" and line.tail.startswith(b"]")


def record_size(line: PositionedLine, first: PositionedLine) -> int:
    """Bytes of an uncompressed record without headers in a batch whose base is the first line."""
    size = 2 + varint_size(line.timestamp - first.timestamp) + varint_size(line.offset - first.offset)
    for field in (line.key_size, line.value_size):
        size += varint_size(field) + max(field, 0)
    return size + varint_size(size)


def varint_size(value: int) -> int:
    """Bytes of a zig-zag varint."""
    raw = value << 1 if value >= 0 else (-value << 1) - 1
    return max((raw.bit_length() + 6) // 7, 1)
