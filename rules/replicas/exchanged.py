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
    file: str
    fingerprint: bytes

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
    """Folders whose first batch no other broker holds of their partition, and others hold of another partition.

    Only where the broker's own folder of that other partition does not begin with it too: two partitions may be
    written alike.
    """
    by_batch: dict[tuple[str, bytes], list[FirstBatch]] = {}
    by_place: dict[tuple[Partition, str], list[FirstBatch]] = {}
    for each in first:
        by_batch.setdefault((each.file, each.fingerprint), []).append(each)
        by_place.setdefault((each.of, each.file), []).append(each)
    found = (_exchanged(each, alike, by_place[each.of, each.file]) for alike in by_batch.values() for each in alike)
    return tuple(each for each in found if each is not None)


def _exchanged(own: FirstBatch, alike: list[FirstBatch], peers: list[FirstBatch]) -> Exchanged | None:
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
