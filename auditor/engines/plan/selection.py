"""Which partitions an audit looks at."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from msgspec import Struct


class Selection(Struct, frozen=True, kw_only=True):
    """Which partitions are looked at: shell patterns over topic names, and partition numbers."""

    topics: tuple[str, ...] = ()
    excluded_topics: tuple[str, ...] = ()
    partitions: tuple[int, ...] = ()

    def admits(self, topic: str | None, partition: int | None) -> bool:
        """Whether a partition is selected."""
        if topic is None or partition is None:
            return False
        if self.topics and not any(fnmatchcase(topic, pattern) for pattern in self.topics):
            return False
        if any(fnmatchcase(topic, pattern) for pattern in self.excluded_topics):
            return False
        return not self.partitions or partition in self.partitions

    def given(self) -> Iterator[tuple[str, str]]:
        """Every setting that selects, and what it says."""
        yield from (("topic", pattern) for pattern in self.topics)
        yield from (("exclude_topic", pattern) for pattern in self.excluded_topics)
        yield from (("partition", str(number)) for number in self.partitions)

    def unmatched(self, held: Collection[tuple[str | None, int | None]]) -> tuple[tuple[str, str], ...]:
        """Settings, each with what it says, that by itself match none of these partitions."""
        topics, numbers = {topic or "" for topic, _ in held}, {str(number) for _, number in held}
        return tuple(
            (name, said)
            for name, said in self.given()
            if not (said in numbers if name == "partition" else any(fnmatchcase(topic, said) for topic in topics))
        )
