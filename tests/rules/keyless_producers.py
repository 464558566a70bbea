"""Producers that write records without keys, as the Java client's accumulator makes batches of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rules.replicas.keyless import KeylessBatch, KeylessTally

RECORD = 100
BATCH = 1000


def gaps(seed: int, records: int) -> list[int]:
    """Milliseconds between records."""
    return [int(gap) for gap in np.random.default_rng(seed).integers(1, 7, records)]


@dataclass
class Producer:
    """Open batches by partition; a batch is closed when it is full, or when it has lingered."""

    partitions: int
    linger: int
    seed: int
    done: dict[int, list[KeylessBatch]] = field(default_factory=dict)
    open: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)
        self.at, self.taken = int(self.chance.integers(self.partitions)), 0

    def close(self, partition: int) -> None:
        times = self.open.pop(partition)
        batch = KeylessBatch(first_time=times[0], last_time=times[-1], records=len(times), size=RECORD * len(times))
        self.done.setdefault(partition, []).append(batch)

    def takes(self, partition: int) -> bool:
        """Whether a record goes into a batch that is open."""
        return partition in self.open and RECORD * len(self.open[partition]) < BATCH

    def write(self, times: Sequence[int], choose: Callable[[Producer, int], int]) -> dict[int, KeylessTally]:
        for time in times:
            for partition in [p for p, held in self.open.items() if time - held[0] > self.linger]:
                self.close(partition)
            partition = choose(self, time)
            if partition in self.open and not self.takes(partition):
                self.close(partition)
            self.open.setdefault(partition, []).append(time)
        for partition in list(self.open):
            self.close(partition)
        return {partition: tally(batches, self.partitions) for partition, batches in self.done.items()}


def tally(batches: Sequence[KeylessBatch], partitions: int) -> KeylessTally:
    return KeylessTally(
        producer=7,
        counts=(partitions,),
        records=sum(batch.records for batch in batches),
        largest=max(batch.records for batch in batches),
        batches=tuple(batches),
    )


def round_robin(producer: Producer, _time: int) -> int:
    """To 2.3: each record to the next partition."""
    producer.at = (producer.at + 1) % producer.partitions
    return producer.at


def sticky(producer: Producer, _time: int) -> int:
    """From 2.4 on: when a batch must be made, another partition by chance."""
    if not producer.takes(producer.at):
        others = [place for place in range(producer.partitions) if place != producer.at]
        producer.at = int(producer.chance.choice(others))
    return producer.at


def uniform_sticky(producer: Producer, _time: int) -> int:
    """From 3.3 on: when as many bytes were written as a batch may have, any partition by chance."""
    if producer.taken >= BATCH:
        producer.at, producer.taken = int(producer.chance.integers(producer.partitions)), 0
    producer.taken += RECORD
    return producer.at
