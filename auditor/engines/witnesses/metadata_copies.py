"""The metadata log as its copies tell it: one whole copy, or what several damaged ones make up together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from heapq import merge
from itertools import groupby
from typing import Final

import pyarrow as pa
from msgspec import Struct, structs

from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit
from parsers.metadata_log import (
    MetadataHistory,
    MetadataInput,
    MetadataSnapshot,
    SnapshotCheck,
    SnapshotToCheck,
    metadata_history,
    metadata_input,
    snapshot_id,
)
from parsers.provenance import Span
from parsers.records import decode_entry
from parsers.refusal import Parsed, refuse
from parsers.segment import SegmentChunk, scan_source
from parsers.tables import RecordRow, Refusal
from rules.replicas.metadata_snapshots import SnapshotSeen

CHECKED: Final = 3
"""Snapshots of each copy that are held against the log."""


class BatchTimes(Struct, frozen=True, kw_only=True):
    """When batches of the metadata log began: each has the time of its first record, whenever the others were added."""

    offsets: Sequence[int]
    """The first offset of each batch."""
    times: Sequence[int]
    epochs: Sequence[int]

    def written(self, offset: int | None) -> int | None:
        """By when a record was written, on the clock that dates it: its leader has begun the next batch since."""
        place = bisect_right(self.offsets, -1 if offset is None else offset)
        if offset is None or not 0 < place < len(self.offsets):
            return None
        alike = self.epochs[place] == self.epochs[place - 1] and self.times[place] >= self.times[place - 1]
        return self.times[place] if alike else None


class ToldMetadata(Struct, frozen=True, kw_only=True):
    """What the copies of the metadata log tell together."""

    history: MetadataHistory
    snapshots: tuple[SnapshotSeen, ...]
    batches: BatchTimes
    to_its_end: bool
    """Whether a voter kept the copy that reaches furthest: a broker's copy ends where the broker stopped."""


def metadata_history_of(unit: ReadUnit, refusals: list[Refusal]) -> ToldMetadata | None:
    """The history that the metadata log tells; none where every copy lacks the same records.

    Its records are changes: behind a hole they would be changes to what never was.
    """
    copies = [_Copy(unit, folder, list(pieces)) for folder, pieces in groupby(unit.pieces, key=_folder)]
    if not copies:
        return None
    cover = _cover(copies)
    reading = _Reading(unit, cover, copies)
    history = reading.history()
    if reading.flaws and len(copies) > len(cover):
        reading = _Reading(unit, copies, copies)
        history = reading.history()
    refusals.extend(reading.flaws or history.refusals)
    if reading.flaws:
        return None
    seen = tuple(reading.seen(check) for check in history.snapshots)
    return ToldMetadata(
        history=history,
        snapshots=(*seen, *reading.unread()),
        batches=reading.batches,
        to_its_end=cover[0].votes,
    )


def _folder(piece: Piece) -> str:
    return piece.source.rpartition("/")[0]


class _Copy:
    """One copy of the log: where it begins and ends, and who kept it."""

    def __init__(self, unit: ReadUnit, folder: str, pieces: Sequence[Piece]) -> None:
        self.segments = [piece for piece in pieces if piece.kind != "kraft-snapshot"]
        self.snapshots = [piece for piece in pieces if piece.kind == "kraft-snapshot"]
        self.votes = folder in unit.voters
        owner = next((each.broker for each in unit.owners if each.path == folder), None)
        self.broker = -1 if owner is None else owner
        self.start = min((piece.base_offset or 0 for piece in self.segments), default=0)
        self._unit = unit

    @cached_property
    def end(self) -> int:
        """Where it ends, by the batches of its last segment that can be believed."""
        if not self.segments:
            return 0
        last = self.segments[-1]
        end = last.base_offset or 0
        for chunk in scan_source(self._unit.dump, self._unit.origin(last.source)):
            sound = chunk.headers.filter(chunk.headers["crc_valid"]) if chunk.headers.num_rows else chunk.headers
            end = max(end, *(last + 1 for last in sound["last_offset"].to_pylist()), 0)
        return end


