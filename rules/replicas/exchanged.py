"""Folders that hold another partition's log: they were exchanged or misnamed when they were copied or moved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Partition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstBatch:
    """The batch with which one broker's folder of a partition begins."""

    topic: str
    partition: int
    broker: int
    topic_id: str | None
    file: str
    fingerprint: bytes

    @property
    def key(self) -> tuple[str, str | None, bytes]:
        """What the folder of the same log bears on every broker: its topic's id moves with it."""
        return self.file, self.topic_id, self.fingerprint

    @property
    def of(self) -> Partition:
        """The partition whose name the folder bears."""
        return self.topic, self.partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """A broker's folder of one partition that begins with the batch of another."""

    topic: str
    partition: int
    broker: int
    holds: Partition
    holders: tuple[int, ...]
    """Other brokers whose folders of that partition begin with this batch."""
    sure: bool
    """Whether two others hold it there; with one, either broker's folders may be the exchanged ones."""


def exchanged(first: Iterable[FirstBatch]) -> tuple[Exchanged, ...]:
    """Folders that changed places on one broker: each begins with the batch that others hold of the next one.

    No other broker's folder of the partition begins with that batch. A folder that alone holds another partition's log
    is not told: a cleaner may have taken first batches elsewhere, logs may part, and partitions may be written alike.
    """
    by_batch: dict[tuple[str, str | None, bytes], list[FirstBatch]] = {}
    by_place: dict[tuple[Partition, str], list[FirstBatch]] = {}
    for each in first:
        by_batch.setdefault(each.key, []).append(each)
        by_place.setdefault((each.of, each.file), []).append(each)
    moved = (_moved(each, alike, by_place[each.of, each.file]) for alike in by_batch.values() for each in alike)
    found = {(each.topic, each.partition, each.broker): each for each in moved if each is not None}
    taken = {(*each.holds, each.broker) for each in found.values()}
    return tuple(each for place, each in found.items() if place in taken and (*each.holds, each.broker) in found)


def _moved(own: FirstBatch, alike: list[FirstBatch], peers: list[FirstBatch]) -> Exchanged | None:
    others = [peer for peer in peers if peer.broker != own.broker]
    if not others or any(peer.fingerprint == own.fingerprint for peer in others):
        return None
    elsewhere = {each.of for each in alike} - {own.of}
    if len(elsewhere) != 1:
        return None
    holders = sorted({each.broker for each in alike if each.of in elsewhere})
    if own.broker in holders:
        return None
    return Exchanged(
        topic=own.topic,
        partition=own.partition,
        broker=own.broker,
        holds=elsewhere.pop(),
        holders=tuple(holders),
        sure=len(holders) > 1,
    )
