"""The batches of a drawn log as readers would give them: rows of headers, and the batches and records of a zoom."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from msgspec import Struct

from parsers.provenance import Span
from parsers.tables import BatchHeader, arrow_schema
from rules.facts.read_again import BatchMark, RecordMark, UnreadFile, Zoom
from rules.sketch.written_by import NOBODY, Sender

BATCH_BYTES: Final = 70
_APPEND_TIME: Final = 0x08
_PHYSICAL: Final = [
    "base_offset", "last_offset", "leader_epoch", "magic", "size", "crc", "crc_valid", "attributes", "record_count",
    "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "span_start", "span_end",
]  # fmt: skip
_SCHEMA: Final = pa.schema([*(arrow_schema(BatchHeader).field(name) for name in _PHYSICAL), ("file", pa.int32())])


class Pace(Struct, frozen=True):
    """What times the batches of a log bear: the offset times so many milliseconds, by producers or by the broker."""

    milliseconds: int = 1
    by_broker: bool = False


EVERY_MILLISECOND: Final = Pace()


class SketchedBatch(Struct, frozen=True):
    """One batch of a drawn log, and where it lies."""

    base: int
    contents: tuple[tuple[int, str] | None, ...]
    """Epoch and content of each offset; null where the record was cleaned away."""
    legacy: bool
    flaw: str
    """`!` for a checksum that does not fit, `?` for records that cannot be decoded; empty for a sound batch."""
    file: int
    start: int
    undrawn: int = 0
    """Offsets that the batch holds beyond its contents, whose records nobody drew."""
    sender: Sender = NOBODY

    @property
    def epoch(self) -> int:
        """The leader epoch of its records."""
        return next((content[0] for content in self.contents if content), 0)

    @property
    def width(self) -> int:
        """How many offsets it takes."""
        return len(self.contents) + self.undrawn

    @property
    def span_size(self) -> int:
        """How many bytes it takes."""
        return BATCH_BYTES * max(1, len(self.contents))


def headers(batches: Sequence[SketchedBatch], pace: Pace) -> pa.RecordBatch:
    """The batches as the segment reader tells them."""
    return pa.RecordBatch.from_pylist([_header(batch, pace) for batch in batches], schema=_SCHEMA)


def _header(batch: SketchedBatch, pace: Pace) -> dict[str, int | bool | None]:
    kept = sum(content is not None for content in batch.contents) + batch.undrawn
    return {
        "base_offset": batch.base,
        "last_offset": batch.base + batch.width - 1,
        "leader_epoch": batch.epoch,
        "magic": 1 if batch.legacy else 2,
        "size": batch.span_size,
        "crc": _crc(batch),
        "crc_valid": batch.flaw != "!",
        "attributes": batch.sender.attributes | (_APPEND_TIME if pace.by_broker else 0),
        "record_count": kept,
        "base_timestamp": batch.base * pace.milliseconds,
        "max_timestamp": batch.base * pace.milliseconds,
        "producer_id": batch.sender.producer_id,
        "producer_epoch": batch.sender.producer_epoch,
        "base_sequence": batch.sender.sequence,
        "span_start": batch.start,
        "span_end": batch.start + batch.span_size,
        "file": batch.file,
    }


def _crc(batch: SketchedBatch) -> int:
    sent = () if batch.sender == NOBODY else (batch.sender,)
    return zlib.crc32(repr((batch.contents, batch.undrawn, batch.base, *sent)).encode())


def zoom(batches: Sequence[SketchedBatch], sources: Sequence[str]) -> Zoom:
    """The batches as a second look at the log tells them, records included."""
    marks = tuple(
        BatchMark(
            base_offset=batch.base,
            end_offset=batch.base + batch.width,
            leader_epoch=batch.epoch,
            magic=1 if batch.legacy else 2,
            size=batch.span_size,
            crc=_crc(batch),
            crc_valid=batch.flaw != "!",
            control=batch.sender.control_type is not None,
            span=_span(batch, sources),
            written=batch.sender.written,
        )
        for batch in batches
    )
    records = tuple(record for batch in batches for record in _records(batch, sources))
    undecodable = tuple(
        UnreadFile(kind="undecodable", expected="records", found="other bytes", span=_span(batch, sources))
        for batch in batches
        if batch.flaw == "?"
    )
    return Zoom(
        start_offset=0, end_offset=1 << 62, batches=marks, records=records, decoded=True, undecodable=undecodable
    )


def _records(batch: SketchedBatch, sources: Sequence[str]) -> Iterator[RecordMark]:
    for delta, content in enumerate(batch.contents):
        if content is not None:
            yield RecordMark(
                offset=batch.base + delta,
                leader_epoch=batch.epoch,
                timestamp=-1 if batch.legacy else batch.base,
                key_hash=content[1].lower() or None,
                value_size=-1 if content[1].isupper() else ord(content[1]) if content[1] else 0,
                content_hash=f"{content}@{batch.base + delta}",
                headers_hash="",
                control_type=batch.sender.control_type,
                legacy=batch.legacy,
                span=_span(batch, sources),
                written=batch.sender.written,
            )


def _span(batch: SketchedBatch, sources: Sequence[str]) -> Span:
    return Span(source=sources[batch.file], start=batch.start, end=batch.start + batch.span_size)
