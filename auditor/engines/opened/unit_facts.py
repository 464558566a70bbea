"""The facts of units that speak of many partitions: what they tell of each, and what of them could not be read."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.engines.opened.opening import unread_file
from auditor.engines.plan.units import ReadUnit
from parsers.tables import Refusal
from rules.facts.indexes import NO_INDEXES, IndexFacts
from rules.facts.stretch import LogFacts
from rules.history.moments import Moment
from rules.narrow.facts import DirectoryFacts, Fact, RootClaims
from rules.replicas.commits_of_groups import GroupCommit


def replica_fact(
    unit: ReadUnit,
    *,
    log: LogFacts | None = None,
    directory: DirectoryFacts | None = None,
    indexes: IndexFacts = NO_INDEXES,
    bytes_seen: int = 0,
    bytes_read: int = 0,
) -> Fact:
    """What a unit tells of one replica: a stretch of its log, or its directory."""
    return Fact(
        cluster_id=unit.cluster_id,
        topic=unit.topic,
        partition=unit.partition,
        topic_id=unit.topic_id,
        broker=unit.broker,
        log_dir=unit.log_dir,
        path=unit.path,
        state=unit.state,
        order=unit.order,
        log=log,
        directory=directory,
        indexes=indexes,
        clean_shutdown=unit.clean_shutdown,
        bytes_seen=bytes_seen,
        bytes_read=bytes_read,
    )


def unit_fact(
    unit: ReadUnit,
    topic: str | None,
    partition: int | None,
    *,
    topic_id: str | None = None,
    moments: Sequence[Moment] = (),
    commits: Sequence[GroupCommit] = (),
    root: RootClaims | None = None,
) -> Fact:
    """What a unit tells of a partition, or of none; `topic_id` where that is all that it tells of the topic."""
    return Fact(
        cluster_id=unit.cluster_id,
        topic=topic,
        partition=partition,
        topic_id=topic_id,
        broker=unit.broker,
        log_dir=unit.log_dir,
        path=None,
        state="current",
        order=unit.order,
        root=root,
        moments=tuple(moments),
        group_commits=tuple(commits),
    )


def unread_fact(unit: ReadUnit, refusals: Sequence[Refusal]) -> Fact:
    """What could not be read of a unit's files."""
    root = RootClaims(refusals=tuple(unread_file(refusal) for refusal in refusals))
    return unit_fact(unit, None, None, root=root)
