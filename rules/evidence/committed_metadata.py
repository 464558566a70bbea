"""How far the metadata log is committed, by the names of its snapshots and by what most voters hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from rules.replicas.disagreement import Difference
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.replica import Replica
from rules.words import counted, listed

NAMED: Final = 3
"""Snapshots of one node that are told by name; the rest is counted."""


class LeftUnread(Struct, frozen=True, kw_only=True):
    """Snapshots of which the names alone were looked at."""

    brokers: tuple[int, ...]
    words: str
    """How many there are of each node, and which."""


def left_unread(snapshots: Iterable[SnapshotSeen]) -> LeftUnread | None:
    """All of them together: a node may keep a hundred."""
    unread = sorted((s for s in snapshots if s.standing == "unread"), key=lambda s: (s.broker, s.end_offset))
    named: dict[int, list[str]] = {}
    for each in unread:
        named.setdefault(each.broker, []).append(each.span.source.rpartition("/")[2])
    words = [f"{counted(len(names), 'snapshot')} of node {node} ({_few(names)})" for node, names in named.items()]
    return LeftUnread(brokers=tuple(named), words=listed(words)) if unread else None


def _few(names: Sequence[str]) -> str:
    return listed([*names[:NAMED], f"{len(names) - NAMED} more"] if len(names) > NAMED else names)


def committed_by(snapshots: Iterable[SnapshotSeen], broker: int) -> int:
    """How far a node's own snapshots assert that the metadata log is committed; 0 for a node without any."""
    return max((each.end_offset for each in snapshots if each.broker == broker), default=0)


def committed_by_both(snapshots: Sequence[SnapshotSeen], apart: Difference) -> int:
    """How far the snapshots of both nodes, whose logs differ, assert that the metadata log is committed."""
    return min(committed_by(snapshots, side.broker) for side in (apart.left, apart.right))


def contradict(snapshots: Sequence[SnapshotSeen], apart: Difference) -> bool:
    """Whether two logs differ below what both nodes know as committed, or in one epoch: neither will be cut for it."""
    return apart.same_epoch or apart.start_offset < committed_by_both(snapshots, apart)


def distrusted(snapshots: Iterable[SnapshotSeen], seen: SnapshotSeen) -> bool:
    """Whether a snapshot is torn, or contradicts a log that is surely the committed one."""
    if seen.log_epoch is None or seen.log_epoch == seen.epoch:
        return seen.standing in ("torn", "differs")
    own = seen.log_broker == seen.broker or committed_by(snapshots, seen.log_broker) >= seen.end_offset
    return own or seen.standing == "torn"


def contradicting(snapshots: Sequence[SnapshotSeen], differences: Iterable[Difference]) -> tuple[int, ...]:
    """The nodes that hold other metadata than another one for good, or a snapshot that is not to be trusted."""
    apart = {side.broker for d in differences if contradict(snapshots, d) for side in (d.left, d.right)}
    return tuple(sorted(apart | {seen.broker for seen in snapshots if distrusted(snapshots, seen)}))


def held_by_a_majority(
    replicas: Sequence[Replica], differences: Sequence[Difference], difference: Difference
) -> bool:
    """Whether most voters hold what one side does: then the other's records are an end that will be cut."""
    start, end = difference.start_offset, difference.end_offset
    apart = [d for d in differences if d.start_offset < end and start < d.end_offset]
    voters = next((replica.voters for replica in replicas if replica.voters), ())
    for side in (difference.left, difference.right):
        against = {id(other) for d in apart if side in (d.left, d.right) for other in (d.left, d.right)} - {id(side)}
        alike = {r.broker for r in replicas if id(r) not in against and r.log_end_offset > start}
        if 2 * len(alike.intersection(voters)) > len(voters):
            return True
    return False
