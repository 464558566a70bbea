"""What one printed line says, whichever release printed it."""

from __future__ import annotations

from typing import NamedTuple


class BatchLine(NamedTuple):
    """A line that speaks of a whole batch, or of a whole legacy entry."""

    base_offset: int | None
    last_offset: int
    record_count: int | None
    base_sequence: int | None
    producer_id: int
    producer_epoch: int | None
    leader_epoch: int | None
    transactional: bool
    control: bool | None
    horizon: int | None
    position: int
    timestamp_type: bytes
    timestamp: int | None
    size: int
    magic: int
    codec: int | None
    crc: int | None
    valid: bool | None


class RecordLine(NamedTuple):
    """A line that speaks of one record below its batch line (2.2 and later)."""

    offset: int
    tail: bytes


class PositionedLine(NamedTuple):
    """A line that speaks of one record and of its batch's position (0.10 to 2.1)."""

    offset: int
    position: int
    timestamp_type: bytes
    timestamp: int
    valid: bool
    key_size: int
    value_size: int
    magic: int
    codec: int | None
    producer_id: int
    producer_epoch: int | None
    sequence: int
    transactional: bool
    crc: int | None
    before_v2: bool
    tail: bytes
