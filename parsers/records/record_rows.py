"""A record's row: contents as hashes, so that equal records can be told without their payload."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from parsers.provenance import Origin
from parsers.tables import RecordRow

Header = tuple[bytes, bytes | None]

_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_NULL: Final = _INT32.pack(-1)


class Entry(Struct, frozen=True, kw_only=True):
    """Where an on-disk entry lies and how its rows are wanted."""

    origin: Origin
    start: int
    end: int
    payloads: bool
    limit: int

    def maker(self, *, leader_epoch: int) -> partial[RecordRow]:
        """A row constructor that already knows what all rows of the entry share."""
        place = self.origin.columns
        return partial(RecordRow, **place, leader_epoch=leader_epoch, span_start=self.start, span_end=self.end)


def key_hash(key: bytes | None) -> str | None:
    """Hash of a key; null for a null key, which differs from an empty one."""
    return None if key is None else blake2b(key, digest_size=8).hexdigest()


def content_hash(key: bytes | None, value: bytes | None, timestamp: int) -> str:
    """Hash of key, value and timestamp, each preceded by its length, so that no two contents share their bytes."""
    return blake2b(_sized(key) + _sized(value) + _INT64.pack(timestamp), digest_size=8).hexdigest()


def headers_hash(headers: Sequence[Header]) -> str:
    """Hash of the headers in their order."""
    if not headers:
        return _NO_HEADERS
    return blake2b(b"".join(_sized(key) + _sized(value) for key, value in headers), digest_size=8).hexdigest()


_NO_HEADERS: Final = blake2b(b"", digest_size=8).hexdigest()


def _sized(field: bytes | None) -> bytes:
    return _NULL if field is None else _INT32.pack(len(field)) + field
