"""With which batch a segment begins, told without reading the segment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from parsers.files import FileFault, read_head
from parsers.segment.entry_header import CODEC_MASK, HEADER_BYTES, PREFIX, V2_HEADER

_FINGERPRINT: Final = 21
"""Base offset, length, leader epoch, format and checksum; of the older formats the checksum and part of the rest."""
_MAGIC: Final = 2
_LEGACY_ATTRIBUTES: Final = 17


class FirstBatch(Struct, frozen=True, kw_only=True):
    """What tells a segment's first batch from any other; replicas hold the same one."""

    base_offset: int
    fingerprint: bytes
    written: tuple[int, ...]
    """What a cleaner leaves of it as it was written."""
    whole: bool
    """Whether no cleaner has taken a record out of it."""


def first_batch(path: Path) -> FirstBatch | None:
    """The first batch of a segment; None where there is none, or it cannot be read."""
    head = read_head(path, HEADER_BYTES)
    if isinstance(head, FileFault) or len(head) < _FINGERPRINT or not any(head[:_FINGERPRINT]):
        return None
    base_offset, _, leader_epoch, magic = PREFIX.unpack_from(head)
    fingerprint = head[:_FINGERPRINT]
    if magic < _MAGIC:
        compressed = bool(head[_LEGACY_ATTRIBUTES] & CODEC_MASK)
        return FirstBatch(base_offset=base_offset, fingerprint=fingerprint, written=(), whole=not compressed)
    if len(head) < HEADER_BYTES:
        return None
    _, _, _, _, _, attributes, last, _, _, producer, epoch, sequence, count = V2_HEADER.unpack_from(head)
    written = (leader_epoch, magic, attributes & ~CODEC_MASK, last, producer, epoch, sequence)
    return FirstBatch(base_offset=base_offset, fingerprint=fingerprint, written=written, whole=count == last + 1)
