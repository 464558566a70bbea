"""CONS005: a group has records in a partition of the offsets topic that is not its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, GroupOffset, MetadataChange
from rules.evidence import GroupHome, PartitionCount, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.protocol.partitioning import group_partition
from rules.protocol.topics import GROUPS_TOPIC
from rules.rule import rule
from rules.words import listed, numbered, quoted

SHOWN: Final = 8


@rule(
    id="CONS005",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, GroupOffset, MetadataChange),
    law="GroupCoordination",
    scope="group",
    message="Records of {groups:+group} are in partition {partition} of __consumer_offsets. With {count} partitions,"
    " {where}. A coordinator leads the partition in which its groups belong. It does not see these records unless it"
    " also leads partition {partition}. So a group may seem to have older committed offsets, or none. Perhaps partitions were added to the"
    " topic, or a folder was copied under another number. Check each group's committed offsets before its consumers start.",
)
def group_in_foreign_offsets_partition(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A group has records in a partition of the offsets topic not its own.

    The hash of a group's name, modulo the number of partitions, names the one partition of `__consumer_offsets` that
    keeps the group. Whoever leads that partition is its coordinator. Brokers count the partitions as they start, and go
    by that number as long as they run.

    Proves
    ------
    A coordinator that does not lead this partition as well finds nothing of what the group committed here. The group
    then begins again where `auto.offset.reset` says. Before 4.0 a broker that leads both still knows it, until one of the
    two gets another leader. It comes about where partitions were added to the topic, or where a directory was copied
    under another number. The finding is certain where the controller's record tells the number of partitions, and likely
    where a tool printed it.

    Undecided when
    --------------
    A group does not fit the number of partitions that directories show, and nothing else tells how many there are.

    Upheld
    ------
    topic __consumer_offsets
    partitions 50
    broker 1* 00|
    home d

    Violated
    --------
    topic __consumer_offsets
    partitions 50
    broker 1* 00|
    home d
    home billing
    """
    if evidence.topic != GROUPS_TOPIC:
        return
    counts = evidence.placing.counts
    last_count = counts.last(GROUPS_TOPIC)
    count = counts.least(GROUPS_TOPIC) if last_count is None else last_count.count
    foreign = [home for home in evidence.placing.homes if group_partition(home.group, count) != evidence.partition]
    if foreign and last_count is not None:
        yield _violation(foreign, last_count, evidence.partition)
    elif foreign:
        yield Undecided(
            reason=f"groups are in the wrong partition if the topic has {count} partitions. So many have folders here, and there may be more",
            missing="the metadata log, or the output of kafka-topics.sh --describe",
            blocking=False,
            exhibits=_exhibits(foreign),
        )


def _violation(foreign: list[GroupHome], last_count: PartitionCount, partition: int) -> Violation:
    by_home: dict[int, list[str]] = {}
    for home in foreign:
        by_home.setdefault(group_partition(home.group, last_count.count), []).append(quoted(home.group))
    belong = (f"{numbered('group', by_home[number], 'belongs')} in partition {number}" for number in sorted(by_home))
    return Violation(
        brokers=(),
        confidence="certain" if last_count.told_by == "metadata" else "likely",
        facts={
            "groups": tuple(home.group for home in foreign),
            "homes": tuple(sorted(by_home)),
            "where": listed([*belong]),
            "count": last_count.count,
            "partition": partition,
        },
        exhibits=(*_exhibits(foreign), Exhibit(span=last_count.span, role="the number of partitions")),
    )


def _exhibits(foreign: list[GroupHome]) -> tuple[Exhibit, ...]:
    return tuple(Exhibit(span=home.span, role=f"what {home.group} has here") for home in foreign[:SHOWN])
