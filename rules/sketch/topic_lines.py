"""Lines of a sketch about the topic and about consumer groups, beside the logs of its replicas.

    group g 12 epoch 3     what group g committed of the partition; the epoch may lack
    partitions 50          how many partitions the topic has, by the controller's record
    partitions 5 of u      the same of another topic
    group g by range       a group of the classic protocol, in generation 1, by this assignor
    member t u has t 0 1   its next member, who reads topics t and u, has partitions 0 and 1 of t; `rack a` may follow
    home g                 group g has records in this partition
    keys 50 by murmur2     producer 1 wrote 50 different keys that lie here by this hash (murmur2, crc32 or fnv1a)
    keys 2 elsewhere       keys that murmur2 places in another partition
    transactional i of 7 is Ongoing at 60 in t-0   the last state of transactional id i, whose producer is 7, by its
                           coordinator's log, which ends a minute later; it began at second 60 with a time-out of 60 s
    snapshot 7 at 4 epoch 2 is alike   node 7 keeps a snapshot of the metadata log, which says what the log says, or
                           `differs`, is `torn`, or could not be compared (`open`)

A sketch draws partition 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from parsers.provenance import Span
from rules.evidence import GroupCommit, PartitionEvidence
from rules.narrow.key_tallies import PlacingLedger
from rules.protocol.partitioning import PARTITIONERS
from rules.replicas.commits_of_groups import GroupAssignment, GroupHome, GroupMember, TopicPartitions
from rules.replicas.coordinators import NO_COORDINATORS, Coordinated, CoordinatorLog, Coordinators, Reached
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.partition_counts import PartitionCount, counts_of
from rules.replicas.placing import KeysPlaced, Placing

MINUTE_MS: Final = 60_000
_GROUP: Final = re.compile(r"group (\S+) (\d+)(?: epoch (\d+))?")
_ASSIGNED: Final = re.compile(r"group (\S+) by (\S+)")
_MEMBER: Final = re.compile(r"member ([\w ]+?) has (\w+)((?: \d+)*)(?: rack (\S+))?")
_OTHER: Final = re.compile(r"partitions (\d+) of (\S+)")
_HOME: Final = re.compile(r"home (\S+)")
_KEYS: Final = re.compile(r"keys (\d+) (?:by (murmur2|crc32|fnv1a)|elsewhere)")
_TRANSACTIONAL: Final = re.compile(r"transactional (\S+) of (\d+) is (\w+) at (\d+)(?: in (\S+))?")
_SNAPSHOT: Final = re.compile(r"snapshot (\d+) at (\d+) epoch (\d+) is (alike|differs|torn|open|unread)")
_PARTITIONS: Final = re.compile(r"partitions (\d+)")


class TopicLines:
    """What such lines of one sketch say together."""

    def __init__(self) -> None:
        self._commits: list[GroupCommit] = []
        self._homes: list[GroupHome] = []
        self._counts: list[int] = []
        self._others: dict[str, int] = {}
        self._groups: list[GroupAssignment] = []
        self._keys: list[tuple[int, str | None]] = []
        self._transactions: list[Coordinated] = []
        self._snapshots: list[SnapshotSeen] = []

    def take(self, line: str) -> bool:
        """Whether the line is one of them; then it is noted."""
        readers = (
            *((_GROUP, self._commit), (_HOME, self._home), (_PARTITIONS, self._count), (_KEYS, self._key)),
            *((_ASSIGNED, self._group), (_MEMBER, self._member), (_OTHER, self._other)),
            *((_TRANSACTIONAL, self._transactional), (_SNAPSHOT, self._snapshot)),
        )
        for shape, note in readers:
            if words := shape.fullmatch(line):
                note(words)
                return True
        return False

    def _commit(self, words: re.Match[str]) -> None:
        epoch = None if words[3] is None else int(words[3])
        span = _span("__consumer_offsets-0")
        self._commits.append(GroupCommit(group=words[1], offset=int(words[2]), leader_epoch=epoch, span=span))

    def _home(self, words: re.Match[str]) -> None:
        self._homes.append(GroupHome(group=words[1], span=_span("__consumer_offsets-0")))

    def _count(self, words: re.Match[str]) -> None:
        self._counts.append(int(words[1]))

    def _other(self, words: re.Match[str]) -> None:
        self._others[words[2]] = int(words[1])

    def _group(self, words: re.Match[str]) -> None:
        span = _span("__consumer_offsets-0")
        self._groups.append(GroupAssignment(group=words[1], generation=1, assignor=words[2], span=span))

    def _member(self, words: re.Match[str]) -> None:
        held = TopicPartitions(topic=words[2], partitions=tuple(map(int, words[3].split())))
        member = GroupMember(topics=tuple(words[1].split()), rack=words[4], assigned=(held,))
        group = self._groups.pop()
        self._groups.append(replace(group, members=(*group.members, member)))

    def _transactional(self, words: re.Match[str]) -> None:
        time = 1000 * int(words[4])
        state = Coordinated(
            transactional_id=words[1],
            state=words[3],  # type: ignore[arg-type]
            producer_ids=(int(words[2]),),
            producer_epoch=0,
            timeout_ms=60_000,
            partitions=() if words[5] is None else (words[5],),
            start_time=time,
            update_time=time,
            span=_span("__transaction_state-0"),
        )
        self._transactions.append(state)

    def _snapshot(self, words: re.Match[str]) -> None:
        broker, end, epoch = (int(words[place]) for place in (1, 2, 3))
        differs = words[4] == "differs"
        seen = SnapshotSeen(
            broker=broker,
            end_offset=end,
            epoch=epoch,
            standing=words[4],  # type: ignore[arg-type]
            log_epoch=None if words[4] == "open" else epoch,
            log_broker=broker,
            differences=("partition t-0 is missing in it",) if differs else (),
            count=int(differs),
            span=_span(f"{end:020d}-{epoch:010d}.checkpoint"),
        )
        self._snapshots.append(seen)

    def _coordinators(self) -> Coordinators:
        if not self._transactions:
            return NO_COORDINATORS
        latest = max(state.update_time or 0 for state in self._transactions) + MINUTE_MS
        states, reached = tuple(self._transactions), (Reached(broker=1, time=latest),)
        return Coordinators(logs=(CoordinatorLog(partition=0, broker=1, whole=True, states=states, reached=reached),))

    def _key(self, words: re.Match[str]) -> None:
        self._keys.append((int(words[1]), words[2]))

    def _placed(self, partition: int) -> KeysPlaced | None:
        """Keys that are made up to lie where the lines say, tallied as those of a log are."""
        if not self._keys:
            return None
        ledger, counts = PlacingLedger(partition), tuple(self._counts)
        keys = [key for line in self._keys for key in _made_up(*line, partition, counts[-1])]
        ledger.batch(1, counts, keys, range(len(keys)), [_span("keys")] * len(keys))
        return ledger.close(1)

    def added_to(self, evidence: PartitionEvidence) -> PartitionEvidence:
        """The evidence with all that was noted."""
        topic = evidence.topic
        counts = [*((topic, count) for count in self._counts), *self._others.items()]
        partition_counts = [PartitionCount(topic=name, count=count, span=_span("metadata")) for name, count in counts]
        return replace(
            evidence,
            group_offsets=tuple(self._commits),
            coordinators=self._coordinators(),
            metadata_snapshots=tuple(self._snapshots),
            level="deep" if self._keys else evidence.level,
            placing=Placing(
                homes=tuple(self._homes),
                assignments=tuple(self._groups),
                keys=self._placed(evidence.partition),
                counts=counts_of(partition_counts, {topic: evidence.partition + 1}),
            ),
        )


def _made_up(wanted: int, partitioner: str | None, partition: int, count: int) -> Iterator[bytes]:
    hash_of = PARTITIONERS[partitioner or "murmur2"]
    fitting = (
        key
        for key in map(b"k%d".__mod__, range(1 << 20))
        if (hash_of(key) % count == partition) == (partitioner is not None)
    )
    return islice(fitting, wanted)


def _span(source: str) -> Span:
    return Span(source=source, start=0, end=1)
