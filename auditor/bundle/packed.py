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
    text = GzipText(io.BytesIO(content), limit=limit)
    told = b"".join(iter(lambda: text.read(1 << 20), b""))
    packed = gzip.compress(masked(told), mtime=0)
    return packed if text.trouble is None else packed[:-ENDING]
