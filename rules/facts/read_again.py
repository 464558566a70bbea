"""A range of a log read again, batch by batch and record by record, because folded facts could not settle it."""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from parsers.provenance import Span
from parsers.tables import RefusalKind

Writing: TypeAlias = tuple[int, int, int, int]
"""How a batch was written, as far as cleaning keeps it: producer id, producer epoch, first sequence, attributes."""
UNTOLD: Final[Writing] = (-1, -1, -1, 0)


class UnreadFile(Struct, frozen=True, kw_only=True):
    """A refusal inside a replica's directory or about its lines in a log dir's files."""

    kind: RefusalKind
    expected: str
    found: str
    span: Span


class BatchMark(Struct, frozen=True, kw_only=True):
    """One batch of a zoomed range: what identifies it."""

    base_offset: int
    end_offset: int
    leader_epoch: int
    magic: int
    size: int
    crc: int
    crc_valid: bool | None
    control: bool
    span: Span
    written: Writing = UNTOLD


class RecordMark(Struct, frozen=True, kw_only=True):
    """One record of a zoomed range: what identifies its content."""

    offset: int
    leader_epoch: int
    timestamp: int
    key_hash: str | None
    value_size: int
    content_hash: str
    """Of key, value and timestamp together."""
    headers_hash: str
    control_type: int | None
    legacy: bool
    """Written in format 0 or 1, which has no headers."""
    span: Span
    written: Writing = UNTOLD
    """Of its batch."""


class Zoom(Struct, frozen=True, kw_only=True):
    """A range of one replica's log that was read again, batch by batch and where asked record by record."""

    start_offset: int
    end_offset: int
    batches: tuple[BatchMark, ...]
    records: tuple[RecordMark, ...] = ()
    decoded: bool = False
    undecodable: tuple[UnreadFile, ...] = ()
    complete: bool = True
    """False when the range held more than is kept: what is here is its beginning."""
