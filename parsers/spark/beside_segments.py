"""Rows of indexes beside their segments: what the batches say against each entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from parsers.files import FileFault, locate
from parsers.indexes import INDEX_KINDS, ContradictedEntry, beyond, falls, held_against, slots_of
from parsers.segment import scan_source
from parsers.spark.slices import FilePart
from parsers.tables import IndexEntry


def beside_their_segment(rows: Sequence[IndexEntry], data: bytes, part: FilePart, root: Path) -> tuple[IndexEntry, ...]:
    """The rows of an index, those that its segment contradicts marked; the segment is read for it."""
    flaws = {one.place: one.flaw for one in _contradictions(data, part, root)}
    return tuple(replace(row, contradiction=flaws[row.span_start]) if row.span_start in flaws else row for row in rows)


def _contradictions(data: bytes, part: FilePart, root: Path) -> Iterator[ContradictedEntry]:
    slots = slots_of(data, part.base_offset or 0, INDEX_KINDS[part.kind])
    yield from falls(slots)
    segment = replace(part.origin, source=part.origin.source.rpartition(".")[0] + ".log")
    place = locate(root, segment.source)
    if isinstance(place, FileFault) or not place.is_file():
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
