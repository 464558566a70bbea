"""Read the keys of compacted replicas that differ: what each still serves of every key is compared among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl
import pyarrow.compute as pc

from auditor.engines.plan.pieces import file_of
from parsers.provenance import Origin, Span
from parsers.records import BATCH_LIMIT, decode_entry, keyed_batch
from parsers.segment import SegmentChunk, scan
from parsers.tables import RecordRow
from rules.evidence import Replica, SegmentFile
from rules.narrow.last_of_keys import KeyLedger, KeyRow, LastRecords

LEFTOVER_BYTES: Final = 1 << 30
"""Of segments of one replica that wait for their removal: a broker removes them within a minute."""
_COMMIT: Final = 1
_CONTROL: Final = 0x20
_TRANSACTIONAL: Final = 0x10
_COLUMNS: Final = ("base_offset", "last_offset", "attributes", "producer_id")


class KeysRead:
    """The last records of the keys of one replica, in the making while its log goes by."""

    def __init__(self, replica: Replica) -> None:
        self._end = replica.log_end_offset
        self._ledger = KeyLedger(replica.log_start_offset)
        if replica.log.checksum_fault_count or replica.log.unread_count or replica.log.overlap_count or replica.strays:
            self._ledger.unread()

    def wants(self, segment: SegmentFile) -> bool:  # noqa: ARG002 - as whoever asks for parts of a log is asked
        """Every segment holds keys."""
        return True

    def go_by(self, chunk: SegmentChunk, source: str) -> None:
        """Batches of a segment, in physical order."""
        _take(chunk, source, self._ledger)

    def last(self) -> LastRecords:
        """The last records, of the whole log."""
        return self._ledger.close(self._end)


def deletes_of(replica: Replica, dump: str) -> pl.DataFrame:
    """Deletes in segments that wait for their removal: the cleaner replaced them, and took the deletes out."""
    ledger = KeyLedger(0)
    room = LEFTOVER_BYTES
    for leftover in replica.leftovers:
        room -= leftover.size
        if room >= 0:
            path, origin = file_of(dump, leftover.source), Origin(source=leftover.source)
            for chunk in scan(path, origin, listed=leftover.size, entries=True):
                _take(chunk, leftover.source, ledger)
    found = ledger.close(0).frame
    return found.filter("deletes").select("key", "offset")


def _take(chunk: SegmentChunk, source: str, ledger: KeyLedger) -> None:
    if chunk.refusals or pc.all(chunk.headers["crc_valid"]).as_py() is False:
        ledger.unread()
    for row, entry in chunk.entries(_COLUMNS):
        _enter(row, entry, Origin(source=source), ledger)


def _enter(row: dict[str, Any], entry: memoryview, origin: Origin, ledger: KeyLedger) -> None:
    span = Span(source=origin.source, start=row["span_start"], end=row["span_end"])
    attributes = row["attributes"] or 0
    batch = keyed_batch(entry, BATCH_LIMIT)
    if batch is not None:
        offsets = [offset for offset, _, _ in batch.records]
        rows = [(hash(key), offset, deletes) for offset, key, deletes in batch.records if key is not None]
        ledger.batch(span, rows, producer=batch.producer_id if batch.transactional else None)
        ledger.keyless(offset for offset, key, _ in batch.records if key is None)
    else:
        parsed = decode_entry(entry, origin, span.start, payloads=True)
        if parsed.refusals:
            ledger.unread()
        offsets = [record.offset for record in parsed.rows]
        if attributes & _CONTROL:
            ledger.marker(row["producer_id"], commits=any(r.control_type == _COMMIT for r in parsed.rows))
        else:
            producer = row["producer_id"] if attributes & _TRANSACTIONAL else None
            ledger.batch(span, _rows(parsed.rows), producer=producer)
            ledger.keyless(record.offset for record in parsed.rows if record.key is None)
    base = offsets[0] if row["base_offset"] is None and offsets else row["base_offset"]
    if base is not None:
        ledger.held(base, row["last_offset"] + 1, offsets)


def _rows(records: Sequence[RecordRow]) -> Iterator[KeyRow]:
    return ((hash(r.key), r.offset, r.value_size < 0) for r in records if r.key is not None)
