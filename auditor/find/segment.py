"""One segment with its indexes, as a lookup sees it: the batches that there are, and where the indexes say to begin."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from parsers.files import read_source
from parsers.indexes import Slots, slots_of
from parsers.provenance import Origin
from parsers.segment import scan_source
from parsers.tables import IndexKind, Refusal
from rules.evidence import SegmentFile
from rules.finding import offsets_told

SUFFIXES: Final[dict[IndexKind, str]] = {"offset": ".index", "time": ".timeindex"}


class PlacedBatch(Struct, frozen=True, kw_only=True):
    """A batch, and where it stands."""

    source: str
    start: int
    end: int
    base_offset: int | None
    last_offset: int
    leader_epoch: int
    records: int | None
    max_timestamp: int

    @property
    def offsets(self) -> str:
        """Its offsets; a wrapper of an old format does not tell where it begins."""
        if self.base_offset is None:
            return f"offsets up to {self.last_offset}"
        return offsets_told(self.base_offset, self.last_offset + 1)


class IndexPlace(Struct, frozen=True, kw_only=True):
    """An entry from which a lookup goes on."""

    number: int
    offset: int
    value: int


class OpenSegment(Struct, frozen=True, eq=False, dict=True):
    """A segment of the dump, its headers read when they are asked for."""

    root: Path
    origin: Origin
    file: SegmentFile

    @cached_property
    def unread(self) -> tuple[Refusal, ...]:
        """What of the segment is no batch."""
        return tuple(refusal for chunk in self._chunks for refusal in chunk[1])

    @cached_property
    def batches(self) -> pa.Table:
        """The headers in physical order."""
        return pa.Table.from_batches([headers for headers, _ in self._chunks])

    @cached_property
    def _chunks(self) -> list[tuple[pa.RecordBatch, tuple[Refusal, ...]]]:
        found = scan_source(self.root, replace(self.origin, source=self.file.source), verify=False)
        return [(chunk.headers, chunk.refusals) for chunk in found]

    def starts(self) -> list[int]:
        """First byte of every batch."""
        return [] if not self._chunks else list(self.batches["span_start"].to_pylist())

    def column(self, name: str) -> list[int]:
        """A column of the headers; what is not told is -1."""
        return [] if not self._chunks else list(self.batches[name].fill_null(-1).to_pylist())

    def at(self, row: int) -> PlacedBatch:
        """A batch by its place in the segment."""
        (batch,) = self.batches.slice(row, 1).to_pylist()
        return PlacedBatch(
            source=self.file.source,
            start=batch["span_start"],
            end=batch["span_end"],
            base_offset=batch["base_offset"],
            last_offset=batch["last_offset"],
            leader_epoch=-1 if batch["leader_epoch"] is None else batch["leader_epoch"],
            records=batch["record_count"],
            max_timestamp=-1 if batch["max_timestamp"] is None else batch["max_timestamp"],
        )

    def index_source(self, kind: IndexKind) -> str:
        """The file of an index."""
        return self.file.source.removesuffix(".log") + SUFFIXES[kind]

    def floor(self, kind: IndexKind, wanted: int) -> IndexPlace | None:
        """The last entry at or below an offset, or a timestamp, found as Kafka does: by halves; null for none."""
        slots = self._slots(kind)
        keys = slots.offsets if kind == "offset" else slots.values
        low = bisect_right(keys, wanted)
        if low == 0:
            return None
        number = int(slots.places[low - 1]) // slots.width
        return IndexPlace(number=number, offset=int(slots.offsets[low - 1]), value=int(slots.values[low - 1]))

    def has_index(self, kind: IndexKind) -> bool:
        """Whether the index was copied."""
        return self._content(kind) is not None

    def last_time(self) -> int | None:
        """The latest timestamp by the time index; null where it has no entry."""
        slots = self._slots("time")
        return int(slots.values[-1]) if len(slots.values) else None

    def _slots(self, kind: IndexKind) -> Slots:
        return slots_of(self._content(kind) or b"", self.file.base_offset, kind)

    def _content(self, kind: IndexKind) -> bytes | None:
        content = read_source(self.root, replace(self.origin, source=self.index_source(kind)))
        return None if isinstance(content, Refusal) else content
