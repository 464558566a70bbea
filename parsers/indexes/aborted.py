"""What markers in a segment decide, held against the transaction index: each abort has an entry, and no commit has one.

The type of a marker stands in its record. Every marker is built alike, so that the type has one place in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.indexes.against import ContradictedEntry, Slots, ascending, column
from parsers.tables import IndexFlaw

_MARKER: Final = 0x30
_BITS: Final = 0x37
"""Transactional and control are set, and no codec."""
_SIZE: Final = 78
_MAGIC_2: Final = 2
_RECORD_AT: Final = 61
_BEFORE_TYPE: Final = bytes.fromhex("20000000080000")
"""A record of 16 bytes at the batch's time and offset, whose key of 4 bytes begins with its version."""
_ABORT: Final = 0
_COMMIT: Final = 1
Read = Callable[[Sequence[tuple[int, int]]], Iterator[bytes]]
"""The bytes of spans of the segment."""


def decided_otherwise(slots: Slots, headers: pa.RecordBatch, read: Read) -> Iterator[ContradictedEntry]:
    """Aborts among these batches of the segment that the index does not tell, and commits that it calls aborts."""
    rows = _markers(headers)
    if not len(rows) or not ascending(headers):
        return
    starts = column(headers, "span_start")[rows] + _RECORD_AT
    width = len(_BEFORE_TYPE) + 2
    keys = list(read([(start, start + width) for start in starts.tolist()]))
    types = np.array([_type(key) for key in keys], dtype=np.int64)
    offsets, producers = column(headers, "base_offset")[rows], column(headers, "producer_id")[rows]
    indexed = _indexed(slots, offsets, producers)
    for row in np.flatnonzero((types == _ABORT) & ~indexed).tolist():
        offset, producer = int(offsets[row]), int(producers[row])
        found = f"no entry tells of producer {producer}'s abort at offset {offset}"
        yield _contradiction(slots, "no entry", offset, found)
    for row in np.flatnonzero((types == _COMMIT) & indexed).tolist():
        offset, producer = int(offsets[row]), int(producers[row])
        entry = f"the entry for offset {offset} says that producer {producer}'s transaction was aborted there"
        found = f"{entry}; the log's marker commits it"
        yield _contradiction(slots, "no marker", offset, found)


def _markers(headers: pa.RecordBatch) -> npt.NDArray[np.intp]:
    """Rows of markers as every broker builds them, whose checksums hold."""
    marked = np.flatnonzero((column(headers, "attributes") & _BITS) == _MARKER)
    if not len(marked):
        return marked
    sound = column(headers, "crc_valid") == 1
    plain = (column(headers, "size") == _SIZE) & (column(headers, "magic") == _MAGIC_2)
    found: npt.NDArray[np.intp] = marked[(plain & sound)[marked]]
    return found


def _type(key: bytes) -> int:
    """What a marker does; -1 for a record that is built otherwise."""
    return int.from_bytes(key[-2:], "big") if key.startswith(_BEFORE_TYPE) else -1


def _indexed(
    slots: Slots, offsets: npt.NDArray[np.int64], producers: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which markers an entry names, by offset and producer."""
    entries = set(zip(slots.offsets.tolist(), slots.values.tolist(), strict=True))
    pairs = zip(offsets.tolist(), producers.tolist(), strict=True)
    return np.array([pair in entries for pair in pairs], dtype=np.bool_)


def _contradiction(slots: Slots, flaw: IndexFlaw, offset: int, found: str) -> ContradictedEntry:
    """At the entry of this offset, or at the first one behind it; at the last one where none is."""
    behind = np.flatnonzero(slots.offsets >= offset)
    last = not len(behind)
    place = 0 if not len(slots.places) else int(slots.places[-1 if last else behind[0]])
    return ContradictedEntry(flaw=flaw, place=place, offset=offset, found=found, at_the_end=last)
