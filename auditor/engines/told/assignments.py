"""What members of groups have, from the groups' own records to facts; who the members are stays behind."""

from __future__ import annotations

from parsers.internal_topics import GroupMembers, Membership
from rules.replicas.groups import GroupAssignment, GroupMember, TopicPartitions


def assignment_of(told: GroupMembers) -> GroupAssignment:
    """The group as rules see it."""
    return GroupAssignment(
        group=told.group,
        generation=told.generation,
        assignor=told.assignor,
        state_time=told.state_time,
        members=tuple(map(_member, told.members)),
        span=told.span,
    )


def _member(told: Membership) -> GroupMember:
    return GroupMember(
        topics=told.topics,
        rack=told.rack,
        owned=_held(told.owned),
        assigned=_held(told.assigned),
        target=_held(told.target or ()),
        settled=told.settled,
    )


def _held(told: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[TopicPartitions, ...]:
    return tuple(TopicPartitions(topic=topic, partitions=partitions) for topic, partitions in told)
