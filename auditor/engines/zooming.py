"""Read a range of a log again: its batches, and the records of those batches that other replicas do not hold alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from auditor.engines.files import entry_at, file_of, headers_again, unread_file
from auditor.engines.told.texts import is_text, told_headers
from parsers.provenance import Origin, Span
from parsers.records import base_offset_of_legacy_wrapper, decode_entry
from parsers.segment import scan
from parsers.tables import RecordRow
from rules.evidence import Level, PartitionEvidence, Replica, SegmentFile
from rules.facts.stretch import UNOPENED
from rules.zoom.compare import ZoomRequest, to_decode, wanted
from rules.zoom.ranges import UNTOLD, BatchMark, RecordMark, UnreadFile, Writing, Zoom

BATCHES_KEPT: Final = 200_000
BATCHES_DECODED: Final = 50_000
RECORDS_KEPT: Final = 400_000
"""Of one replica. Beyond these bounds batches are compared as bytes, and what bytes cannot tell is left undecided."""
_CODEC: Final = 0x07
_CONTROL: Final = 0x20
_DELETE_HORIZON: Final = 0x40
_MAGIC_2: Final = 2


def zoom_in(evidence: PartitionEvidence, dump: str) -> PartitionEvidence:
    """The evidence with every range read again that its digests ask for."""
    requests: dict[tuple[int, str, str], list[ZoomRequest]] = {}
    for request in wanted(evidence):
        requests.setdefault((request.broker, request.log_dir, request.path), []).append(request)
    if not requests:
        return evidence
    zoomed = _each(evidence, lambda r: _with_batches(r, requests.get(_key(r), ()), evidence, dump))
    if evidence.level == "quick":
        return zoomed
    chosen = to_decode(zoomed)
    return _each(zoomed, lambda replica: _with_records(replica, chosen, zoomed, dump))


def _each(evidence: PartitionEvidence, change: Callable[[Replica], Replica]) -> PartitionEvidence:
    return replace(evidence, replicas=tuple(change(replica) for replica in evidence.replicas))


def _key(replica: Replica) -> tuple[int, str, str]:
    return replica.broker, replica.log_dir, replica.path


def _with_batches(
    replica: Replica, requests: Sequence[ZoomRequest], evidence: PartitionEvidence, dump: str
) -> Replica:
    zooms = tuple(_read_batches(replica, request, evidence, dump) for request in requests)
    return replace(replica, zooms=zooms)


def _read_batches(replica: Replica, request: ZoomRequest, evidence: PartitionEvidence, dump: str) -> Zoom:
    marks: list[BatchMark] = []
    for segment in _segments(replica, request):
        marks.extend(_marks(segment, request, evidence, dump))
        if len(marks) > BATCHES_KEPT:
            break
    return Zoom(
        start_offset=request.start_offset,
        end_offset=request.end_offset,
        batches=tuple(marks[:BATCHES_KEPT]),
        complete=len(marks) <= BATCHES_KEPT,
    )


def _segments(replica: Replica, request: ZoomRequest) -> Iterator[SegmentFile]:
    """Segments whose names admit offsets of the request; where offsets overlap, names bound nothing from above."""
    unopened = {unread.span.source for unread in replica.log.unread if unread.kind in UNOPENED}
    segments = [segment for segment in replica.segments if segment.source not in unopened]
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        reaches = following is None or following.base_offset > request.start_offset or replica.log.overlap_count > 0
        if segment.base_offset < request.end_offset and reaches:
            yield segment


def _marks(
    segment: SegmentFile, request: ZoomRequest, evidence: PartitionEvidence, dump: str
) -> Iterator[BatchMark]:
    path, origin = file_of(dump, segment.source), Origin(source=segment.source)
    if is_text(path):
        told = told_headers(path, origin, evidence.topic, evidence.partition, segment.base_offset)
        rows = [row for headers in told for row in _inside(headers, request)]
    else:
        rows = _rows(path, origin, request, evidence.level, segment.size)
    for row in rows:
        yield _mark(row, segment.source, dump)


def _rows(path: Path, origin: Origin, request: ZoomRequest, level: Level, size: int) -> list[dict[str, Any]]:
    """Batches that hold offsets of the request; headers are walked first, so that only theirs are checksums to make."""
    every = headers_again(scan(path, origin, listed=size, verify=False))
    places = [row for headers in every for row in _inside(headers, request)]
    if places and level != "quick":
        start, end = places[0]["span_start"], places[-1]["span_start"] + 1
        again = headers_again(scan(path, origin, start=start, end=end, listed=size))
        places = [row for headers in again for row in _inside(headers, request)]
    return places


def _inside(headers: pa.RecordBatch, request: ZoomRequest) -> list[dict[str, Any]]:
    base = pc.coalesce(headers["base_offset"], headers["last_offset"])
    inside = pc.and_(pc.greater_equal(headers["last_offset"], request.start_offset), pc.less(base, request.end_offset))
    rows: list[dict[str, Any]] = headers.filter(inside).to_pylist()
    return rows


def _mark(row: Mapping[str, Any], source: str, dump: str) -> BatchMark:
    span = Span(source=source, start=row["span_start"], end=row["span_end"])
    base = row["base_offset"]
    if base is None:
        base = base_offset_of_legacy_wrapper(entry_at(dump, span))
    return BatchMark(
        base_offset=row["last_offset"] if base is None else base,
        end_offset=row["last_offset"] + 1,
        leader_epoch=-1 if row["leader_epoch"] is None else row["leader_epoch"],
        magic=row["magic"],
        size=row["size"],
        crc=row["crc"],
        crc_valid=None if row["crc_valid"] is None else bool(row["crc_valid"]),
        control=bool((row["attributes"] or 0) & _CONTROL),
        span=span,
        written=_writing(row),
    )


def _writing(row: Mapping[str, Any]) -> Writing:
    """Legacy entries have no producer; cleaning may pack a batch otherwise, and marks those that wait to be dropped."""
    if row["producer_id"] is None:
        return UNTOLD
    kept = (row["attributes"] or 0) & ~(_CODEC | _DELETE_HORIZON)
    return row["producer_id"], row["producer_epoch"], row["base_sequence"], kept


def _with_records(
    replica: Replica,
    chosen: Mapping[tuple[int, str, str], Sequence[BatchMark]],
    evidence: PartitionEvidence,
    dump: str,
) -> Replica:
    batches = chosen.get(_key(replica), ())
    sound = [batch for batch in batches if batch.crc_valid is not False]
    # A text does not keep the bytes of records: its batches are compared by what it says of them.
    told = any(is_text(file_of(dump, segment.source)) for segment in replica.segments[:1])
    if not replica.zooms or told or len(sound) > BATCHES_DECODED:
        return replica
    records: list[RecordMark] = []
    refused: list[UnreadFile] = []
    for batch in sound:
        origin = Origin(source=batch.span.source, topic=evidence.topic, partition=evidence.partition)
        parsed = decode_entry(entry_at(dump, batch.span), origin, batch.span.start)
        records.extend(_record(row, batch) for row in parsed.rows)
        if len(records) > RECORDS_KEPT:
            return replica
        refused.extend(unread_file(refusal) for refusal in parsed.refusals)
    return replace(replica, zooms=tuple(_filled(zoom, records, refused) for zoom in replica.zooms))


def _filled(zoom: Zoom, records: Sequence[RecordMark], refused: Sequence[UnreadFile]) -> Zoom:
    own = {(batch.span.source, batch.span.start) for batch in zoom.batches}
    return replace(
        zoom,
        decoded=True,
        records=tuple(record for record in records if (record.span.source, record.span.start) in own),
        undecodable=tuple(refusal for refusal in refused if (refusal.span.source, refusal.span.start) in own),
    )


def _record(row: RecordRow, batch: BatchMark) -> RecordMark:
    return RecordMark(
        offset=row.offset,
        leader_epoch=row.leader_epoch,
        timestamp=row.timestamp,
        key_hash=row.key_hash,
        value_size=row.value_size,
        content_hash=row.content_hash,
        headers_hash=row.headers_hash,
        control_type=row.control_type,
        legacy=batch.magic < _MAGIC_2,
        span=batch.span,
        written=batch.written,
    )

