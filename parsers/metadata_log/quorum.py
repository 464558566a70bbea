"""Control records of the metadata log: who leads the quorum, who votes, where a snapshot begins and ends."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from parsers.metadata_log.compact_wire import MetadataCursor
from parsers.tables.metadata import QuorumChangeKind
from parsers.wire import Malformed

LEADER_CHANGE: Final = 2
SNAPSHOT_HEADER: Final = 3
SNAPSHOT_FOOTER: Final = 4
KRAFT_VERSION: Final = 5
KRAFT_VOTERS: Final = 6

_ENDPOINT_LEAST: Final = 5
_VOTER_LEAST: Final = 24


class Voter(Struct, frozen=True, kw_only=True):
    """A member of the quorum; `directory_id` is None where the record has none."""

    node: int
    directory_id: str | None = None


class ControlRecord(Struct, frozen=True, kw_only=True):
    """One decoded control record; fields that its kind lacks are None."""

    kind: QuorumChangeKind
    leader: int | None = None
    voters: tuple[Voter, ...] | None = None
    granting_voters: tuple[Voter, ...] | None = None
    kraft_version: int | None = None
    contained_time: int | None = None


def decode_control(control_type: int, value: bytes) -> ControlRecord | None:
    """A control record of the quorum; None for a type that says nothing about it. Raises Malformed."""
    cursor = MetadataCursor(value)
    version = cursor.int16() if control_type in _KINDS else 0
    if control_type == LEADER_CHANGE:
        return _leader_change(cursor, version)
    if control_type == KRAFT_VOTERS:
        record = ControlRecord(kind="voters", voters=cursor.array(lambda: _listed_voter(cursor), _VOTER_LEAST))
    elif control_type == KRAFT_VERSION:
        record = ControlRecord(kind="kraft-version", kraft_version=cursor.int16())
    elif control_type == SNAPSHOT_HEADER:
        record = ControlRecord(kind="snapshot-header", contained_time=cursor.int64())
    elif control_type == SNAPSHOT_FOOTER:
        record = ControlRecord(kind="snapshot-footer")
    else:
        return None
    _end(cursor)
    return record


_KINDS: Final = frozenset({LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, KRAFT_VOTERS})


def _leader_change(cursor: MetadataCursor, version: int) -> ControlRecord:
    if version not in (0, 1):
        raise Malformed("version 0 or 1 of a leader change", str(version))
    least = 5 if version == 0 else 21
    leader = cursor.int32()
    voters = cursor.array(lambda: _plain_voter(cursor, version), least)
    granting = cursor.array(lambda: _plain_voter(cursor, version), least)
    _end(cursor)
    return ControlRecord(kind="leader", leader=leader, voters=voters, granting_voters=granting)


def _plain_voter(cursor: MetadataCursor, version: int) -> Voter:
    voter = Voter(node=cursor.int32(), directory_id=cursor.uuid() if version >= 1 else None)
    cursor.tags()
    return voter


def _listed_voter(cursor: MetadataCursor) -> Voter:
    voter = Voter(node=cursor.int32(), directory_id=cursor.uuid())
    cursor.array(lambda: _endpoint(cursor), _ENDPOINT_LEAST)
    cursor.int16()
    cursor.int16()
    cursor.tags()
    cursor.tags()
    return voter


def _endpoint(cursor: MetadataCursor) -> None:
    cursor.string()
    cursor.string()
    cursor.uint16()
    cursor.tags()


def _end(cursor: MetadataCursor) -> None:
    cursor.tags()
    cursor.finish()
