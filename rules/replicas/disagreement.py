"""Where two replicas of a partition hold different records, and where that cannot be told."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from parsers.provenance import Span
from rules.facts.read_again import BatchMark
from rules.replicas.replica import Replica


class Difference(Struct, frozen=True, kw_only=True):
    """A maximal run of offsets at which two replicas hold different records."""

    left: Replica
    right: Replica
    start_offset: int
    end_offset: int
    same_epoch: bool
    """Whether both sides carry the same leader epoch, so that the epoch protocol cannot see it."""
    left_epochs: tuple[int, ...]
    right_epochs: tuple[int, ...]
    left_batches: tuple[BatchMark, ...]
    right_batches: tuple[BatchMark, ...]
    exact: bool = True
    """False when the middle of the run was told from digests alone."""

    @property
    def verified(self) -> bool:
        """Whether every batch that differs gives its checksum; at level quick nobody has tried."""
        return all(batch.crc_valid for batch in (*self.left_batches, *self.right_batches))

    @property
    def first_batches(self) -> tuple[tuple[int, Span], ...]:
        """Of each side that was read again: its broker, and where the first batch lies that differs."""
        sides = ((self.left, self.left_batches), (self.right, self.right_batches))
        return tuple((replica.broker, batches[0].span) for replica, batches in sides if batches)

    @property
    def high_watermarks(self) -> tuple[int, ...]:
        """The high watermarks that the two replicas claim, clipped to their log ends."""
        replicas = (self.left, self.right)
        return tuple(min(r.high_watermark.offset, r.log_end_offset) for r in replicas if r.high_watermark)


def differ(differences: Sequence[Difference], brokers: set[int], offsets: tuple[int, int]) -> bool:
    """Whether the logs of two brokers hold different records there to this day."""
    return any(
        {d.left.broker, d.right.broker} == brokers and d.start_offset < offsets[1] and offsets[0] < d.end_offset
        for d in differences
    )


class Uncompared(Struct, frozen=True, kw_only=True):
    """A range of offsets at which two replicas differ by digest, and which could not be read again to tell how."""

    left: Replica
    right: Replica
    start_offset: int
    end_offset: int
    reason: str
    missing: str
    blocking: bool
    """False where cleaning explains the digests: the records might differ all the same."""
