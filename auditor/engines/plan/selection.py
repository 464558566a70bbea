"""Which partitions an audit looks at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from parsers.inventory import Inventory


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
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

    def unmatched(self, inventory: Inventory) -> tuple[str, ...]:
        """Patterns and numbers that match nothing in the dump, as the user wrote them."""
        return self.unmatched_among({(held.origin.topic, held.origin.partition) for held in inventory.replicas})

    def unmatched_among(self, held: Collection[tuple[str | None, int | None]]) -> tuple[str, ...]:
        """Patterns and numbers that match none of these partitions."""
        topics, numbers = {topic or "" for topic, _ in held}, {number for _, number in held}
        patterns = [f"--topic {p}" for p in self.topics if not any(fnmatchcase(t, p) for t in topics)]
        patterns += [f"--exclude-topic {p}" for p in self.excluded_topics if not any(fnmatchcase(t, p) for t in topics)]
        return (*patterns, *(f"--partition {n}" for n in self.partitions if n not in numbers))
