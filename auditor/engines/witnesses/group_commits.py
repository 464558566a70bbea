"""What groups committed: facts about many partitions that stand in the logs of `__consumer_offsets`.

A partition of that topic is one unit, whichever brokers hold it: the copy that the epoch protocol would let the others
follow is read, and each commit becomes a fact of the partition that the group reads. A shuffle takes it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from auditor.engines.opened.unit_facts import unit_fact, unread_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.internal_topics import Records, copies_of, leading
from parsers.internal_topics import GroupMembers, Membership, StandingKeys, latest_commits
from parsers.provenance import row_span
from parsers.tables.metadata import GroupOffset
from rules.narrow.facts import Fact
from rules.protocol.topics import GROUPS_TOPIC
from rules.replicas.commits_of_groups import GroupAssignment, GroupCommit, GroupHome, GroupMember, TopicPartitions

Place = tuple[str, int]


def read_groups(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition that a group stands in, and one for what could not be read."""
    chosen = leading(copies_of(unit))
    if chosen is None:
        return
    records, standing = Records(unit), StandingKeys()
    latest = latest_commits(standing.passing(records.of(chosen)), unit.origin(chosen.pieces[0].source))
    spoken: dict[Place, list[GroupCommit]] = {}
    for row in latest.offsets:
        commit = _commit(row)
        if commit is not None and row.topic is not None and row.partition is not None:
            spoken.setdefault((row.topic, row.partition), []).append(commit)
    for (topic, partition), commits in spoken.items():
        yield unit_fact(unit, topic, partition, commits=commits)
    homes = tuple(GroupHome(group=group, span=span) for group, span in sorted(standing.groups().items()))
    if homes:
        own = unit_fact(unit, GROUPS_TOPIC, unit.partition)
        assignments = tuple(assignment_of(group, standing.latest_time) for group in standing.members())
        yield replace(own, group_homes=homes, assignments=assignments)
    refusals = (*records.refusals, *latest.refusals)
    if refusals:
        yield unread_fact(unit, refusals)


def _commit(row: GroupOffset) -> GroupCommit | None:
    if row.committed_offset is None:
        return None
    epoch = row.committed_epoch
    return GroupCommit(
        group=row.group,
        offset=row.committed_offset,
        leader_epoch=None if epoch is None or epoch < 0 else epoch,
        commit_time=row.commit_time,
        topic_id=row.topic_id,
        span=row_span(row),
    )


def assignment_of(group: GroupMembers, told_until: int | None) -> GroupAssignment:
    """The group as rules see it, by a log whose latest record is of a time."""
    return GroupAssignment(
        group=group.group,
        generation=group.generation,
        assignor=group.assignor,
        state_time=group.state_time,
        told_until=told_until,
        members=tuple(map(_member, group.members)),
        span=group.span,
    )


def _member(member: Membership) -> GroupMember:
    return GroupMember(
        topics=member.topics,
        rack=member.rack,
        static=member.static,
        owned=_held(member.owned),
        assigned=_held(member.assigned),
        target=_held(member.target or ()),
        settled=member.settled,
    )


def _held(by_topic: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[TopicPartitions, ...]:
    return tuple(TopicPartitions(topic=topic, partitions=partitions) for topic, partitions in by_topic)
