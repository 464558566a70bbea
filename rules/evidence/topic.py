"""What is known about one topic as a whole: the shares of its partitions, laid together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from rules.evidence import PartitionEvidence
from rules.history.statements import PartitionState
from rules.protocol.topics import METADATA_TOPIC
from rules.replicas.keyless import KeylessTally, Order, order_of
from rules.replicas.partition_counts import PartitionCount, in_words
from rules.replicas.placing import Agreement, KeyTally
from rules.replicas.racks import RACK
from rules.replicas.share import PartitionShare, Rack
from rules.thresholds import Thresholds

FEW: Final = 20
"""Different keys of a producer below which nothing is concluded of it alone: it is counted with others like it."""


class PlacedBy(Agreement, frozen=True, kw_only=True):
    """How many keys of a producer lie where one partitioner places them, in all partitions of a topic."""

    first_partition: int
    """Where the first key lies that it does not place there."""


class WrittenKeys(Struct, frozen=True, kw_only=True):
    """The keys of one producer in all partitions of a topic, while it had these numbers of partitions."""

    producer: int
    """-1 for producers without an id, and for those of few keys."""
    counts: tuple[int, ...]
    keys: int
    different: int
    lowest: frozenset[tuple[int, int]]
    """The lowest hashes of its keys, each with the partition that holds it."""
    first_time: int | None
    last_time: int | None
    placed: tuple[PlacedBy, ...]
    """By each known partitioner, the best first."""

    @property
    def best(self) -> PlacedBy:
        """By the partitioner by which most of the keys lie where they do."""
        return self.placed[0]

    @property
    def by_one(self) -> bool:
        """Whether one producer wrote them all, and so placed them alike."""
        return self.producer >= 0

    @property
    def who(self) -> str:
        """Who wrote them."""
        return "producers without an id, or of few keys" if self.producer < 0 else f"producer {self.producer}"

    def agrees(self, percent: int) -> bool:
        """Whether that one is surely theirs: enough keys lie where it places them."""
        return self.different >= FEW and 100 * self.best.agreeing >= percent * self.keys

    def percent(self, by: PlacedBy) -> str:
        """How many of a hundred lie where a partitioner places them."""
        return f"{100 * by.agreeing / self.keys:.1f}"

    def chosen_among(self, steps: Sequence[PartitionCount]) -> str:
        """The numbers of partitions that were in force, with the time from which each was."""
        return " or ".join(step.words for step in steps if step.count in self.counts)

    def words(self, steps: Sequence[PartitionCount]) -> str:
        """How many lie where their own partitioner does not place them."""
        best, apart = self.best, self.keys - self.best.agreeing
        where = f"{'is' if apart == 1 else 'are'} in another partition than {best.partitioner} gives"
        agree = f"{best.agreeing} of {_keys(self.keys)} agree ({self.percent(best)} %)"
        return f"{_keys(apart)} of {self.who} {where}; it chooses among {self.chosen_among(steps)}; {agree}"

    @property
    def words_of_several(self) -> str:
        """The same of producers that nothing tells apart: one of them may place its own keys in another way."""
        best, apart = self.best, self.keys - self.best.agreeing
        return (
            f"{apart} of {_keys(self.keys)} lie elsewhere than {best.partitioner} places them, from offset"
            f" {best.first_apart} of partition {best.first_partition} on"
        )


class Replaced(Struct, frozen=True, kw_only=True):
    """Producers that wrote the same keys by different partitioners: one, and those that came beside it or after it."""

    former: WrittenKeys
    later: WrittenKeys

    @property
    def by_the_former(self) -> PlacedBy:
        """How many of the later keys lie where the former partitioner places them."""
        return next(each for each in self.later.placed if each.partitioner == self.former.best.partitioner)

    @property
    def in_turn(self) -> bool:
        """Whether the one had ended before the other began."""
        until, since = self.former.last_time, self.later.first_time
        return until is not None and since is not None and until < since

    def words(self, steps: Sequence[PartitionCount]) -> str:
        """Who placed the same keys by what, and when."""
        former, later, apart = self.former, self.later, self.by_the_former
        until, since = (in_words(time) for time in (former.last_time, later.first_time))
        turn = (f" up to {until}", f" from {since} on") if self.in_turn else ("", ", in the same time")
        return (
            f"{former.who} placed keys by {former.best.partitioner}{turn[0]}; {later.who} placed some of the same keys"
            f" by {later.best.partitioner}{turn[1]}; both chose among {later.chosen_among(steps)}; {apart.agreeing} of"
            f" {_keys(later.keys)} lie where {apart.partitioner} places them"
        )


class Unkeyed(Struct, frozen=True, kw_only=True):
    """What one producer wrote without keys into all partitions of a topic, while it had one number of them."""

    producer: int
    order: Order


class TopicEvidence(Struct, frozen=True, kw_only=True, dict=True):
    """Everything known about one topic of one cluster."""

    cluster_id: str | None
    topic: str
    shares: tuple[PartitionShare, ...]

    @property
    def level(self) -> str:
        """How deep its partitions were read."""
        return self.shares[0].level

    @property
    def thresholds(self) -> Thresholds:
        """The numbers that rules weigh by."""
        return self.shares[0].thresholds

    @property
    def partitions(self) -> int:
        """How many partitions it has at least."""
        return max(share.partitions for share in self.shares)

    @property
    def steps(self) -> tuple[PartitionCount, ...]:
        """How that number grew, by the controller's record."""
        return self.shares[0].steps

    @cached_property
    def racks(self) -> Mapping[int, str]:
        """The racks of brokers, as far as they are told."""
        return {rack.broker: rack.rack for share in self.shares for rack in share.racks}

    @cached_property
    def written(self) -> tuple[WrittenKeys, ...]:
        """Its keys by producer and by the number of partitions, producers of few keys together."""
        tallies = [(s.partition, tally) for s in self.shares if s.keys is not None for tally in s.keys.tallies]
        by_producer: dict[tuple[int, tuple[int, ...]], list[tuple[int, KeyTally]]] = {}
        for partition, tally in tallies:
            by_producer.setdefault((tally.producer, tally.counts), []).append((partition, tally))
        pooled: dict[tuple[int, tuple[int, ...]], list[tuple[int, KeyTally]]] = {}
        for (producer, counts), own in by_producer.items():
            few = sum(tally.different for _, tally in own) < FEW
            pooled.setdefault((-1 if few else producer, counts), []).extend(own)
        return tuple(_written(producer, counts, own) for (producer, counts), own in sorted(pooled.items()))

    def replaced(self, percent: int) -> Iterator[Replaced]:
        """Of each number of partitions and each other partitioner the first that put the earliest one's keys elsewhere.

        A key of the one is a key of the other if its hash is. Two such hashes are no chance.
        """
        sure = [written for written in self.written if written.agrees(percent)]
        sure.sort(key=lambda written: (written.counts, written.first_time or 0))
        seen: set[tuple[tuple[int, ...], str]] = set()
        for former, later in combinations(sure, 2):
            kind = later.counts, later.best.partitioner
            differ = former.counts == later.counts and former.best.partitioner != later.best.partitioner
            if differ and kind not in seen and _apart_of(former, later) > 1:
                seen.add(kind)
                yield Replaced(former=former, later=later)

    @cached_property
    def unkeyed(self) -> tuple[Unkeyed, ...]:
        """Its records without keys by producer; of those around the time when partitions were added nothing is said."""
        by_producer: dict[tuple[int, int], dict[int, KeylessTally]] = {}
        for share in self.shares:
            for tally in share.keys.keyless if share.keys is not None else ():
                if len(tally.counts) == 1:
                    by_producer.setdefault((tally.producer, *tally.counts), {})[share.partition] = tally
        return tuple(
            Unkeyed(producer=producer, order=order_of(tallies, count))
            for (producer, count), tallies in sorted(by_producer.items())
        )


