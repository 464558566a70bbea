"""What is wrong with the assignment of a group, by its own records and by what its assignor computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from rules.protocol.assignment import (
    NO_RACKS,
    Counts,
    Member,
    Racks,
    Share,
    assign_ranges,
    assign_round_robin,
    foreign,
    given_twice,
    is_balanced,
    left_over,
)
from rules.replicas.commits_of_groups import GroupAssignment, GroupMember, TopicPartitions
from rules.replicas.partition_counts import SLACK_MS, PartitionCounts
from rules.replicas.racks import racks_seen

RANGE: Final = "range"
ROUND_ROBIN: Final = "roundrobin"
COOPERATIVE: Final = "cooperative-sticky"
STICKY: Final = ("sticky", COOPERATIVE)
SHOWN: Final = 8
MOVED: Final = "members have other partitions than it gives"
"""All else is as it should be: each partition that is read has one member, and that one reads its topic."""
BROKER: Final = "its broker"
"""What assigns in the newer protocol."""


class Contradiction(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and some of the partitions that show it."""

    assignor: str
    what: str
    partitions: tuple[str, ...]
    span: Span


class Unjudged(Struct, frozen=True, kw_only=True):
    """Why an assignment is not judged, and what would settle it."""

    reason: str
    missing: str


def contradictions(
    group: GroupAssignment, counts: PartitionCounts, racks: Mapping[int, str]
) -> Iterator[Contradiction | Unjudged]:
    """All that is wrong with a group's assignment, or what keeps it from being judged."""
    if group.assignor is None:
        yield from _by_its_own_records(group)
    elif any(member.assigned for member in group.members):
        yield from _of_the_assignor(group, group.assignor, counts, racks)


def _of_the_assignor(
    group: GroupAssignment, assignor: str, counts: PartitionCounts, racks: Mapping[int, str]
) -> Iterator[Contradiction | Unjudged]:
    shares = [_share(member.assigned) for member in group.members]
    members = [Member(topics=frozenset(member.topics), rack=member.rack) for member in group.members]
    if assignor not in (RANGE, ROUND_ROBIN, *STICKY):
        reason = f"nothing is known of what the assignor {assignor} gives"
        yield Unjudged(reason=reason, missing="that assignor's own law")
        return
    withheld = _withheld(group.members, shares) if assignor == COOPERATIVE else frozenset()
    seen = _seen(group, shares, withheld, counts)
    found = list(_against(assignor, group, shares, members, seen, withheld=withheld))
    if not found:
        return
    if not _counts_are_told(group, counts):
        reason = "its assignment is wrong, unless its topics have partitions of which no folder is here"
        yield Unjudged(reason=reason, missing="the metadata log")
    elif any(member.static for member in group.members) and not _breaks(shares):
        reason = "a static member may have come back to read other topics, which changes no assignment by itself"
        yield Unjudged(reason=reason, missing="what its static members read when they were assigned")
    elif assignor == RANGE and any(member.rack is not None for member in members) and not _breaks(shares):
        homes = racks_seen(sorted(seen), counts, racks)
        yield from _by_racks([list(_against(RANGE, group, shares, members, seen, racks=nearby)) for nearby in homes])
    else:
        yield from found


def _by_racks(found: Sequence[Sequence[Contradiction]]) -> Iterator[Contradiction | Unjudged]:
    """What is wrong wherever the client saw replicas: brokers that were down had no rack for it."""
    if found:
        yield from min(found, key=len)
    else:
        reason = "members name their racks, and where replicas stood at that time is not known"
        yield Unjudged(reason=reason, missing="the racks of all replicas at that time")


def _breaks(shares: Sequence[Share]) -> bool:
    """Whether it is wrong wherever replicas stand."""
    return bool(given_twice(shares))


def _seen(group: GroupAssignment, shares: Sequence[Share], withheld: Share, counts: PartitionCounts) -> Counts:
    """Of the numbers of partitions that the leader may have seen, those that fit what members have best."""
    held: dict[str, set[int]] = {}
    kept: dict[str, set[int]] = {}
    for by_topic, own in ((held, frozenset().union(*shares)), (kept, withheld)):
        for topic, partition in own:
            by_topic.setdefault(topic, set()).add(partition)

    def misfit(topic: str, count: int) -> int:
        own, every = held.get(topic, set()), set(range(count))
        return len(own - every) + len(every - own - kept.get(topic, set()))

    # A leader may assign before it has heard of a topic at all; it does so anew as soon as it has.
    young = (0,) if _is_young(group) else ()
    return {
        topic: min((*(counts.around(topic, group.state_time) or (0,)), *young), key=lambda n: misfit(topic, n))
        for topic in sorted({topic for member in group.members for topic in member.topics})
    }


def _is_young(group: GroupAssignment) -> bool:
    """Whether the assignment may have stood for less time than it takes to hear of a topic."""
    return group.told_until is None or group.state_time is None or group.told_until < group.state_time + SLACK_MS


def _counts_are_told(group: GroupAssignment, counts: PartitionCounts) -> bool:
    topics = {topic for member in group.members for topic in member.topics}
    return counts.tells_all and all(counts.steps(topic) or not counts.least(topic) for topic in topics)


def _against(
    assignor: str,
    group: GroupAssignment,
    shares: Sequence[Share],
    members: Sequence[Member],
    counts: Counts,
    *,
    racks: Racks = NO_RACKS,
    withheld: Share = frozenset(),
) -> Iterator[Contradiction]:
    """What is wrong where the leader saw these numbers of partitions."""
    found = {
        "two members have a partition": given_twice(shares),
        "members have partitions that are not theirs to read": foreign(shares, members, counts),
        "nobody has partitions that are read": left_over(shares, members, counts) - withheld,
    }
    if assignor in STICKY:
        if not withheld and not is_balanced(shares, members):
            found["members that read the same differ by more than one partition"] = max(shares, key=len)
    elif not any(found.values()):
        given = assign_ranges(counts, members, racks) if assignor == RANGE else assign_round_robin(counts, members)
        moved = (own ^ due for own, due in zip(shares, given, strict=True))
        found[MOVED] = frozenset().union(*moved)
    yield from (_contradiction(assignor, what, shown, group.span) for what, shown in found.items() if shown)


def _withheld(members: Sequence[GroupMember], shares: Sequence[Share]) -> Share:
    """What members had and have no longer: a cooperative group gives it to another one in its next generation."""
    before = (_share(member.owned) for member in members)
    return frozenset().union(*(had - has for had, has in zip(before, shares, strict=True)))


def _by_its_own_records(group: GroupAssignment) -> Iterator[Contradiction]:
    """Of the newer protocol: what members have, and give up, against what they should have."""
    held = [_share((*member.assigned, *member.owned)) for member in group.members]
    targets = [_share(member.target) for member in group.members]
    settled = zip(group.members, targets, strict=True)
    apart = (_share(member.assigned) ^ due for member, due in settled if member.settled)
    found = {
        "two members have a partition": given_twice(held),
        "two members should have a partition": given_twice(targets),
        "members that are settled have other partitions than they should": frozenset().union(*apart),
    }
    yield from (_contradiction(BROKER, what, shown, group.span) for what, shown in found.items() if shown)


def _contradiction(assignor: str, what: str, shown: Share, span: Span) -> Contradiction:
    partitions = tuple(f"{topic}-{partition}" for topic, partition in sorted(shown)[:SHOWN])
    return Contradiction(assignor=assignor, what=what, partitions=partitions, span=span)


def _share(held: Sequence[TopicPartitions]) -> Share:
    return frozenset((each.topic, partition) for each in held for partition in each.partitions)
