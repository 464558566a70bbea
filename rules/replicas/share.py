"""What a partition tells of its topic: who leads it, on which racks its replicas are, and where its keys lie."""

from __future__ import annotations

from msgspec import Struct

from parsers.provenance import Span
from rules.replicas.partition_counts import PartitionCount
from rules.replicas.placing import KeysPlaced
from rules.thresholds import DEFAULTS, Thresholds


class Rack(Struct, frozen=True, kw_only=True):
    """The rack of a broker."""

    broker: int
    rack: str


class PartitionShare(Struct, frozen=True, kw_only=True):
    """The share of one partition in what its topic is judged by."""

    partition: int
    level: str
    thresholds: Thresholds = DEFAULTS
    topic_id: str | None = None
    replicas: tuple[int, ...] = ()
    """As they are assigned last, the preferred leader first; none where nothing tells."""
    leader: int | None = None
    isr: tuple[int, ...] = ()
    told_at: Span | None = None
    racks: tuple[Rack, ...] = ()
    """Of all brokers of the cluster whose racks are told."""
    partitions: int = 0
    """How many there are at least."""
    steps: tuple[PartitionCount, ...] = ()
    """How that number grew, by the controller's record."""
    keys: KeysPlaced | None = None
