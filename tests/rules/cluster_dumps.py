"""Dumps of a whole cluster written byte by byte: topics by a metadata log, groups by the topic that keeps them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parsers.writers.metadata_log import partition_value, topic_value
from parsers.writers.segments import Record, batch_bytes
from tests.rules.broken_dumps import Batch, Yard

CONTROLLER = 100
METADATA = "__cluster_metadata"
OFFSETS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"
HOUR = 3_600_000


def topic_id(number: int) -> str:
    """The id of the topic of a number, as Kafka prints it."""
    return f"{'A' * 20}{chr(ord('A') + number)}A"


def entry(base: int, records: Sequence[tuple[bytes | None, bytes | None]], **header: int) -> Batch:
    """A batch of records, by key and value."""
    held = [Record(offset_delta=delta, key=key, value=value) for delta, (key, value) in enumerate(records)]
    content = batch_bytes(base_offset=base, records=held, **header)  # type: ignore[arg-type]
    return Batch(base, base + len(held), header.get("leader_epoch", 0), content)


@dataclass
class MetadataLog:
    """A metadata log in the making: what is told at one time is one batch."""

    batches: list[Batch] = field(default_factory=list)

    def tell(self, values: Sequence[bytes], *, at: int = 0) -> None:
        base = self.batches[-1].end if self.batches else 0
        self.batches.append(entry(base, [(None, value) for value in values], base_timestamp=at))

    def topic(self, name: str, number: int, partitions: Sequence[Sequence[int]], at: int = 0, first: int = 0) -> None:
        """A topic and its partitions, each by its replicas; partitions that are added later begin at `first`."""
        made = [] if first else [topic_value(name, topic_id(number))]
        self.tell([*made, *(assigned(number, first + n, own) for n, own in enumerate(partitions))], at=at)


def assigned(number: int, partition: int, replicas: Sequence[int]) -> bytes:
    return partition_value(
        topic_id(number), partition, replicas=replicas, isr=replicas, leader=replicas[0], leader_epoch=0
    )


def with_metadata(root: Path, log: MetadataLog) -> None:
    """The log, kept by a controller of its own."""
    Yard(root, topic=METADATA).broker(CONTROLLER, log.batches, topic_id=None)


def state_key(transactional_id: str) -> bytes:
    return struct.pack(">h", 0) + _text(transactional_id)


def state_value(
    producer: int,
    status: int,
    *,
    epoch: int = 0,
    timeout: int = 60_000,
    partitions: Sequence[int] = (),
    topic: str = "t",
    at: int = 0,
    started: int = -1,
) -> bytes:
    """A state of a transactional id in version 0, at a time in milliseconds; `partitions` are of one topic."""
    head = struct.pack(">hqhib", 0, producer, epoch, timeout, status)
    numbers = struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    topics = struct.pack(">i", 1) + _text(topic) + numbers if partitions else struct.pack(">i", -1)
    return head + topics + struct.pack(">qq", at, started)


def commit_key(group: str, topic: str = "t", partition: int = 0) -> bytes:
    return struct.pack(">h", 1) + _text(group) + _text(topic) + struct.pack(">i", partition)


def commit_value(offset: int) -> bytes:
    return struct.pack(">hqi", 3, offset, -1) + _text("") + struct.pack(">q", 0)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()
