"""Who is in a group and which partitions each member has: of both protocols, from the records that stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from parsers.internal_topics.encodings import Fields, record_key
from parsers.internal_topics.record import InternalRecord
from parsers.provenance import Span
from parsers.wire import Malformed, UnknownVersion

GROUP, TARGET_EPOCH, TARGET, CURRENT = 2, 6, 7, 8
"""Types of keys: a classic generation; of the newer protocol the targets' epoch, targets, and what members have."""
TELLING: Final = frozenset((GROUP, TARGET_EPOCH, TARGET, CURRENT))
_LATEST: Final = 4
_FLEXIBLE_FROM: Final = 4
_LEAST: Final = 8
_TOPIC_LEAST: Final = 6
_RACK_SINCE: Final = 3
_SETTLED: Final = 0

Partitions = tuple[tuple[str, tuple[int, ...]], ...]
"""Topics, by name or (in the newer protocol) by id, each with partitions."""


class RawMember(Struct, frozen=True, kw_only=True):
    """A member of a classic group, with what its client wrote as bytes."""

    id: str
    instance: str | None
    subscription: bytes
    assignment: bytes


class Membership(Struct, frozen=True, kw_only=True):
    """What one member asked for, and what it has."""

    topics: tuple[str, ...] = ()
    owned: Partitions = ()
    """What it had before, as it said."""
    rack: str | None = None
    static: bool = False
    """Whether it has an instance id: it may come back as another client, and keeps what it had."""
    assigned: Partitions = ()
    target: Partitions | None = None
    """What it should have, where the group's records tell that."""
    settled: bool = False
    """Whether it says that it has what it should have."""


class GroupMembers(Struct, frozen=True, kw_only=True):
    """A group's members in the order in which assignors go through them: by instance id, then by member id."""

    group: str
    newer: bool
    generation: int
    assignor: str | None = None
    state_time: int | None = None
    members: tuple[Membership, ...] = ()
    span: Span


def raw_member(fields: Fields, version: int) -> RawMember:
    """A member in a group's value; its client and its host are nobody's business here."""
    member = fields.string()
    instance = fields.nullable_string() if version >= 3 else None
    fields.string()
    fields.string()
    if version >= 1:
        fields.int32()
    fields.int32()
    subscription, assignment = (fields.take(max(fields.length(), 0), "bytes") for _ in range(2))
    fields.tags()
    return RawMember(id=member, instance=instance, subscription=subscription, assignment=assignment)


def memberships(records: Iterable[InternalRecord]) -> tuple[GroupMembers, ...]:
    """Every group all of whose records can be read; what cannot is told as a refusal by who reads them all."""
    found: list[GroupMembers] = []
    newer: dict[str, _Newer] = {}
    unread: set[str] = set()
    for record in records:
        group = ""
        try:
            key, kind = record_key(record.key)
            group = key.string()
            if kind == GROUP:
                found.extend(_classic(group, record))
            else:
                newer.setdefault(group, _Newer()).note(key, kind, record)
        except (Malformed, UnknownVersion):
            unread.add(group)
    whole = ((group, own) for group, own in newer.items() if group not in unread)
    found.extend(members for group, own in whole if (members := own.group_members(group)) is not None)
    return tuple(sorted(found, key=lambda each: (each.group, each.newer)))


def _classic(group: str, record: InternalRecord) -> Iterable[GroupMembers]:
    """The generation, where consumers chose an assignor."""
    fields = Fields(record.value or b"")
    version = fields.version(_LATEST, flexible_from=_FLEXIBLE_FROM)
    kind, generation = fields.string(), fields.int32()
    assignor, _ = fields.nullable_string(), fields.nullable_string()
    state_time = fields.int64() if version >= 2 else None
    members = [raw_member(fields, version) for _ in range(fields.count(_LEAST) or 0)]
    if kind == "consumer" and assignor:
        yield GroupMembers(
            group=group,
            newer=False,
            generation=generation,
            assignor=assignor,
            state_time=state_time,
            members=tuple(map(_membership, in_order(members))),
            span=record.span,
        )


def in_order(members: Iterable[RawMember]) -> list[RawMember]:
    """As assignors go through them: by instance id, then by member id."""
    return sorted(members, key=_order)


def _order(member: RawMember) -> tuple[bool, bytes]:
    """Static members first; both as Java compares text."""
    named = member.id if member.instance is None else member.instance
    return member.instance is None, named.encode("utf-16-be", "surrogatepass")


def _membership(member: RawMember) -> Membership:
    topics, owned, rack = _subscription(member.subscription)
    return Membership(
        topics=topics, owned=owned, rack=rack, static=member.instance is not None,
        assigned=_assignment(member.assignment),
    )  # fmt: skip


def _subscription(data: bytes) -> tuple[tuple[str, ...], Partitions, str | None]:
    """Topics, what was owned and the rack; newer versions add fields behind those that are known."""
    fields = Fields(data)
    version = fields.int16()
    topics = tuple(fields.string() for _ in range(fields.count(2) or 0))
    fields.take(max(fields.length(), 0), "bytes")
    owned = _partitions(fields) if version >= 1 else ()
    _ = fields.int32() if version >= _RACK_SINCE - 1 else -1
    return topics, owned, fields.nullable_string() if version >= _RACK_SINCE else None


def _assignment(data: bytes) -> Partitions:
    if not data:
        return ()
    fields = Fields(data)
    fields.int16()
    return _partitions(fields)


def _partitions(fields: Fields) -> Partitions:
    return tuple((fields.string(), fields.int32s()) for _ in range(fields.count(_TOPIC_LEAST) or 0))


def _by_id(fields: Fields) -> Partitions:
    """The same in the newer protocol's own records, which know topics by id."""
    partitions: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(fields.count(17) or 0):
        partitions.append((fields.uuid(), fields.int32s()))
        fields.tags()
    return tuple(partitions)


class _Held(Struct, frozen=True):
    """What one member of a newer group says that it has."""

    epoch: int
    state: int
    assigned: Partitions
    pending: Partitions


class _Newer(Struct, frozen=True):
    """What the records of one group of the newer protocol say, by member."""

    targets: dict[str, Partitions] = field(default_factory=dict)
    held: dict[str, _Held] = field(default_factory=dict)
    epochs: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    def note(self, key: Fields, kind: int, record: InternalRecord) -> None:
        """Take one record."""
        fields = Fields(record.value or b"")
        fields.version(0, flexible_from=0)
        if kind == TARGET_EPOCH:
            self.epochs.append(fields.int32())
        elif kind == TARGET:
            self.targets[key.string()] = _by_id(fields)
        else:
            epoch, _, state = fields.int32(), fields.int32(), fields.int8()
            self.held[key.string()] = _Held(epoch, state, _by_id(fields), _by_id(fields))
        self.spans.append(record.span)

    def group_members(self, group: str) -> GroupMembers | None:
        """The group, where the epoch of its targets is told."""
        if not self.epochs:
            return None
        return GroupMembers(
            group=group,
            newer=True,
            generation=self.epochs[-1],
            members=tuple(self._member(member) for member in sorted({*self.held, *self.targets})),
            span=self.spans[-1],
        )

    def _member(self, member: str) -> Membership:
        held = self.held.get(member)
        return Membership(
            owned=() if held is None else held.pending,
            assigned=() if held is None else held.assigned,
            target=self.targets.get(member, ()),
            settled=held is not None and held.state == _SETTLED and held.epoch == self.epochs[-1],
        )

