"""The cells of a sketch line as a log: headers laid out byte by byte, folded by the fold that real logs go through."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from parsers.provenance import Span
from parsers.tables import BatchHeader, Refusal, arrow_schema
from rules.facts.stretch import LogFacts
from rules.narrow.fold import fold
from rules.protocol.epochs import EpochStart
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.steps import Bound
from rules.zoom.ranges import BatchMark, RecordMark, UnreadFile, Zoom

_CELL: Final = re.compile(
    r"@(?P<jump>\d+):|(?P<mark>[|</~_])|(?P<nothing>[.#])(?:[x\u00d7](?P<offsets>\d+))?"
    r"|\((?P<group>[^)]*)\)(?P<gbad>[!?]?)"
    r"|(?P<epoch>\d|\[\d+\]|-)(?P<content>[a-wyzA-WYZ]?)(?P<bad>[!?]?)(?:[x\u00d7](?P<times>\d+))?"
)
_MEMBER: Final = re.compile(
    r"(?:(?P<gone>\.)|(?P<epoch>\d|\[\d+\]|-)(?P<content>[a-wyzA-WYZ]?))(?:[x\u00d7](?P<times>\d+))?"
)
_BATCH_BYTES: Final = 70
_PHYSICAL: Final = [
    "base_offset", "last_offset", "leader_epoch", "magic", "size", "crc", "crc_valid", "attributes", "record_count",
    "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "span_start", "span_end",
]  # fmt: skip
_SCHEMA: Final = pa.schema([*(arrow_schema(BatchHeader).field(name) for name in _PHYSICAL), ("file", pa.int32())])


@dataclass(frozen=True, slots=True)
class _Batch:
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

    @property
    def epoch(self) -> int:
        return next((content[0] for content in self.contents if content), 0)

    @property
    def width(self) -> int:
        return len(self.contents) + self.undrawn

    @property
    def span_size(self) -> int:
        return _BATCH_BYTES * max(1, len(self.contents))


class SketchError(ValueError):
    """A sketch that cannot be read; says where and what was expected."""


class _Layout:
    """The log as it is being laid out; lives only inside `sketch_log`."""

    def __init__(self) -> None:
        self.offset = 0
        self.position = 0
        self.files = [0]
        self.sizes = [0]
        self.batches: list[_Batch] = []
        self.unread: list[tuple[str, int, int, int]] = []
        self.high_watermark: int | None = None
        self.log_start: int | None = None

    def advance(self, offsets: int, size: int) -> None:
        self.offset += offsets
        self.position += size
        self.sizes[-1] = self.position


@dataclass(frozen=True, slots=True, kw_only=True)
class SketchedLog:
    """What the cells of one line draw."""

    facts: LogFacts
    zoom: Zoom
    segments: tuple[tuple[int, str, int], ...]
    epochs: tuple[EpochStart, ...]
    high_watermark: int | None
    log_start: int | None


def sketch_log(cells: str, path: str, end_offset: int | None = None) -> SketchedLog:
    """The log that the cells of a line draw, in the replica directory `path`.

    `end_offset` lets it go on behind the cells, in one batch of the epoch drawn last.
    """
    layout = _Layout()
    position = 0
    bound = Bound(len(cells), "reading a sketch")
    while position < len(cells):
        bound.step()
        # A blank parts cells: a run's count ends there.
        match = _CELL.match(cells, position)
        if match is None and not cells[position].isspace():
            message = f"cannot read {cells[position:]!r} in the cells {cells.strip()!r}"
            raise SketchError(message)
        if match is not None:
            _place(layout, match)
        position = position + 1 if match is None else match.end()
    if end_offset is not None and layout.batches and end_offset > layout.offset:
        _batch(layout, layout.batches[-1].contents[-1:], "", undrawn=end_offset - layout.offset - 1)
    sources = [f"{path}/{base:020d}.log" for base in layout.files]
    facts = fold(_headers(layout.batches), sources, [_refusal(u, sources) for u in layout.unread])
    return SketchedLog(
        facts=facts,
        zoom=_zoom(layout.batches, sources),
        segments=tuple(zip(layout.files, sources, layout.sizes, strict=True)),
        epochs=tuple(_epochs(facts)),
        high_watermark=layout.high_watermark,
        log_start=layout.log_start,
    )


def _place(layout: _Layout, match: re.Match[str]) -> None:
    if match["jump"] is not None:
        layout.offset = int(match["jump"])
        if not layout.batches:
            layout.files[-1] = layout.offset
    elif match["mark"] is not None:
        _mark(layout, match["mark"])
    elif match["nothing"] is not None:
        _nothing(layout, match["nothing"], int(match["offsets"] or 1))
    elif match["group"] is not None:
        _batch(layout, tuple(_contents(match["group"])), match["gbad"])
    else:
        content = _content(match["epoch"], match["content"])
        for _ in range(int(match["times"] or 1)):
            _batch(layout, (content,), match["bad"])


def _mark(layout: _Layout, mark: str) -> None:
    if mark == "|":
        layout.high_watermark = layout.offset
    elif mark == "<":
        layout.log_start = layout.offset
    elif mark == "/":
        layout.files.append(layout.offset)
        layout.sizes.append(0)
        layout.position = 0
    else:
        _unread(layout, {"~": "torn_tail", "_": "zero_tail"}[mark])


def _nothing(layout: _Layout, mark: str, offsets: int) -> None:
    if mark == "#":
        _unread(layout, "damage")
    layout.offset += offsets


def _unread(layout: _Layout, kind: str) -> None:
    layout.unread.append((kind, len(layout.files) - 1, layout.position, layout.position + _BATCH_BYTES))
    layout.advance(0, _BATCH_BYTES)


def _contents(group: str) -> Iterator[tuple[int, str] | None]:
    position = 0
    bound = Bound(len(group), "reading a batch of a sketch")
    while position < len(group):
        bound.step()
        match = _MEMBER.match(group, position)
        if match is None:
            message = f"cannot read {group[position:]!r} in the batch ({group})"
            raise SketchError(message)
        for _ in range(int(match["times"] or 1)):
            yield None if match["gone"] else _content(match["epoch"], match["content"])
        position = match.end()


def _content(epoch: str, content: str) -> tuple[int, str]:
    return (-1 if epoch == "-" else int(epoch.strip("[]"))), content


def _batch(
    layout: _Layout, contents: tuple[tuple[int, str] | None, ...], flaw: str, *, undrawn: int = 0
) -> None:
    legacy = any(content is not None and content[0] < 0 for content in contents)
    file = len(layout.files) - 1
    batch = _Batch(layout.offset, contents, legacy, flaw, file, layout.position, undrawn)
    layout.batches.append(batch)
    layout.advance(batch.width, batch.span_size)


def _headers(batches: list[_Batch]) -> pa.Table:
    return pa.Table.from_pylist([_header(batch) for batch in batches], schema=_SCHEMA)


def _header(batch: _Batch) -> dict[str, int | bool | None]:
    kept = sum(content is not None for content in batch.contents) + batch.undrawn
    return {
        "base_offset": batch.base,
        "last_offset": batch.base + batch.width - 1,
        "leader_epoch": batch.epoch,
        "magic": 1 if batch.legacy else 2,
        "size": batch.span_size,
        "crc": _crc(batch),
        "crc_valid": batch.flaw != "!",
        "attributes": 0,
        "record_count": kept,
        "base_timestamp": batch.base,
        "max_timestamp": batch.base,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "span_start": batch.start,
        "span_end": batch.start + batch.span_size,
        "file": batch.file,
    }


def _crc(batch: _Batch) -> int:
    return zlib.crc32(repr((batch.contents, batch.undrawn, batch.base)).encode())


def _zoom(batches: list[_Batch], sources: list[str]) -> Zoom:
    marks = tuple(
        BatchMark(
            base_offset=batch.base,
            end_offset=batch.base + batch.width,
            leader_epoch=batch.epoch,
            magic=1 if batch.legacy else 2,
            size=batch.span_size,
            crc=_crc(batch),
            crc_valid=batch.flaw != "!",
            control=False,
            span=_span(batch, sources),
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


def _records(batch: _Batch, sources: list[str]) -> Iterator[RecordMark]:
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
                control_type=None,
                legacy=batch.legacy,
                span=_span(batch, sources),
            )


def _span(batch: _Batch, sources: list[str]) -> Span:
    return Span(source=sources[batch.file], start=batch.start, end=batch.start + batch.span_size)


def _refusal(unread: tuple[str, int, int, int], sources: list[str]) -> Refusal:
    kind, file, start, end = unread
    return Refusal(
        cluster_id=None, broker=None, log_dir=None, topic=None, topic_id=None, partition=None,
        kind=kind,  # type: ignore[arg-type]
        expected="a record batch", found="other bytes", source=sources[file], span_start=start, span_end=end,
    )  # fmt: skip


def _epochs(facts: LogFacts) -> Iterator[EpochStart]:
    last = -1
    for run in facts.epochs:
        if run.epoch > last:
            last = run.epoch
            yield EpochStart(epoch=Epoch(run.epoch), start_offset=Offset(run.start_offset))
