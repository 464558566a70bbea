"""Logs that lie packed: unpacked, masked, and packed again so that they end as they ended."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Final

from parsers.broker_log import GzipText
from parsers.files import FileFault, read_small

ENDING: Final = 8
"""Bytes behind the packed text that say that it is whole."""


def repacked(place: Path, limit: int, masked: Callable[[bytes], bytes]) -> bytes | FileFault:
    """The log with its text masked; one that was cut short is cut short again."""
    content = read_small(place, limit)
    if isinstance(content, FileFault):
        return content
    text, whole = _read(content, limit)
    packed = gzip.compress(masked(text), mtime=0)
    return packed if whole else packed[:-ENDING]


def unpacked(place: Path, limit: int) -> bytes | FileFault:
    """Its text as far as it can be read."""
    content = read_small(place, limit)
    return content if isinstance(content, FileFault) else _read(content, limit)[0]


def _read(content: bytes, limit: int) -> tuple[bytes, bool]:
    """The text, and whether it ends as it should."""
    text = GzipText(io.BytesIO(content), limit=limit)
    return b"".join(iter(lambda: text.read(1 << 20), b"")), text.trouble is None
