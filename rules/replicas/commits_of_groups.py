"""What consumer groups committed of a partition: facts that stand in another partition's log, or in a tool's output."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from parsers.provenance import Span

ToldBy = Literal["log", "description"]
"""`__consumer_offsets` itself, or the output of a tool at a time that nobody wrote down."""


class GroupCommit(Struct, frozen=True, kw_only=True):
    """The last offset that a group committed of the partition, in force where its log or its text ends."""

    group: str
    offset: int
    """The offset that the group reads next: everything below it was read."""
    leader_epoch: int | None = None
    """Leader epoch of the last record read; null where the client sent none."""
    commit_time: int | None = None
    """Milliseconds on the clock of the group's coordinator; null in a tool's output."""
    end_offset: int | None = None
    """The partition's log end as a tool printed it beside the commit."""
    topic_id: str | None = None
    told_by: ToldBy = "log"
    span: Span


class GroupHome(Struct, frozen=True, kw_only=True):
    """A group that has records in the partition of `__consumer_offsets`, and the newest of them."""

    group: str
    span: Span


class TopicPartitions(Struct, frozen=True, kw_only=True):
    """Partitions of one topic, which the newer protocol names by its id."""

    topic: str
    partitions: tuple[int, ...]


class GroupMember(Struct, frozen=True, kw_only=True):
    """A member of a group: what it reads, what it had, what it has, and what it should have where that is told."""

    topics: tuple[str, ...] = ()
    rack: str | None = None
    static: bool = False
    owned: tuple[TopicPartitions, ...] = ()
    assigned: tuple[TopicPartitions, ...] = ()
    target: tuple[TopicPartitions, ...] = ()
    settled: bool = False
    """Whether it says that it has what it should have."""


class GroupAssignment(Struct, frozen=True, kw_only=True):
    """What a group's members have, as the group's records in `__consumer_offsets` tell."""

    group: str
    generation: int
    assignor: str | None = None
    """By name; none where the broker assigns, as in the newer protocol (KIP-848)."""
    state_time: int | None = None
    told_until: int | None = None
    """The latest time of a record in the same log; null where none is told."""
    members: tuple[GroupMember, ...] = ()
    """In the order in which assignors go through them."""
    span: Span


def in_order(commits: Iterable[GroupCommit], topic_ids: frozenset[str]) -> tuple[GroupCommit, ...]:
    """Commits by group; those of another incarnation of the topic are of another partition."""
    own = [c for c in commits if c.topic_id is None or not topic_ids or c.topic_id in topic_ids]
    return tuple(sorted(own, key=lambda c: (c.group, c.told_by != "log", c.span.source, c.span.start)))
