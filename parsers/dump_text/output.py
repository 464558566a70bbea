"""What the reader hands on: chunks of rows of one dumped file, bounded in size."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import pyarrow as pa
from msgspec import Struct

from parsers.dump_text.dumped_file import DumpedFile
from parsers.tables import BatchHeader, Refusal, arrow_schema


class Note(Struct, frozen=True, kw_only=True):
    """A line of the tool or the JVM that is no row: warnings, mismatch sections, stack traces."""

    text: str
    source: str
    span_start: int
    span_end: int


class DumpChunk(Struct, frozen=True, kw_only=True):
    """A bounded part of a section; `file` is null before the first `Dumping` line."""

    file: DumpedFile | None
    rows: tuple[BatchHeader, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def headers(self) -> pa.RecordBatch:
        """The batch rows as one Arrow batch of all columns, place included."""
        schema = arrow_schema(BatchHeader)
        columns = [pa.array([getattr(row, item.name) for row in self.rows], item.type) for item in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(slots=True)
class Output:
    """Rows gathered for the next chunk."""

    rows: list[BatchHeader] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def size(self) -> int:
        """Rows of all kinds."""
        return len(self.rows) + len(self.refusals) + len(self.notes)

    def drain(self, file: DumpedFile | None) -> DumpChunk:
        """Everything gathered, as a chunk; the gathering starts anew."""
        chunk = DumpChunk(file=file, **{item.name: tuple(getattr(self, item.name)) for item in fields(self)})
        for item in fields(self):
            getattr(self, item.name).clear()
        return chunk
