"""Read the keys of compacted replicas that differ: what each still serves of every key is compared among them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa

from auditor.engines.files import file_of
from auditor.engines.told.texts import is_text
from parsers.provenance import Origin, Span
from parsers.records import BATCH_LIMIT, decode_entry, keyed_batch
from parsers.segment import scan
from parsers.tables import RecordRow
from rules.evidence import PartitionEvidence, Replica
from rules.narrow.keys import KeyLedger, KeyRow, LastRecords
from rules.narrow.surviving_keys import KeyedReplica, keyed, replicas_to_key

LEFTOVER_BYTES: Final = 1 << 30
"""Of segments of one replica that wait for their removal: a broker removes them within a minute."""
BLOCK: Final = 8 << 20
_COMMIT: Final = 1
_CONTROL: Final = 0x20
_TRANSACTIONAL: Final = 0x10
_COLUMNS: Final = (
    "span_start", "span_end", "base_offset", "last_offset", "attributes", "producer_id", "max_timestamp",
)  # fmt: skip


def read_keys(evidence: PartitionEvidence, dump: str) -> PartitionEvidence:
    """The evidence with what differs among the keys of its replicas; as it is where no cleaner made them differ."""
    asked = replicas_to_key(evidence)
    if not asked:
        return evidence
    texts = [r.broker for r in asked if any(is_text(file_of(dump, s.source)) for s in r.segments[:1])]
    read = [KeyedReplica(replica=r, last=_last_records(r, dump)) for r in asked] if not texts else []
    deleted = pl.concat([_deletes(replica, dump) for replica in evidence.current])
    return keyed(evidence, read, deleted, texts=texts)


def _last_records(replica: Replica, dump: str) -> LastRecords:
    ledger = KeyLedger(replica.log_start_offset)
    if replica.log.checksum_fault_count or replica.log.unread_count or replica.log.overlap_count or replica.strays:
        ledger.unread()
    for segment in replica.segments:
        _walk(segment.source, segment.size, ledger, dump)
    return ledger.close(replica.log_end_offset)


def _deletes(replica: Replica, dump: str) -> pl.DataFrame:
    """Deletes in segments that wait for their removal: the cleaner replaced them, and took the deletes out."""
    ledger = KeyLedger(0)
    room = LEFTOVER_BYTES
    for leftover in replica.leftovers:
        room -= leftover.size
        if room >= 0:
            _walk(leftover.source, leftover.size, ledger, dump)
    found = ledger.close(0).frame
    return found.filter("deletes").select("key", "offset")


def _walk(source: str, size: int, ledger: KeyLedger, dump: str) -> None:
    path, origin = file_of(dump, source), Origin(source=source)
    for chunk in scan(path, origin, listed=size, verify=False):
        if chunk.refusals:
            ledger.unread()
        if chunk.headers.num_rows:
            for row, entry in entries_in_blocks(path, chunk.headers):
                _enter(row, entry, origin, ledger)


def entries_in_blocks(path: Path, headers: pa.RecordBatch) -> Iterator[tuple[dict[str, Any], memoryview]]:
    """Every batch with its bytes, read in blocks in the order in which they lie."""
    rows = headers.select(list(_COLUMNS)).to_pylist()
    block, begins = memoryview(b""), 0
    with path.open("rb", buffering=0) as file:
        for row in rows:
            start, end = row["span_start"], row["span_end"]
            if not begins <= start < end <= begins + len(block):
                block, begins = memoryview(os.pread(file.fileno(), max(BLOCK, end - start), start)), start
            yield row, block[start - begins : end - begins]


def _enter(row: dict[str, Any], entry: memoryview, origin: Origin, ledger: KeyLedger) -> None:
    span = Span(source=origin.source, start=row["span_start"], end=row["span_end"])
    attributes = row["attributes"] or 0
    batch = keyed_batch(entry, BATCH_LIMIT)
    if batch is not None:
        offsets = [offset for offset, _, _ in batch.records]
        rows = [(hash(key), offset, deletes) for offset, key, deletes in batch.records if key is not None]
        ledger.batch(span, rows, producer=batch.producer_id if batch.transactional else None)
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
    base = offsets[0] if row["base_offset"] is None and offsets else row["base_offset"]
    if base is not None:
        ledger.held(base, row["last_offset"] + 1, offsets)


def _rows(records: Sequence[RecordRow]) -> Iterator[KeyRow]:
    return ((hash(r.key), r.offset, r.value_size < 0) for r in records if r.key is not None)
