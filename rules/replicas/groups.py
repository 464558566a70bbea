"""What consumer groups committed of a partition: facts that stand in another partition's log, or in a tool's output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from parsers.provenance import Span

ToldBy = Literal["log", "description"]
"""`__consumer_offsets` itself, or the output of a tool at a time that nobody wrote down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCommit:
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


def in_order(commits: Iterable[GroupCommit], topic_ids: frozenset[str]) -> tuple[GroupCommit, ...]:
    """Commits by group; those of another incarnation of the topic are of another partition."""
    own = [c for c in commits if c.topic_id is None or not topic_ids or c.topic_id in topic_ids]
    return tuple(sorted(own, key=lambda c: (c.group, c.told_by != "log", c.span.source, c.span.start)))
