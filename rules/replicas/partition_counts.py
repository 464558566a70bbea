"""How many partitions topics have: as controllers and tools told it over time, and at least, as directories show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct, field

from parsers.provenance import Span

SLACK_MS: Final = 600_000
"""How long a producer may lag behind the controller, and their clocks stand apart."""
NO_TIME_MS: Final = 100_000_000_000_000
"""Beyond it are no milliseconds of this age, but microseconds."""
ToldBy = Literal["metadata", "description"]


def in_words(time: int | None) -> str:
    """A time in milliseconds, as people read it."""
    if time is None or not 0 <= time < NO_TIME_MS:
        return "an unknown time"
    return f"{datetime.fromtimestamp(time / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


class PartitionCount(Struct, frozen=True, kw_only=True):
    """How many partitions a topic has from some time on; Kafka only ever adds some."""

    topic: str
    count: int
    topic_id: str | None = None
    since: int | None = None
    """Milliseconds on the controller's clock; null where nothing tells when it came about."""
    homes: tuple[tuple[int, ...], ...] = ()
    """The brokers of each partition, from 0 on; none where one was moved, or where they are not told."""
    told_by: ToldBy = "metadata"
    span: Span

    @property
    def words(self) -> str:
        """The count, with the time from which it is in force where that is told."""
        if self.since is None or not 0 < self.since < NO_TIME_MS:
            return str(self.count)
        return f"{self.count} since {in_words(self.since)}"


class PartitionCounts(Struct, frozen=True, kw_only=True):
    """All that is known of a cluster's counts."""

    counts: Mapping[str, tuple[PartitionCount, ...]] = field(default_factory=dict)
    """By topic, in the order of time; 0 where it was deleted."""
    seen: Mapping[str, int] = field(default_factory=dict)
    """By topic, one more than the highest partition of which a directory is here."""

    def steps(self, topic: str) -> tuple[PartitionCount, ...]:
        """What the controller's record tells of a topic's last life, each count with the time from which it holds."""
        steps = self._by_the_controller(topic)
        return tuple(step for step in steps if step.count and step.topic_id == steps[-1].topic_id)

    def _by_the_controller(self, topic: str) -> tuple[PartitionCount, ...]:
        return tuple(each for each in self.counts.get(topic, ()) if each.told_by == "metadata")

    def standing(self, topic: str | None, partition: int | None) -> PartitionCount | None:
        """The last count by the controllers' record, where it tells that the topic has the partition still."""
        steps = self._by_the_controller(topic or "")
        return steps[-1] if steps and partition is not None and steps[-1].count > partition else None

    def ids(self, topic: str) -> frozenset[str]:
        """The ids under which the controllers' record tells of a topic, of its lives that ended too."""
        return frozenset(each.topic_id for each in self._by_the_controller(topic) if each.topic_id is not None)

    def last(self, topic: str) -> PartitionCount | None:
        """The count that stands at the end, where somebody told it and no directory contradicts it."""
        steps = (*(t for t in self.counts.get(topic, ()) if t.told_by != "metadata"), *self.steps(topic))
        fitting = [each for each in steps if each.count >= self.seen.get(topic, 0)]
        return fitting[-1] if fitting else None

    def possible(self, topic: str, at: int | None) -> tuple[int, ...]:
        """The counts that a producer may have known of when it wrote a record of this time; all where none is told.

        Records are written at their time or later: applications may give them older times, of what they tell. A
        producer learns of added partitions within `metadata.max.age.ms`, five minutes unless it is set.
        """
        steps = self.steps(topic)
        if not steps:
            return (last.count if (last := self.last(topic)) else self.least(topic),)
        ends = [*(step.since for step in steps[1:]), None]
        known = at is not None and 0 <= at < NO_TIME_MS
        return tuple(
            step.count
            for step, end in zip(steps, ends, strict=True)
            if end is None or not known or (at or 0) < end + SLACK_MS
        )

    def around(self, topic: str, at: int | None) -> tuple[int, ...]:
        """The counts that somebody may have seen at a time, in whichever life of the topic; 0 where it may be none."""
        steps = self._by_the_controller(topic)
        if not steps:
            return (last.count if (last := self.last(topic)) else self.least(topic),)
        begins = [None, *(step.since for step in steps)]
        ends = [*(step.since for step in steps), None]
        spans = zip((0, *(step.count for step in steps)), begins, ends, strict=True)
        return tuple(
            count
            for count, begin, end in spans
            if at is None or ((begin is None or begin - SLACK_MS <= at) and (end is None or at < end + SLACK_MS))
        )

    def homes(self, topic: str) -> tuple[tuple[int, ...], ...]:
        """The brokers of each partition of a topic of one life; none where they are not told, or one was moved."""
        steps = self._by_the_controller(topic)
        return steps[-1].homes if len({step.topic_id for step in steps}) == 1 else ()

    @property
    def tells_all(self) -> bool:
        """Whether a controller's record was read, so that a topic of which it says nothing is not there."""
        return any(each.told_by == "metadata" for counts in self.counts.values() for each in counts)

    def least(self, topic: str) -> int:
        """How many partitions there are at least."""
        return max((self.seen.get(topic, 0), *(each.count for each in self.counts.get(topic, ()))))


NOTHING_COUNTED: Final = PartitionCounts()


def counts_of(counts: Iterable[PartitionCount], seen: Mapping[str, int]) -> PartitionCounts:
    """What all sources tell together, in whatever order they come."""
    by_topic: dict[str, list[PartitionCount]] = {}
    for each in counts:
        by_topic.setdefault(each.topic, []).append(each)
    return PartitionCounts(
        counts={topic: tuple(sorted(own, key=_order)) for topic, own in sorted(by_topic.items())}, seen=seen
    )


def _order(each: PartitionCount) -> tuple[int, int, str, int]:
    return -1 if each.since is None else each.since, each.count, each.span.source, each.span.start

