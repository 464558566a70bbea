"""How many partitions topics have, each step in which one grew, and on which racks brokers are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parsers.provenance import row_span
from parsers.tables import Description
from parsers.tables.metadata import BrokerChange, MetadataChange
from rules.replicas.partition_counts import PartitionCount, ToldBy
from rules.replicas.racks import RACK
from rules.settings import Setting


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
