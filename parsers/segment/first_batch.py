"""Which batch a segment begins with, told without reading the segment."""

from __future__ import annotations

from pathlib import Path

from parsers.files import FileFault, read_head

_BYTES = 21
"""Base offset, length, leader epoch, format and checksum; of the older formats the checksum and part of the rest."""


def fingerprint(path: Path) -> bytes | None:
    """What tells a segment's first batch from any other; None where there is none. Replicas hold the same one."""
    head = read_head(path, _BYTES)
    return None if isinstance(head, FileFault) or len(head) < _BYTES or not any(head) else head
