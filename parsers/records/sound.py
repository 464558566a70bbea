"""Whether batches can be decoded at all, without a row of them: what level deep asks of every batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final

import cramjam

from parsers.records.batch import BYTES_PER_ROW, CONTROL, HEADER_SIZE, BatchFields, batch_fields, stored_bytes
from parsers.records.codecs import CODEC_MASK, ZSTD
from parsers.records.undecodable import Undecodable
from parsers.records.walk import walk
from parsers.records.zstd_frame import unzstd_each

if TYPE_CHECKING:
    from parsers.records.compiled_walk import Walk

WORTH_COMPILING: Final = 4096
"""Batches that are walked before machine code is loaded for the rest."""
_INT64_MAX: Final = (1 << 63) - 1


class Prover:
    """Proves batches sound; when there are many it goes on in machine code."""

    __slots__ = ("_limit", "_seen", "_walk")

    def __init__(self, limit: int, worth_compiling: int = WORTH_COMPILING) -> None:
        self._limit = limit
        self._seen = -worth_compiling
        self._walk: Walk = (_compiled() if _compiled.cache_info().currsize else None) or walk

    def proves(self, entries: Sequence[bytes | memoryview]) -> list[bool]:
        """Of each whether it is a magic 2 batch of sound records; of all else `decode_entry` has the last word."""
        if self._seen < 0 <= self._seen + len(entries):
            self._walk = _compiled() or walk
        self._seen += len(entries)
        views = [memoryview(entry).cast("B") for entry in entries]
        batches = [self._batch(view) for view in views]
        unpacked = self._unpacked([view for view, batch in zip(views, batches, strict=True) if _is_zstd(batch)])
        return [
            batch is not None and self._holds(view, batch, next(unpacked, None) if _is_zstd(batch) else None)
            for view, batch in zip(views, batches, strict=True)
        ]

    def _batch(self, view: memoryview) -> BatchFields | None:
        """The header of a batch of data whose fields allow what they say."""
        if len(view) < HEADER_SIZE or view[16] != 2:
            return None
        batch = batch_fields(view)
        possible = (
            not batch.attributes & CONTROL
            and batch.length == len(view) - 12
            and 0 <= batch.record_count <= self._limit // BYTES_PER_ROW
            and batch.base_offset + batch.last_offset_delta <= _INT64_MAX
        )
        return batch if possible else None

    def _unpacked(self, views: Sequence[memoryview]) -> Iterator[bytes]:
        """What these batches hold, a few at a time; from the first that is broken on they are looked at one by one."""
        with suppress(Undecodable, cramjam.DecompressionError):
            yield from unzstd_each([view[HEADER_SIZE:] for view in views], self._limit)

    def _holds(self, view: memoryview, batch: BatchFields, data: bytes | None) -> bool:
        try:
            records = stored_bytes(view, batch, self._limit)[0] if data is None else data
        except Undecodable:
            return False
        return self._walk(records, batch.record_count, batch.last_offset_delta)


def _is_zstd(batch: BatchFields | None) -> bool:
    return batch is not None and batch.attributes & CODEC_MASK == ZSTD and batch.record_count > 0


@cache
def _compiled() -> Walk | None:
    """The walk in machine code, which is loaded once a process: whoever comes later has it at once."""
    try:
        from parsers.records.compiled_walk import compile_walk
    except ImportError:
        return None
    return compile_walk()
