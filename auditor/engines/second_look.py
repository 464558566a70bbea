"""Read logs a second time where their facts ask for it: once, for whatever is asked of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import polars as pl
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from auditor.engines.key_places import PlacedKeys, copy_to_place
from auditor.engines.witnesses.texts import is_text, told_headers
from auditor.engines.zooming import Zooming, with_records, zooming
from parsers.files import place_of
from parsers.provenance import Origin, Span
from parsers.records import BATCH_LIMIT, decode_entry, keyed_batch
from parsers.segment import SegmentChunk, scan_source
from parsers.tables import RecordRow
from rules.evidence import PartitionEvidence, Replica, SegmentFile
from rules.narrow.last_of_keys import KeyLedger, KeyRow, LastRecords
from rules.narrow.surviving_keys import KeyedReplica, keyed, replicas_to_key
from rules.zoom.unequal_buckets import replica_key

LEFTOVER_BYTES: Final = 1 << 30
"""Of segments of one replica that wait for their removal: a broker removes them within a minute."""
_COMMIT: Final = 1
_CONTROL: Final = 0x20
_TRANSACTIONAL: Final = 0x10
_COLUMNS: Final = ("base_offset", "last_offset", "attributes", "producer_id")


class Taker(Protocol):
    """Whoever asks something of a log: its batches go by in physical order, with their bytes at hand."""

    def wants(self, segment: SegmentFile) -> bool:
        """Whether the segment may hold what is asked for."""
        ...

    def go_by(self, chunk: SegmentChunk, source: str) -> None:
        """Take of these batches what is asked for."""
        ...


class _Look(Struct, frozen=True, kw_only=True):
    """What is asked of one replica."""

    replica: Replica
    zoom: Zooming | None
    keys: KeysRead | None
    placed: PlacedKeys | None

    @property
    def takers(self) -> Sequence[Taker]:
        """All who ask."""
        return [taker for taker in (self.zoom, self.keys, self.placed) if taker is not None]


def look_again(evidence: PartitionEvidence, dump: str) -> PartitionEvidence:
    """The evidence with all that its digests, keys and partitioners ask for; as it is where they ask for nothing."""
    zooms, asked, copy = zooming(evidence), replicas_to_key(evidence), copy_to_place(evidence, dump)
    if not zooms and not asked and copy is None:
        return evidence
    texts = [r.broker for r in asked if any(is_text(place_of(dump, s.source)) for s in r.segments[:1])]
    looks = [
        _Look(
            replica=replica,
            zoom=zooms.get(replica_key(replica)),
            keys=KeysRead(replica) if not texts and any(replica is one for one in asked) else None,
            placed=PlacedKeys(evidence) if replica is copy else None,
        )
        for replica in evidence.replicas
    ]
    for look in looks:
        _walk(look, evidence, dump)
    return _with_answers(evidence, looks, texts if asked else None, dump)


def _with_answers(
    evidence: PartitionEvidence, looks: Sequence[_Look], texts: Sequence[int] | None, dump: str
) -> PartitionEvidence:
    """The evidence with what was seen; `texts` are brokers whose keys are asked for and cannot be had."""
    replicas = tuple(
        look.replica if look.zoom is None else replace(look.replica, zooms=look.zoom.zooms()) for look in looks
    )
    zooms = {replica_key(look.replica): look.zoom for look in looks if look.zoom is not None}
    read = with_records(replace(evidence, replicas=replicas), zooms, dump) if zooms else evidence
    if texts is not None:
        held = zip(read.replicas, looks, strict=True)
        last = [KeyedReplica(replica=r, last=look.keys.last()) for r, look in held if look.keys is not None]
        deleted = pl.concat([deletes_of(replica, dump) for replica in read.current])
        read = keyed(read, last, deleted, texts=texts)
    for look in looks:
        if look.placed is not None:
            read = replace(read, placing=replace(read.placing, keys=look.placed.keys_placed(look.replica.broker)))
    return read


def _walk(look: _Look, evidence: PartitionEvidence, dump: str) -> None:
    entries = look.keys is not None or look.placed is not None
    for segment in look.replica.segments:
        takers = [taker for taker in look.takers if taker.wants(segment)]
        for chunk in _chunks(segment, evidence, dump, entries=entries) if takers else ():
            for taker in takers:
                taker.go_by(chunk, segment.source)


def _chunks(segment: SegmentFile, evidence: PartitionEvidence, dump: str, *, entries: bool) -> Iterator[SegmentChunk]:
    path, origin = place_of(dump, segment.source), Origin(source=segment.source)
    if is_text(path):
        stretches = told_headers(path, origin, evidence.topic, evidence.partition, segment.base_offset)
        yield from (SegmentChunk(headers=headers, refusals=()) for headers in stretches)
    else:
        yield from scan_source(dump, origin, listed=segment.size, verify=evidence.level != "quick", entries=entries)


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
            for chunk in scan_source(dump, Origin(source=leftover.source), listed=leftover.size, entries=True):
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
