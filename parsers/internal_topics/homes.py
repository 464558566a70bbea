"""Which groups have records in a partition of `__consumer_offsets` where it ends, and those that tell of members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from parsers.internal_topics.encodings import record_key
from parsers.internal_topics.group_members import TELLING, GroupMembers, memberships
from parsers.internal_topics.record import InternalRecord
from parsers.provenance import Span
from parsers.wire import Malformed

LAST_TYPE: Final = 8
"""Types of keys up to this one begin with the group: offsets, and what groups of both protocols are made of."""
LIMIT: Final = 200_000
"""Keys of one partition that are kept."""
ROOM: Final = 256 << 20
"""Bytes of records about members that are kept."""


class StandingKeys:
    """The keys that stand while records go by; a record without a value takes its key away."""

    __slots__ = ("_limit", "_of_members", "_partial", "_room", "_standing", "latest_time")

    def __init__(self, limit: int = LIMIT, room: int = ROOM) -> None:
        self._limit = limit
        self._room = room
        self._standing: dict[bytes, Span] = {}
        self._of_members: dict[bytes, InternalRecord] = {}
        self._partial: set[str | None] = set()
        self.latest_time: int | None = None

    def passing(self, records: Iterable[InternalRecord]) -> Iterator[InternalRecord]:
        """The records as they are, each noted on its way."""
        for record in records:
            self.latest_time = max(record.timestamp, self.latest_time or 0)
            if record.control_type is None and record.key is not None:
                self._note(record.key, record)
            yield record

    def _note(self, key: bytes, record: InternalRecord) -> None:
        former = self._of_members.pop(key, None)
        self._room += 0 if former is None else len(former.value or b"")
        if record.value is None:
            self._standing.pop(key, None)
            return
        kept = key in self._standing or len(self._standing) < self._limit
        if kept:
            self._standing[key] = record.span
        if int.from_bytes(key[:2], "big") in TELLING:
            if kept and len(record.value) <= self._room:
                self._room -= len(record.value)
                self._of_members[key] = record
            else:
                self._partial.add(_group(key))

    def members(self) -> tuple[GroupMembers, ...]:
        """Every group whose members are told, in order; a group of which a part had no room would be told wrongly."""
        groups = memberships(sorted(self._of_members.values(), key=lambda record: record.offset))
        return tuple(each for each in groups if each.group not in self._partial)

    def groups(self) -> dict[str, Span]:
        """Every group with its newest record that stands."""
        found: dict[str, Span] = {}
        for key, span in self._standing.items():
            group = _group(key)
            if group is not None and (group not in found or found[group].start <= span.start):
                found[group] = span
        return found


def _group(key: bytes) -> str | None:
    """The group of a key; none of a kind that is not known, or of what cannot be read: others say so."""
    try:
        fields, kind = record_key(key)
        return fields.string() if kind <= LAST_TYPE else None
    except Malformed:
        return None