def _apart_of(former: WrittenKeys, later: WrittenKeys) -> int:
    """How many keys lie in other partitions than the same keys of the other one."""
    there, elsewhere = former.lowest - later.lowest, later.lowest - former.lowest
    return len({key for key, _ in there} & {key for key, _ in elsewhere})


def _keys(count: int) -> str:
    return "1 key" if count == 1 else f"{count} keys"


def _written(producer: int, counts: tuple[int, ...], own: list[tuple[int, KeyTally]]) -> WrittenKeys:
    by_name: dict[str, int] = {}
    for _, tally in own:
        for each in tally.agreements:
            by_name[each.partitioner] = by_name.get(each.partitioner, 0) + each.agreeing
    placed = (_placed_by(own, name, agreeing) for name, agreeing in by_name.items())
    return WrittenKeys(
        producer=producer,
        counts=counts,
        keys=sum(tally.keys for _, tally in own),
        different=sum(tally.different for _, tally in own),
        lowest=frozenset((each, partition) for partition, tally in own for each in tally.lowest),
        first_time=min((t.first_time for _, t in own if t.first_time is not None), default=None),
        last_time=max((t.last_time for _, t in own if t.last_time is not None), default=None),
        placed=tuple(sorted(placed, key=lambda each: -each.agreeing)),
    )


