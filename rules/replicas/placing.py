"""Where keys and groups belong, and what of them lies in a partition."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from rules.replicas.commits_of_groups import GroupAssignment, GroupHome
from rules.replicas.keyless import KeylessTally
from rules.replicas.partition_counts import NOTHING_COUNTED, PartitionCounts


class Agreement(Struct, frozen=True, kw_only=True):
    """How many keys of a tally lie where one partitioner places them, and the first that does not."""

    partitioner: str
    agreeing: int
    first_apart: int | None = None
    """Offset of the first key that another partition should hold."""
    span: Span | None = None


class KeyTally(Struct, frozen=True, kw_only=True):
    """The keys that one producer wrote into the partition while it had these numbers of partitions."""

    producer: int
    """-1 for all producers without an id."""
    counts: tuple[int, ...]
    """Numbers of partitions that the producer may have known of: two around the moment when some were added."""
    keys: int
    different: int
    """Different keys among them, counted up to a limit."""
    lowest: tuple[int, ...]
    """The lowest hashes of them (murmur2), ascending: by those one sees whether two producers wrote the same keys."""
    first_time: int | None
    last_time: int | None
    """The earliest and the latest time of their batches."""
    agreements: tuple[Agreement, ...]


class KeysPlaced(Struct, frozen=True, kw_only=True):
    """The keys of a partition's log, and what has none."""

    broker: int
    """Whose copy was read."""
    tallies: tuple[KeyTally, ...] = ()
    keyless: tuple[KeylessTally, ...] = ()
    """What batches without any key tell of the order in which they were written."""
    unread: int = 0
    """Batches whose keys could not be decoded."""


class Placing(Struct, frozen=True, kw_only=True):
    """What is known of a partition's place among others."""

    homes: tuple[GroupHome, ...] = ()
    """Of a partition of `__consumer_offsets`: the groups that have records in it."""
    assignments: tuple[GroupAssignment, ...] = ()
    """What the members of those groups have."""
    keys: KeysPlaced | None = None
    counts: PartitionCounts = NOTHING_COUNTED
    """How many partitions the topics of the cluster have."""


NOT_PLACED: Final = Placing()
