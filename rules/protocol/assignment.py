"""What a group's assignor gives each member: recomputed where it is a function of the group, else checked for its laws.

Members come in the assignors' order. Partitions of a topic are all that the leader's metadata showed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Final

from msgspec import Struct

TopicPartition = tuple[str, int]
Share = frozenset[TopicPartition]
Counts = Mapping[str, int]
"""Partitions by topic; a topic without any is not there."""
Racks = Mapping[TopicPartition, frozenset[str]]
"""The racks of each partition's replicas."""
NO_RACKS: Final[Racks] = {}


class Member(Struct, frozen=True, kw_only=True):
    """What an assignor knows of a member."""

    topics: frozenset[str]
    rack: str | None = None


def assign_ranges(counts: Counts, members: Sequence[Member], racks: Racks = NO_RACKS) -> tuple[Share, ...]:
    """Of every topic a range each: n each, the first m of them one more; nearby partitions first (KIP-881)."""
    given: tuple[set[TopicPartition], ...] = tuple(set() for _ in members)
    states = [_Ranges(topic, counts[topic], members, racks) for topic in sorted(counts) if counts[topic]]
    states = [state for state in states if state.readers]
    if any(state.by_rack for state in states):
        for together in _alike(states):
            if len(together) > 1:
                _assign_together(together, given)
            elif together[0].by_rack:
                together[0].assign(given, together[0].is_near)
    for state in states:
        state.assign(given, lambda _member, _partition: True)
    return tuple(frozenset(own) for own in given)


class _Ranges:
    """One topic while its partitions are given away."""

    def __init__(self, topic: str, count: int, members: Sequence[Member], racks: Racks) -> None:
        self.topic, self.count = topic, count
        self.readers = [number for number, member in enumerate(members) if topic in member.topics]
        self._racks = {number: members[number].rack for number in self.readers}
        self._near = [racks.get((topic, partition), frozenset()) for partition in range(count)]
        self._left = list(range(count))
        self._given = dict.fromkeys(self.readers, 0)
        self._each, self._more = divmod(count, len(self.readers)) if self.readers else (0, 0)
        wanted = {rack for rack in self._racks.values() if rack is not None}
        everywhere = frozenset().union(*self._near)
        self.by_rack = bool(wanted & everywhere) and any(own != everywhere for own in self._near)

    def is_near(self, member: int, partition: int) -> bool:
        """Whether a replica is on the member's rack; one without a rack is near to all."""
        rack = self._racks[member]
        return rack is None or rack in self._near[partition]

    def room(self, member: int) -> int:
        """How many more it may have."""
        return max(0, self._each + (self._more > 0) - self._given[member])

    def give(self, member: int, partitions: Sequence[int], given: Sequence[set[TopicPartition]]) -> None:
        """Give some away."""
        self._given[member] += len(partitions)
        if self._given[member] > self._each:
            self._more -= self._given[member] - self._each
        self._left = [partition for partition in self._left if partition not in partitions]
        given[member].update((self.topic, partition) for partition in partitions)

    def assign(self, given: Sequence[set[TopicPartition]], may: Callable[[int, int], bool]) -> None:
        """Give each member what it may have, in order."""
        for member in self.readers:
            fitting = [partition for partition in self._left if may(member, partition)][: self.room(member)]
            if fitting:
                self.give(member, fitting, given)


def _alike(states: Sequence[_Ranges]) -> Iterator[list[_Ranges]]:
    """Topics with the same readers and the same number of partitions are assigned together."""
    groups: dict[tuple[tuple[int, ...], int], list[_Ranges]] = {}
    for state in states:
        groups.setdefault((tuple(state.readers), state.count), []).append(state)
    yield from groups.values()


def _assign_together(states: Sequence[_Ranges], given: Sequence[set[TopicPartition]]) -> None:
    """The same partition of all these topics to one member that is near to all of them."""
    for partition in range(states[0].count):
        near = (
            member
            for member in states[0].readers
            if all(state.room(member) and state.is_near(member, partition) for state in states)
        )
        member = next(near, None)
        if member is not None:
            for state in states:
                state.give(member, [partition], given)


def assign_round_robin(counts: Counts, members: Sequence[Member]) -> tuple[Share, ...]:
    """All partitions, by topic, to the members in turn; who does not read the topic is passed over."""
    given: tuple[set[TopicPartition], ...] = tuple(set() for _ in members)
    turns = cycle(range(len(members)))
    for topic in sorted(counts):
        if any(topic in member.topics for member in members):
            for partition in range(counts[topic]):
                reader = next(number for number in turns if topic in members[number].topics)
                given[reader].add((topic, partition))
    return tuple(frozenset(own) for own in given)


def foreign(shares: Sequence[Share], members: Sequence[Member], counts: Counts) -> Share:
    """Partitions that a member has of a topic that it does not read, or that the topic does not have."""
    return frozenset(
        each
        for own, member in zip(shares, members, strict=True)
        for each in own
        if each[0] not in member.topics or each[1] >= counts.get(each[0], 0)
    )


def given_twice(shares: Sequence[Share]) -> Share:
    """Partitions that two members have."""
    seen: set[TopicPartition] = set()
    twice: set[TopicPartition] = set()
    for own in shares:
        twice.update(own & seen)
        seen.update(own)
    return frozenset(twice)


def left_over(shares: Sequence[Share], members: Sequence[Member], counts: Counts) -> Share:
    """Partitions of topics that somebody reads and that nobody has."""
    read = frozenset().union(*(member.topics for member in members))
    every = {(topic, partition) for topic in read for partition in range(counts.get(topic, 0))}
    return frozenset(every.difference(*shares))


def is_balanced(shares: Sequence[Share], members: Sequence[Member]) -> bool:
    """Whether no two of the members that read the same topics differ by more than one; of others nothing is asked."""
    sizes: dict[frozenset[str], list[int]] = {}
    for own, member in zip(shares, members, strict=True):
        sizes.setdefault(member.topics, []).append(len(own))
    return len(sizes) > 1 or all(max(own) - min(own) <= 1 for own in sizes.values())
