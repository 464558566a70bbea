"""Producer snapshots: what a broker knew of each producer up to an offset."""

from __future__ import annotations

import struct
from typing import Final

import google_crc32c

from parsers.checkpoints.decimals import ENTRY_LIMIT
from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import ProducerState, Refusal

HEADER: Final = struct.Struct(">hIi")
ENTRY: Final = struct.Struct(">qhiqiqiq")
VERSION: Final = 1
CHECKED_FROM: Final = 6
"""The checksum covers everything behind itself."""


def read_producer_snapshot(data: bytes, origin: Origin, snapshot_offset: int) -> Parsed[ProducerState]:
    """The entries of a producer snapshot, in file order; none of a file that its size or checksum contradicts.

    A file of no bytes, or of zeroes alone, has none: snapshots may be written without fsync, and a power loss leaves
    them so.
    """
    if data.count(0) == len(data):
        return Parsed()
    refusal = _refuse_broken(data, origin)
    if refusal:
        return Parsed(refusals=(refusal,))
    end = HEADER.size + ENTRY.size * ENTRY_LIMIT
    rows = tuple(
        _row(fields, HEADER.size + ENTRY.size * place, origin, snapshot_offset)
        for place, fields in enumerate(ENTRY.iter_unpack(memoryview(data)[HEADER.size : end]))
    )
    if end < len(data):
        expected = f"at most {ENTRY_LIMIT} producers"
        rest = refuse(origin, "too_large", end, len(data), expected=expected, found="more producers, left unread")
        return Parsed(rows=rows, refusals=(rest,))
    return Parsed(rows=rows)


def _refuse_broken(data: bytes, origin: Origin) -> Refusal | None:
    size = len(data)
    if size < HEADER.size:
        expected = f"a header of {HEADER.size} bytes"
        return refuse(origin, "damage", 0, size, expected=expected, found=f"{size} bytes")
    version, stored, count = HEADER.unpack_from(data)
    if version != VERSION:
        return refuse(origin, "unknown_version", 0, size, expected="version 1", found=f"version {version}")
    if count < 0 or size != HEADER.size + ENTRY.size * count:
        expected = f"{count} entries of {ENTRY.size} bytes behind a header of {HEADER.size}"
        short = 0 <= size < HEADER.size + ENTRY.size * count
        return refuse(origin, "damage" if short else "malformed", 0, size, expected=expected, found=f"{size} bytes")
    computed = google_crc32c.value(data[CHECKED_FROM:])
    if computed != stored:
        return refuse(
            origin, "damage", 0, size, expected=f"checksum {stored:08x}, as stored", found=f"checksum {computed:08x}"
        )
    return None


def _row(
    fields: tuple[int, int, int, int, int, int, int, int], start: int, origin: Origin, snapshot_offset: int
) -> ProducerState:
    producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, first_offset = fields
    return ProducerState(
        **origin.columns,
        snapshot_offset=snapshot_offset,
        producer_id=producer_id,
        producer_epoch=epoch,
        last_sequence=last_sequence,
        last_offset=last_offset,
        offset_delta=offset_delta,
        timestamp=timestamp,
        coordinator_epoch=coordinator_epoch,
        current_txn_first_offset=first_offset,
        span_start=start,
        span_end=start + ENTRY.size,
    )
