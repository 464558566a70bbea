"""What is read only where records are missed: the batches of the copies that still stand."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from parsers.provenance import Span


class CopiedBatch(Struct, frozen=True, kw_only=True):
    """One batch of a surviving copy, whose checksum holds."""

    base_offset: int
    end_offset: int
    records: int
    """Records of the producer; a batch of format 0 or 1 whose header counts none is counted by its offsets."""
    size: int
    first_timestamp: int | None
    last_timestamp: int | None
    producer_id: int
    producer_epoch: int
    base_sequence: int
    transactional: bool
    control: bool
    span: Span


class CopyRead(Struct, frozen=True, kw_only=True):
    """A stretch of lost records, read again from one copy."""

    path: str
    lost_epoch: int
    """The epoch that wrote what is missed; the copy's own batches bear none in formats 0 and 1."""
    start_offset: int
    end_offset: int
    batches: tuple[CopiedBatch, ...]
    key_hashes: tuple[str, ...] | None = None
    """Hashes of the different keys, ascending; null where records were not decoded."""
    null_keys: int = 0
    complete: bool = True
    """False when the stretch held more than is kept, or a batch that cannot be believed."""


Aftermath = tuple[CopyRead, ...]
NOTHING_READ: Final[Aftermath] = ()
