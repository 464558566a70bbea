"""How many partitions topics have, each step in which one grew, on which racks brokers are, and as what they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from parsers.provenance import row_span
from parsers.tables import Description
from parsers.tables.metadata import BrokerChange, MetadataChange, QuorumChange
from rules.replicas.partition_counts import PartitionCount, ToldBy
from rules.replicas.racks import RACK
from rules.settings import BROKER_EPOCH, INCARNATION, QUORUM_LEADER, Setting


def counts_in(changes: Iterable[MetadataChange], told_by: ToldBy = "metadata") -> Iterator[PartitionCount]:
    """The counts that a controller's record tells: partitions that one moment adds are one step."""
    grown: dict[tuple[str, str | None], PartitionCount] = {}
    changes = tuple(changes)
    homes = _homes(changes)
    for change in changes:
        if change.kind == "changed" or change.topic is None or change.partition is None:
            continue
        place = change.topic, change.topic_id
        before = grown.get(place)
        count = 0 if change.kind == "removed" else change.partition + 1
        if before is not None and (before.count == 0 or 0 < count <= before.count):
            continue
        if before is not None and before.since != change.time:
            yield before
        grown[place] = PartitionCount(
            topic=change.topic,
            topic_id=change.topic_id,
            count=count,
            homes=homes.get(place, ())[:count],
            since=change.time,
            told_by=told_by,
            span=row_span(change),
        )
    yield from grown.values()


def _homes(changes: Iterable[MetadataChange]) -> dict[tuple[str, str | None], tuple[tuple[int, ...], ...]]:
    """By topic the brokers of each partition, from 0 on; none of a topic of which one was moved."""
    homes_told: dict[tuple[str, str | None], dict[int, set[tuple[int, ...]]]] = {}
    for change in changes:
        if change.topic is not None and change.partition is not None and change.replicas:
            home = tuple(sorted(map(int, change.replicas.split(","))))
            homes_told.setdefault((change.topic, change.topic_id), {}).setdefault(change.partition, set()).add(home)
    return {
        place: tuple(min(own[number]) for number in sorted(own))
        for place, own in homes_told.items()
        if sorted(own) == list(range(len(own))) and all(len(homes) == 1 for homes in own.values())
    }


def described_counts(rows: Iterable[Description]) -> Iterator[PartitionCount]:
    """The counts in outputs of tools, whose time nobody knows."""
    highest: dict[str, Description] = {}
    for row in rows:
        if row.kind == "partition" and row.topic is not None and row.partition is not None:
            before = highest.get(row.topic)
            if before is None or (before.partition or 0) < row.partition:
                highest[row.topic] = row
    for topic, row in highest.items():
        yield PartitionCount(topic=topic, count=(row.partition or 0) + 1, told_by="description", span=row_span(row))


def racks_in(changes: Iterable[BrokerChange]) -> Iterator[Setting]:
    """The racks that brokers named when they registered."""
    for change in changes:
        if change.rack is not None:
            yield Setting(
                name=RACK,
                value=change.rack,
                origin="metadata",
                broker=change.node,
                since=change.time,
                clock="controller",
                span=row_span(change),
            )


def registrations_in(
    changes: Iterable[BrokerChange], written: Callable[[int | None], int | None]
) -> Iterator[Setting]:
    """As what brokers' processes are recorded; a snapshot tells of none when that was.

    A process had begun by when its incarnation was `written`. It learns of its broker epoch after the record's time.
    """
    for change in changes:
        begun = INCARNATION, change.incarnation_id, written(change.offset)
        recorded = BROKER_EPOCH, change.broker_epoch, change.time
        for name, value, since in (begun, recorded) if change.kind == "registered" else ():
            if value is not None:
                yield _recorded(name, str(value), since, change)


def quorum_leaders_in(changes: Iterable[QuorumChange]) -> Iterator[Setting]:
    """Which nodes led the quorum: each has its own clock."""
    for change in changes:
        if change.leader is not None:
            yield _recorded(QUORUM_LEADER, str(change.leader), change.time, change)


def _recorded(name: str, value: str, since: int | None, change: BrokerChange | QuorumChange) -> Setting:
    return Setting(
        name=name,
        value=value,
        origin="registration",
        broker=change.node if isinstance(change, BrokerChange) else None,
        since=since,
        clock="controller",
        span=row_span(change),
    )
