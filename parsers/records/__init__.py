"""Record level on demand: one on-disk entry, whole, to the records that it holds."""

from __future__ import annotations

import struct
from typing import Final

from parsers.provenance import Origin
from parsers.records.batch import BatchFields, batch_fields, batch_rows
from parsers.records.keyed import keyed_batch
from parsers.records.legacy import legacy_rows, message_set
from parsers.records.record_rows import Entry, content_hash, headers_hash, key_hash
from parsers.records.sound import Prover
from parsers.records.undecodable import Undecodable
from parsers.refusal import Parsed, refuse
from parsers.tables import RecordRow

BATCH_LIMIT: Final = 128 * 1024 * 1024
"""Bytes that one entry may decompress to, whatever its ratio; rows are charged against it too."""

_LENGTH: Final = struct.Struct(">i")
_SMALLEST: Final = 26


def decode_entry(
    entry: bytes | memoryview, origin: Origin, position: int, *, payloads: bool = False, limit: int = BATCH_LIMIT
) -> Parsed[RecordRow]:
    """The records of one entry that begins at byte `position` of its file.

    A magic 2 batch is read whole or refused whole. A legacy set whose last message is cut short gives the messages
    before the cut, as it does in Kafka, and a refusal of the rest. Checksums are the segment reader's business.
    """
    view = memoryview(entry).cast("B")
    place = Entry(origin=origin, start=position, end=position + len(view), payloads=payloads, limit=limit)
    try:
        if _magic_of(view) == 2:
            return Parsed(rows=tuple(batch_rows(view, place)))
        rows, left_over = legacy_rows(view, place)
    except Undecodable as stop:
        return _refused(place, stop)
    if left_over:
        cut = Undecodable("a whole inner message at the end of the compressed set", f"{left_over} bytes of one")
        return Parsed(rows=tuple(rows), refusals=_refused(place, cut).refusals)
    return Parsed(rows=tuple(rows))


def _refused(place: Entry, stop: Undecodable) -> Parsed[RecordRow]:
    refusal = refuse(place.origin, stop.kind, place.start, place.end, expected=stop.expected, found=stop.found)
    return Parsed(refusals=(refusal,))


def _magic_of(view: memoryview) -> int:
    """The entry's format, after its stated length proved to be its length."""
    if len(view) < _SMALLEST:
        raise Undecodable(f"an entry of at least {_SMALLEST} bytes", f"{len(view)} bytes")
    length = int(_LENGTH.unpack_from(view, 8)[0])
    if length != len(view) - 12:
        raise Undecodable(f"an entry of {len(view)} bytes with length {len(view) - 12} at byte 8", f"length {length}")
    magic = view[16]
    if magic > 2:
        raise Undecodable("magic 0, 1 or 2 at byte 16", f"magic {magic}", "unknown_version")
    return magic


def header_of(entry: bytes | memoryview) -> BatchFields | None:
    """The header fields of a magic 2 batch; None for legacy entries and for what is no whole entry."""
    view = memoryview(entry).cast("B")
    try:
        return batch_fields(view) if _magic_of(view) == 2 else None
    except Undecodable:
        return None


def base_offset_of_legacy_wrapper(entry: bytes | memoryview, *, limit: int = BATCH_LIMIT) -> int | None:
    """The first offset of a legacy entry, for which a wrapper must be decompressed.

    None for a magic 2 batch and for what cannot be decoded; `decode_entry` says why.
    """
    view = memoryview(entry).cast("B")
    try:
        return message_set(view, limit).messages[0].offset if _magic_of(view) < 2 else None
    except Undecodable:
        return None
