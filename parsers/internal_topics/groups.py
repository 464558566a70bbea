"""`__consumer_offsets`: which offset each group committed, and the generations of classic groups."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from parsers.internal_topics.encodings import Fields, record_key, tagged_uuid
from parsers.internal_topics.group_members import raw_member
from parsers.internal_topics.record import InternalRecord, record_columns, refuse_record
from parsers.provenance import Origin
from parsers.tables import Refusal
from parsers.tables.metadata import GroupOffset, GroupState, TransactionOutcome
from parsers.wire import Malformed, UnknownVersion

_OFFSET_TYPES: Final = (0, 1)
_GROUP_TYPE: Final = 2
_LATEST_VERSION: Final = 4
_FLEXIBLE_FROM: Final = 4
_MEMBER_LEAST: Final = 8
_OUTCOMES: Final[dict[int, TransactionOutcome]] = {0: "aborted", 1: "committed"}

_SKIPPED_NAMES: Final = {
    3: "ConsumerGroupMetadata", 4: "ConsumerGroupPartitionMetadata", 5: "ConsumerGroupMemberMetadata",
    6: "ConsumerGroupTargetAssignmentMetadata", 7: "ConsumerGroupTargetAssignmentMember",
    8: "ConsumerGroupCurrentMemberAssignment",
}  # fmt: skip


class GroupHistory(Struct, frozen=True, kw_only=True):
    """All that a partition of `__consumer_offsets` tells, in its order; `skipped` counts the rest by name."""

    offsets: tuple[GroupOffset, ...] = ()
    groups: tuple[GroupState, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    refusals: tuple[Refusal, ...] = ()


def group_history(records: Iterable[InternalRecord], origin: Origin) -> GroupHistory:
    """The commits and group generations in one partition's records; its transaction markers must be among them."""
    offsets: list[GroupOffset] = []
    groups: list[GroupState] = []
    refusals: list[Refusal] = []
    skipped: Counter[str] = Counter()
    open_commits: dict[int, list[int]] = {}
    for record in records:
        if record.control_type is not None:
            if (outcome := _OUTCOMES.get(record.control_type)) is not None:
                _settle(offsets, open_commits.pop(record.producer_id, []), outcome)
            continue
        try:
            row = _group_record(record, origin)
        except (Malformed, UnknownVersion) as error:
            refusals.append(refuse_record(origin, record, error))
            continue
        if isinstance(row, str):
            skipped[row] += 1
        elif isinstance(row, GroupState):
            groups.append(row)
        else:
            if record.transactional:
                open_commits.setdefault(record.producer_id, []).append(len(offsets))
            offsets.append(row)
    return GroupHistory(
        offsets=tuple(offsets),
        groups=tuple(groups),
        skipped=tuple(sorted(skipped.items())),
        refusals=tuple(refusals),
    )


def _settle(offsets: list[GroupOffset], indexes: list[int], outcome: TransactionOutcome) -> None:
    """A marker decides the fate of what its producer committed since the last one."""
    for index in indexes:
        offsets[index] = replace(offsets[index], transaction=outcome)


def _group_record(record: InternalRecord, origin: Origin) -> GroupOffset | GroupState | str:
    """The row of a record, or the name of a kind that is not told."""
    key, kind = record_key(record.key)
    if kind in _OFFSET_TYPES:
        group, topic, partition = key.string(), key.string(), key.int32()
        key.finish()
        if partition < 0:
            raise Malformed("a partition", str(partition))
        return _offset_row(record, origin, group, topic, partition)
    if kind == _GROUP_TYPE:
        group = key.string()
        key.finish()
        return _group_row(record, origin, group)
    return _SKIPPED_NAMES.get(kind, f"type {kind}")


def _value(record: InternalRecord) -> tuple[Fields, int]:
    fields = Fields(record.value or b"")
    return fields, fields.version(_LATEST_VERSION, flexible_from=_FLEXIBLE_FROM)


class _Commit(Struct, frozen=True, kw_only=True):
    committed_offset: int | None = None
    committed_epoch: int | None = None
    metadata_size: int | None = None
    commit_time: int | None = None
    expire_time: int | None = None
    topic_id: str | None = None


def _commit(record: InternalRecord) -> _Commit:
    """The value of a commit, versions 0 to 4; nothing for a tombstone."""
    if record.value is None:
        return _Commit()
    fields, version = _value(record)
    offset = fields.int64()
    epoch = fields.int32() if version >= 3 else None
    metadata = fields.nullable_string() or ""
    commit_time = fields.int64()
    expire_time = fields.int64() if version == 1 else None
    topic_id = tagged_uuid(fields.tags().get(0))
    fields.finish()
    return _Commit(
        committed_offset=offset,
        committed_epoch=epoch,
        metadata_size=len(metadata.encode("utf-8")),
        commit_time=commit_time,
        expire_time=expire_time,
        topic_id=topic_id,
    )


def _offset_row(record: InternalRecord, origin: Origin, group: str, topic: str, partition: int) -> GroupOffset:
    return GroupOffset(
        **record_columns(record, origin),
        topic=topic,
        partition=partition,
        group=group,
        transaction="open" if record.transactional else "none",
        **asdict(_commit(record)),
    )


class _Generation(Struct, frozen=True, kw_only=True):
    protocol_type: str | None = None
    generation: int | None = None
    protocol: str | None = None
    leader_hash: str | None = None
    state_time: int | None = None
    member_count: int | None = None


def _generation(record: InternalRecord) -> _Generation:
    """The value of a group, versions 0 to 4; nothing for a tombstone."""
    if record.value is None:
        return _Generation()
    fields, version = _value(record)
    protocol_type, generation = fields.string(), fields.int32()
    protocol, leader = fields.nullable_string(), fields.nullable_string()
    state_time = fields.int64() if version >= 2 else None
    members = fields.count(_MEMBER_LEAST) or 0
    for _ in range(members):
        raw_member(fields, version)
    fields.tags()
    fields.finish()
    return _Generation(
        protocol_type=protocol_type,
        generation=generation,
        protocol=protocol,
        leader_hash=_hash(leader),
        state_time=state_time,
        member_count=members,
    )


def _group_row(record: InternalRecord, origin: Origin, group: str) -> GroupState:
    place = {"topic": None, "topic_id": None, "partition": None}
    return GroupState(**record_columns(record, origin), **place, group=group, **asdict(_generation(record)))


def _hash(member: str | None) -> str | None:
    return None if member is None else hashlib.blake2b(member.encode("utf-8"), digest_size=8).hexdigest()
