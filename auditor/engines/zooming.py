"""Read a range of a log again: its batches, and the records of those batches that other replicas do not hold alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs
from msgspec.structs import replace

from auditor.engines.opened.opening import still_there, unread_file
from auditor.engines.witnesses.texts import is_text
from parsers.files import place_of, read_exactly
from parsers.provenance import Origin, Span
from parsers.records import base_offset_of_legacy_wrapper, decode_entry
from parsers.refusal import Parsed
from parsers.segment import HeldSegment, SegmentChunk
from parsers.tables import RecordRow
from rules.evidence import PartitionEvidence, Replica, SegmentFile
from rules.facts.read_again import UNTOLD, BatchMark, RecordMark, UnreadFile, Writing, Zoom
from rules.facts.stretch import UNOPENED
from rules.zoom.unequal_buckets import ReplicaKey, ZoomRequest, replica_key, to_decode, wanted

BATCHES_KEPT: Final = 200_000
BATCHES_DECODED: Final = 50_000
RECORDS_KEPT: Final = 400_000
"""Of one replica. Beyond these bounds batches are compared as bytes, and what bytes cannot tell is left undecided."""
_CODEC: Final = 0x07
_CONTROL: Final = 0x20
_DELETE_HORIZON: Final = 0x40
_MAGIC_2: Final = 2


class Zooming:
    """The ranges of one replica that its digests ask for, filled while its log goes by."""

    def __init__(self, replica: Replica, requests: Sequence[ZoomRequest], evidence: PartitionEvidence) -> None:
        self._marks: dict[ZoomRequest, list[BatchMark]] = {request: [] for request in requests}
        self._sources = {segment.source for request in requests for segment in _segments(replica, request)}
        # Of a compacted log most batches differ from another's: they are decoded while their bytes are at hand.
        self._room = RECORDS_KEPT if evidence.compacted and evidence.level != "quick" else 0
        self._topic, self._partition = evidence.topic, evidence.partition
        self.decoded: dict[Span, Parsed[RecordRow]] = {}
        """Batches that were decoded on the way."""

    def wants(self, segment: SegmentFile) -> bool:
        """Whether the segment may hold offsets of a range."""
        return segment.source in self._sources

    def go_by(self, chunk: SegmentChunk, source: str) -> None:
        """Batches of a segment, in physical order."""
        still_there(chunk)
        for request, marks in self._marks.items():
            for row in _inside(chunk.headers, request) if len(marks) <= BATCHES_KEPT else ():
                mark = _mark(row, source, chunk)
                marks.append(mark)
                if chunk.segment is not None and mark.crc_valid and self._room > 0 and mark.span not in self.decoded:
                    self._decode(mark, chunk.segment)

    def _decode(self, mark: BatchMark, segment: HeldSegment) -> None:
        parsed = decode_entry(segment.entry(mark.span.start, mark.span.end), self.origin(mark), mark.span.start)
        self._room -= len(parsed.rows)
        self.decoded[mark.span] = parsed

    def origin(self, mark: BatchMark) -> Origin:
        """The file of a batch, with its partition."""
        return Origin(source=mark.span.source, topic=self._topic, partition=self._partition)

    def zooms(self) -> tuple[Zoom, ...]:
        """What was seen of every range."""
        return tuple(
            Zoom(
                start_offset=request.start_offset,
                end_offset=request.end_offset,
                batches=tuple(marks[:BATCHES_KEPT]),
                complete=len(marks) <= BATCHES_KEPT,
            )
            for request, marks in self._marks.items()
        )


def zooming(evidence: PartitionEvidence) -> dict[ReplicaKey, Zooming]:
    """Of every replica what must be read of it again, as its digests ask for."""
    requests: dict[ReplicaKey, list[ZoomRequest]] = {}
    for request in wanted(evidence):
        requests.setdefault((request.broker, request.log_dir, request.path), []).append(request)
    return {
        key: Zooming(replica, requests[key], evidence)
        for replica in evidence.replicas
        if (key := replica_key(replica)) in requests
    }


def with_records(
    evidence: PartitionEvidence, zooms: Mapping[ReplicaKey, Zooming], dump: str
) -> PartitionEvidence:
    """The evidence with the records of those batches that another replica does not hold alike."""
    if evidence.level == "quick":
        return evidence
    chosen = to_decode(evidence)
    replicas = (
        _with_records(r, chosen.get(key, ()), zooms[key], dump) if (key := replica_key(r)) in zooms else r
        for r in evidence.replicas
    )
    return replace(evidence, replicas=tuple(replicas))


def _segments(replica: Replica, request: ZoomRequest) -> Iterator[SegmentFile]:
    """Segments whose names admit offsets of the request; where offsets overlap, names bound nothing from above."""
    unopened = {unread.span.source for unread in replica.log.unread if unread.kind in UNOPENED}
    segments = [segment for segment in replica.segments if segment.source not in unopened]
    for segment, following in zip_longest(segments, segments[1:]):
        reaches = following is None or following.base_offset > request.start_offset or replica.log.overlap_count > 0
        if segment.base_offset < request.end_offset and reaches:
            yield segment


def _inside(headers: pa.RecordBatch, request: ZoomRequest) -> list[dict[str, Any]]:
    base = pc.coalesce(headers["base_offset"], headers["last_offset"])
    inside = pc.and_(pc.greater_equal(headers["last_offset"], request.start_offset), pc.less(base, request.end_offset))
    rows: list[dict[str, Any]] = headers.filter(inside).to_pylist()
    return rows


def _mark(row: Mapping[str, Any], source: str, chunk: SegmentChunk) -> BatchMark:
    span = Span(source=source, start=row["span_start"], end=row["span_end"])
    base = row["base_offset"]
    if base is None and chunk.segment is not None:
        base = base_offset_of_legacy_wrapper(chunk.segment.entry(span.start, span.end))
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


def _with_records(replica: Replica, chosen: Sequence[BatchMark], zooming: Zooming, dump: str) -> Replica:
    sound = [batch for batch in chosen if batch.crc_valid is not False]
    # A text does not keep the bytes of records: its batches are compared by what it says of them.
    from_text = any(is_text(place_of(dump, segment.source)) for segment in replica.segments[:1])
    if not replica.zooms or from_text or len(sound) > BATCHES_DECODED:
        return replica
    records: list[RecordMark] = []
    refused: list[UnreadFile] = []
    for batch, parsed in _decoded(sound, zooming, dump):
        records.extend(_record(row, batch) for row in parsed.rows)
        if len(records) > RECORDS_KEPT:
            return replica
        refused.extend(unread_file(refusal) for refusal in parsed.refusals)
    return replace(replica, zooms=tuple(_filled(zoom, records, refused) for zoom in replica.zooms))


def _decoded(
    batches: Sequence[BatchMark], zooming: Zooming, dump: str
) -> Iterator[tuple[BatchMark, Parsed[RecordRow]]]:
    """Each of these batches with its records: of those that were not decoded on the way the bytes are read again."""
    for source, own in groupby(batches, key=lambda batch: batch.span.source):
        marks = list(own)
        spans = [(mark.span.start, mark.span.end) for mark in marks if mark.span not in zooming.decoded]
        contents = read_exactly(place_of(dump, source), spans)
        for mark in marks:
            parsed = zooming.decoded.get(mark.span)
            yield mark, parsed or decode_entry(next(contents), zooming.origin(mark), mark.span.start)


def _filled(zoom: Zoom, records: Sequence[RecordMark], refused: Sequence[UnreadFile]) -> Zoom:
    own = {(batch.span.source, batch.span.start) for batch in zoom.batches}
    return structs.replace(
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

