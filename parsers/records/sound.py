"""Whether batches can be decoded at all, without a row of them: what level deep asks of every batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from parsers.records.batch import BYTES_PER_ROW, CONTROL, batch_fields, stored_bytes
from parsers.records.undecodable import Undecodable
from parsers.records.walk import walk

if TYPE_CHECKING:
    from parsers.records.machine import Walk

WORTH_COMPILING: Final = 4096
"""Batches that are walked before machine code is loaded for the rest."""
_INT64_MAX: Final = (1 << 63) - 1


class Prover:
    """Proves batches sound, one after the other; when there are many it goes on in machine code."""

    __slots__ = ("_limit", "_seen", "_walk")

    def __init__(self, limit: int, worth_compiling: int = WORTH_COMPILING) -> None:
        self._limit = limit
        self._seen = -worth_compiling
        self._walk: Walk = walk

    def proves(self, entry: bytes | memoryview) -> bool:
        """Whether this is a magic 2 batch of sound records; of all else `decode_entry` has the last word."""
        self._seen += 1
        if self._seen == 0:
            self._walk = _compiled() or walk
        view = memoryview(entry).cast("B")
        if len(view) < 17 or view[16] != 2:
            return False
        try:
            batch = batch_fields(view)
            if batch.attributes & CONTROL or batch.length != len(view) - 12:
                return False
            if not 0 <= batch.record_count <= self._limit // BYTES_PER_ROW:
                return False
            if batch.base_offset + batch.last_offset_delta > _INT64_MAX:
                return False
            data, _ = stored_bytes(view, batch, self._limit)
        except Undecodable:
            return False
        return self._walk(data, batch.record_count, batch.last_offset_delta)


def _compiled() -> Walk | None:
    try:
        from parsers.records.machine import compile_walk
    except ImportError:
        return None
    return compile_walk()
