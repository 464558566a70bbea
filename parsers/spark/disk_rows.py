"""Rows of what lies on a broker's disk, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from parsers.checkpoints import (
    OFFSET_CHECKPOINTS,
    CleanShutdown,
    MetaProperties,
    PartitionMetadata,
    QuorumState,
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    read_producer_snapshot,
    read_quorum_state,
    read_server_properties,
)
from parsers.files import place_of, read_source
from parsers.indexes import INDEX_KINDS, ContradictedEntry, beyond, falls, held_against, read_index, slots_of
from parsers.provenance import FileKind, Origin
from parsers.records import decode_entry
from parsers.refusal import Parsed
from parsers.segment import SegmentChunk, scan_source, with_place
from parsers.spark.asked_table import TableRequest
from parsers.spark.row_batches import batches_of
from parsers.spark.slices import FilePart
from parsers.tables import BrokerSetting, EpochEntry, IndexEntry, OffsetCheckpoint, ProducerState, RecordRow, Refusal


def _chunks(request: TableRequest, part: FilePart, *, verify: bool) -> Iterator[SegmentChunk]:
    return scan_source(Path(request.path), part.origin, start=part.start, end=part.end, verify=verify)


def batch_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Batch headers; checksums are recomputed only where their outcome is asked for."""
    for part in parts:
        for chunk in _chunks(request, part, verify=request.wants("crc_valid")):
            if chunk.headers.num_rows:
                yield with_place(chunk.headers, part.origin)


def record_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """The records of every batch whose checksum holds."""
    for part in parts:
        for _, parsed in decoded(part, request, payloads=request.payloads):
            yield from batches_of(parsed.rows, RecordRow)


def decoded(
    part: FilePart, request: TableRequest, *, payloads: bool
) -> Iterator[tuple[tuple[int | None, int | None], Parsed[RecordRow]]]:
    """Every sound batch of a part, decoded, with the producer id and the attributes of its header."""
    for chunk in scan_source(Path(request.path), part.origin, start=part.start, end=part.end, entries=True):
        for row, entry in chunk.entries(("producer_id", "attributes")):
            parsed = decode_entry(entry, part.origin, row["span_start"], payloads=payloads)
            yield (row["producer_id"], row["attributes"]), parsed


def _epochs(data: bytes, part: FilePart) -> Parsed[EpochEntry]:
    parsed = read_leader_epoch_checkpoint(data, part.origin)
    return Parsed(rows=parsed.entries, refusals=parsed.refusals)


def _checkpoint(data: bytes, part: FilePart) -> Parsed[OffsetCheckpoint]:
    return read_offset_checkpoint(data, part.origin, OFFSET_CHECKPOINTS[part.kind])


def _producers(data: bytes, part: FilePart) -> Parsed[ProducerState]:
    return read_producer_snapshot(data, part.origin, part.base_offset or 0)


def _index(data: bytes, part: FilePart) -> Parsed[IndexEntry]:
    return read_index(data, part.origin, part.base_offset or 0, INDEX_KINDS[part.kind])


def _settings(data: bytes, part: FilePart) -> Parsed[BrokerSetting]:
    return read_server_properties(data, part.origin)


_Identity = MetaProperties | PartitionMetadata | CleanShutdown | QuorumState
_IDENTITY: Final[dict[FileKind, Callable[[bytes, Origin], _Identity]]] = {
    "meta-properties": read_meta_properties,
    "partition-metadata": read_partition_metadata,
    "clean-shutdown": read_clean_shutdown,
    "quorum-state": read_quorum_state,
}


def _identity(data: bytes, part: FilePart) -> Parsed[Refusal]:
    """Files that give no rows of their own, but may be refused."""
    return Parsed(refusals=tuple(_IDENTITY[part.kind](data, part.origin).refusals))


_Small = (
    Parsed[EpochEntry]
    | Parsed[OffsetCheckpoint]
    | Parsed[ProducerState]
    | Parsed[IndexEntry]
    | Parsed[BrokerSetting]
    | Parsed[Refusal]
)
SmallReader = Callable[[bytes, FilePart], _Small]

SMALL: Final[dict[FileKind, SmallReader]] = {
    "leader-epoch-checkpoint": _epochs,
    **dict.fromkeys(OFFSET_CHECKPOINTS, _checkpoint),
    "producer-snapshot": _producers,
    **dict.fromkeys(INDEX_KINDS, _index),
    "server-properties": _settings,
    **dict.fromkeys(_IDENTITY, _identity),
}


def small_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """The rows of files that are read whole."""
    for part in parts:
        content = read_source(Path(request.path), part.origin)
        if isinstance(content, Refusal):
            continue
        rows = SMALL[part.kind](content, part).rows
        if part.kind in INDEX_KINDS and request.wants("contradiction"):
            entries = tuple(row for row in rows if isinstance(row, IndexEntry))
            rows = beside_their_segment(entries, content, part, Path(request.path))
        yield from batches_of(rows, request.row_class)


def disk_refusals(part: FilePart, request: TableRequest) -> Iterator[Refusal]:
    """What could not be read of a part of a file on a broker's disk."""
    if part.kind == "segment":
        for chunk in _chunks(request, part, verify=False):
            yield from chunk.refusals
        if request.deep:
            yield from (refusal for _, parsed in decoded(part, request, payloads=False) for refusal in parsed.refusals)
        return
    content = read_source(Path(request.path), part.origin)
    if isinstance(content, Refusal):
        yield content
    else:
        yield from SMALL[part.kind](content, part).refusals


def beside_their_segment(rows: Sequence[IndexEntry], data: bytes, part: FilePart, root: Path) -> tuple[IndexEntry, ...]:
    """The rows of an index, those that its segment contradicts marked; the segment is read for it."""
    flaws = {one.place: one.flaw for one in _contradictions(data, part, root)}
    return tuple(replace(row, contradiction=flaws[row.span_start]) if row.span_start in flaws else row for row in rows)


def _contradictions(data: bytes, part: FilePart, root: Path) -> Iterator[ContradictedEntry]:
    slots = slots_of(data, part.base_offset or 0, INDEX_KINDS[part.kind])
    yield from falls(slots)
    segment = replace(part.origin, source=part.origin.source.rpartition(".")[0] + ".log")
    place = place_of(root, segment.source)
    if not place.is_file():
        return
    size, end, ended = place.stat().st_size, 0, 0
    for chunk in scan_source(root, segment, verify=False):
        yield from held_against(slots, chunk.headers)
        if chunk.headers.num_rows:
            last = chunk.headers.num_rows - 1
            ended, end = chunk.headers["span_end"][last].as_py(), chunk.headers["last_offset"][last].as_py() + 1
    if ended == size:
        # Behind a tail that is no batch the log may have gone on.
        yield from beyond(slots, size, end if size else -1)
