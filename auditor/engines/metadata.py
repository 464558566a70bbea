"""The metadata log as its copies tell it: one whole copy, or what several damaged ones make up together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import merge
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from auditor.engines.files import entries, file_of
from auditor.engines.pieces import Piece
from auditor.engines.plan import ReadUnit
from parsers.metadata_log import MetadataHistory, metadata_history, metadata_input
from parsers.records import decode_entry
from parsers.refusal import refuse
from parsers.segment import scan_source
from parsers.tables import RecordRow, Refusal


def metadata_history_of(unit: ReadUnit, refusals: list[Refusal]) -> MetadataHistory | None:
    """The history that the metadata log tells; none where every copy lacks the same records.

    Its records are changes: behind a hole they would be changes to what never was.
    """
    copies = [list(pieces) for _, pieces in groupby(unit.pieces, key=lambda piece: piece.source.rpartition("/")[0])]
    reading = _Reading(unit, copies[:1])
    history = reading.history()
    if reading.flaws and len(copies) > 1:
        reading = _Reading(unit, copies)
        history = reading.history()
    refusals.extend(reading.flaws or history.refusals)
    return None if reading.flaws else history


class _Reading:
    """One reading of the log from some of its copies; what keeps it from being whole is a flaw."""

    def __init__(self, unit: ReadUnit, copies: Sequence[Sequence[Piece]]) -> None:
        self._unit = unit
        self._copies = copies
        self._alone = len(copies) == 1
        self._end = 0
        self.flaws: list[Refusal] = []

    def history(self) -> MetadataHistory:
        """The history that the copies tell together."""
        rows = merge(*(self._records(copy) for copy in self._copies), key=lambda row: row.offset)
        inputs = (metadata_input(row) for row in self._unbroken(rows))
        return metadata_history(inputs, self._unit.origin(self._unit.path or self._unit.log_dir))

    def _unbroken(self, rows: Iterable[RecordRow]) -> Iterator[RecordRow]:
        """The rows of several copies as one log, each offset once, up to the first that is missing or told twice."""
        due = min((copy[0].base_offset or 0 for copy in self._copies if copy), default=0)
        last: RecordRow | None = None
        for row in rows:
            if last is not None and row.offset == last.offset and (row.key, row.value) == (last.key, last.value):
                continue
            if row.offset != due:
                self._flaw(row, f"the record at offset {due}", f"a record at offset {row.offset}")
                return
            yield row
            last, due = row, row.offset + 1
        if last is not None and due < self._end:
            self._flaw(last, f"records up to offset {self._end}", f"the last one at offset {last.offset}")

    def _flaw(self, row: RecordRow, expected: str, found: str) -> None:
        origin = replace(self._unit.origin(row.source), broker=row.broker)
        self.flaws.append(refuse(origin, "damage", row.span_start, row.span_end, expected=expected, found=found))

    def _records(self, copy: Sequence[Piece]) -> Iterator[RecordRow]:
        """Every record of one copy whose batch can be believed; what other copies may make up for is no flaw."""
        for piece in copy:
            path, origin = file_of(self._unit.dump, piece.source), self._unit.origin(piece.source)
            for chunk in scan_source(Path(self._unit.dump), origin):
                broken = [refusal for refusal in chunk.refusals if not refusal.kind.endswith("_tail")]
                headers = chunk.headers if self._alone else _in_order(chunk.headers)
                self._end = max(self._end, *(last + 1 for last in headers["last_offset"].to_pylist()), 0)
                for start, entry, _, _ in entries(path, headers):
                    parsed = decode_entry(entry, origin, start, payloads=True)
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