def _placed_by(own: Iterable[tuple[int, KeyTally]], name: str, agreeing: int) -> PlacedBy:
    apart = sorted(_apart(own, name), key=lambda found: found[:2])
    partition, offset, span = apart[0] if apart else (-1, None, None)
    return PlacedBy(partitioner=name, agreeing=agreeing, first_apart=offset, span=span, first_partition=partition)


def _apart(own: Iterable[tuple[int, KeyTally]], name: str) -> Iterable[tuple[int, int, Span | None]]:
    for partition, tally in own:
        for each in tally.agreements:
            if each.partitioner == name and each.first_apart is not None:
                yield partition, each.first_apart, each.span


def share_of(evidence: PartitionEvidence) -> PartitionShare | None:
    """What a partition tells of its topic; nothing where no replica is here."""
    if not evidence.current or evidence.topic == METADATA_TOPIC:
        return None
    state, counts = _last_state(evidence), evidence.placing.counts
    last = state if state is None else _last_in_sync(evidence, state)
    ids = {replica.topic_id for replica in evidence.current if replica.topic_id is not None}
    return PartitionShare(
        partition=evidence.partition,
        level=evidence.level,
        thresholds=evidence.thresholds,
        topic_id=min(ids) if len(ids) == 1 else None,
        replicas=() if state is None else state.replicas or (),
        leader=None if last is None else last.leader,
        isr=() if last is None else last.isr or (),
        told_at=None if last is None else last.span,
        racks=tuple(_racks(evidence)),
        partitions=counts.least(evidence.topic),
        steps=counts.steps(evidence.topic),
        keys=evidence.placing.keys,
    )


def _last_state(evidence: PartitionEvidence) -> PartitionState | None:
    """The last state that names the assignment: the controller's, else what a tool printed."""
    states = [state for state in evidence.chronicle.states if state.replicas]
    printed = [moment for moment in evidence.moments if moment.kind == "described" and moment.replicas]
    return next(iter([*states[-1:], *printed[-1:]]), None)


def _last_in_sync(evidence: PartitionEvidence, assigned: PartitionState) -> PartitionState:
    """The last state that tells leader and ISR: changes of the ISR do not name the assignment."""
    states = [state for state in evidence.chronicle.states if state.isr is not None and state.leader is not None]
    return states[-1] if states and assigned in evidence.chronicle.states else assigned


def _racks(evidence: PartitionEvidence) -> Iterable[Rack]:
    brokers = {s.broker for s in evidence.settings.statements if s.name == RACK and s.broker is not None}
    for broker in sorted(brokers):
        setting = evidence.settings.in_force(None, broker, RACK)
        if setting is not None and setting.value:
            yield Rack(broker=broker, rack=setting.value)