def _cover(copies: Sequence[_Copy]) -> list[_Copy]:
    """The copy that reaches furthest, voters' first, and as few others as reach back to the oldest beginning left."""
    if len(copies) == 1:
        return list(copies)
    cover = [max(copies, key=lambda copy: (copy.end, copy.votes, -copy.start))]
    while cover[-1].start > 0:
        older = [copy for copy in copies if copy.start < cover[-1].start <= copy.end]
        if not older:
            break
        cover.append(min(older, key=lambda copy: copy.start))
    return cover


def _few(snapshots: Sequence[Piece]) -> list[Piece]:
    """The oldest snapshot of a copy and the two newest: each is a whole state of the cluster."""
    ordered = sorted(snapshots, key=lambda piece: piece.source.rpartition("/")[2])
    return ordered if len(ordered) <= CHECKED else [ordered[0], *ordered[1 - CHECKED :]]


class _Reading:
    """One reading of the log from some of its copies; what keeps it from being whole is a flaw."""

    def __init__(self, unit: ReadUnit, copies: Sequence[_Copy], every: Sequence[_Copy]) -> None:
        self._unit = unit
        self._keepers = {piece.source: copy.broker for copy in every for piece in copy.snapshots}
        self._to_check = [piece for copy in every for piece in _few(copy.snapshots)]
        self._left_out = [piece for copy in every for piece in copy.snapshots if piece not in self._to_check]
        self._broker = copies[0].broker
        self._snapshots = [piece for copy in copies for piece in copy.snapshots]
        self._copies = [copy.segments for copy in copies]
        self._alone = len(copies) == 1
        self._end = 0
        self._batches: list[tuple[int, int, int]] = []
        self.flaws: list[Refusal] = []

    def history(self) -> MetadataHistory:
        """The history that the copies tell together."""
        rows = merge(*(self._records(copy) for copy in self._copies), key=lambda row: row.offset)
        inputs = (metadata_input(row) for row in self._unbroken(rows))
        origin = self._unit.origin(self._unit.path or self._unit.log_dir)
        return metadata_history(inputs, origin, self._anchors(), [*self._checked()])

    def _checked(self) -> Iterator[SnapshotToCheck]:
        for piece in self._to_check:
            named = snapshot_id(piece.source.rpartition("/")[2])
            if named is not None and named.end_offset > 0:
                yield SnapshotToCheck(
                    end_offset=named.end_offset,
                    epoch=named.epoch,
                    source=piece.source,
                    inputs=partial(self._inputs, piece),
                )

    def _inputs(self, piece: Piece) -> list[MetadataInput]:
        return [metadata_input(row) for row in self._rows(piece)]

    @property
    def batches(self) -> BatchTimes:
        """Of the records that were read; batches of one time are taken for one."""
        offsets, times, epochs = ([batch[part] for batch in self._batches] for part in range(3))
        return BatchTimes(offsets=offsets, times=times, epochs=epochs)

    def seen(self, check: SnapshotCheck) -> SnapshotSeen:
        """What came of a snapshot, with its keeper and its file."""
        piece = next(each for each in self._to_check if each.source == check.source)
        return SnapshotSeen(
            broker=self._keepers[check.source],
            end_offset=check.end_offset,
            epoch=check.epoch,
            standing=check.standing,
            log_epoch=check.log_epoch,
            log_broker=self._broker,
            differences=check.differences,
            count=check.count,
            span=Span(source=check.source, start=0, end=piece.size),
        )

    def unread(self) -> Iterator[SnapshotSeen]:
        """Those that nobody holds against the log, by their names."""
        for piece in self._left_out:
            named = snapshot_id(piece.source.rpartition("/")[2])
            if named is not None and named.end_offset > 0:
                yield SnapshotSeen(
                    broker=self._keepers[piece.source],
                    end_offset=named.end_offset,
                    epoch=named.epoch,
                    standing="unread",
                    span=Span(source=piece.source, start=0, end=piece.size),
                )

    def _start(self) -> int:
        return min((copy[0].base_offset or 0 for copy in self._copies if copy), default=0)

    def _anchors(self) -> list[MetadataSnapshot]:
        """What stands for the beginning that was deleted: of the snapshots that leave no hole, the two oldest.

        Those after them repeat what the log tells; one that is torn is passed over for the next.
        """
        if self._start() == 0 and any(self._copies):
            return []
        named = ((snapshot_id(piece.source.rpartition("/")[2]), piece) for piece in self._snapshots)
        whole = {at: piece for at, piece in named if at is not None and at.end_offset >= self._start()}
        oldest = sorted(whole, key=lambda at: (at.end_offset, at.epoch))[:2]
        return [MetadataSnapshot(id=at, inputs=tuple(map(metadata_input, self._rows(whole[at])))) for at in oldest]

    def _unbroken(self, rows: Iterable[RecordRow]) -> Iterator[RecordRow]:
        """The rows of several copies as one log, each offset once, up to the first that is missing or told twice."""
        due = self._start()
        last: RecordRow | None = None
        for row in rows:
            if last is not None and row.offset == last.offset and (row.key, row.value) == (last.key, last.value):
                continue
            if row.offset != due:
                self._flaw(row, f"the record at offset {due}", f"a record at offset {row.offset}")
                return
            if last is None or (row.timestamp, row.leader_epoch) != (last.timestamp, last.leader_epoch):
                self._batches.append((row.offset, row.timestamp, row.leader_epoch))
            yield row
            last, due = row, row.offset + 1
        if last is not None and due < self._end:
            self._flaw(last, f"records up to offset {self._end}", f"the last one at offset {last.offset}")

    def _flaw(self, row: RecordRow, expected: str, found: str) -> None:
        origin = structs.replace(self._unit.origin(row.source), broker=row.broker)
        self.flaws.append(refuse(origin, "damage", row.span_start, row.span_end, expected=expected, found=found))

    def _scan(self, piece: Piece) -> Iterator[SegmentChunk]:
        return scan_source(self._unit.dump, self._unit.origin(piece.source))

    def _decoded(self, piece: Piece, chunk: SegmentChunk) -> Iterator[Parsed[RecordRow]]:
        """What each batch of a file holds, records with their payload."""
        origin = self._unit.origin(piece.source)
        return (decode_entry(entry, origin, row["span_start"], payloads=True) for row, entry in chunk.entries())

    def _rows(self, snapshot: Piece) -> Iterator[RecordRow]:
        """The records of a snapshot; what is damaged in it is missed by its reader."""
        for chunk in self._scan(snapshot):
            for parsed in self._decoded(snapshot, chunk):
                yield from parsed.rows

    def _records(self, copy: Sequence[Piece]) -> Iterator[RecordRow]:
        """Every record of one copy whose batch can be believed; what other copies may make up for is no flaw."""
        for piece in copy:
            for chunk in self._scan(piece):
                broken = [refusal for refusal in chunk.refusals if not refusal.kind.endswith("_tail")]
                headers = chunk.headers if self._alone else _in_order(chunk.headers)
                self._end = max(self._end, *(last + 1 for last in headers["last_offset"].to_pylist()), 0)
                for parsed in self._decoded(piece, replace(chunk, headers=headers)):
                    broken.extend(parsed.refusals)
                    yield from parsed.rows
                self.flaws.extend(broken if self._alone else ())


def _in_order(headers: pa.RecordBatch) -> pa.RecordBatch:
    """The batches whose base offset neither falls behind those before nor runs ahead of the one that follows."""
    bases, ends = headers["base_offset"].to_pylist(), headers["last_offset"].to_pylist()
    kept, end = [], -1
    for place, (base, last) in enumerate(zip(bases, ends, strict=True)):
        following = bases[place + 1] if place + 1 < len(bases) else None
        if base is not None and base > end and (following is None or following > base):
            kept.append(place)
            end = last
    return headers.take(pa.array(kept, pa.int64()))
