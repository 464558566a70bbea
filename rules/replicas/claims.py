"""What checkpoints and snapshots of a replica state, and where they state it."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from parsers.provenance import Span


class OffsetClaim(Struct, frozen=True, kw_only=True):
    """An offset that a file states, and where it states it."""

    offset: int
    span: Span


class EpochClaim(Struct, frozen=True, kw_only=True):
    """One entry of a leader-epoch-checkpoint."""

    epoch: int
    start_offset: int
    span: Span


class ProducerClaim(Struct, frozen=True, kw_only=True):
    """What a producer snapshot says of the last batch of one producer."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    first_offset: int
    last_offset: int
    snapshot_offset: int
    """The log end when the snapshot was written."""
    span: Span


EpochFileState = Literal["missing", "empty", "entries", "malformed", "unreadable"]
UNREAD_EPOCHS: Final[frozenset[EpochFileState]] = frozenset({"malformed", "unreadable"})


class EpochFile(Struct, frozen=True, kw_only=True):
    """The leader-epoch-checkpoint of a replica. An empty file is not a file with no entries: Kafka writes both."""

    state: EpochFileState = "missing"
    entries: tuple[EpochClaim, ...] = ()
    span: Span | None = None


NO_EPOCH_FILE: Final = EpochFile()
