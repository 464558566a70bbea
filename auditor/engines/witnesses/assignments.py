"""What members of groups have, from the groups' own records to facts; who the members are stays behind."""

from __future__ import annotations

from parsers.internal_topics import GroupMembers, Membership
from rules.replicas.commits_of_groups import GroupAssignment, GroupMember, TopicPartitions


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
