"""What became of the transactions in a copy: each record's fate is told by the next marker of its producer there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final, Literal

from parsers.provenance import Origin
from parsers.records import decode_entry
from parsers.segment import scan_source
from rules.evidence import PartitionEvidence, Replica
from rules.loss.survivors import Survivor

Fate = Literal["committed", "aborted", "unknown"]
_OUTCOMES: Final[Mapping[int, Fate]] = {0: "aborted", 1: "committed"}
_CONTROL: Final = 0x20

Markers = Mapping[int, Sequence[tuple[int, Fate]]]
"""Of each producer id the ends of its transactions, by offset."""


def markers_of(copies: Iterable[Survivor], evidence: PartitionEvidence, dump: Path) -> dict[str, Markers]:
    """The ends of transactions in every copy, from its lost records on."""
    return {copy.path: _markers(copy, evidence, str(dump)) for copy in copies}


def fate_of(producer_id: int, offset: int, markers: Markers) -> Fate:
    """What became of a transactional record; unknown where the copy ends before its transaction does."""
    ends = markers.get(producer_id, ())
    place = bisect_right([end for end, _ in ends], offset)
    return ends[place][1] if place < len(ends) else "unknown"


def _markers(copy: Survivor, evidence: PartitionEvidence, dump: str) -> Markers:
    found: dict[int, list[tuple[int, Fate]]] = {}
    for source in _files(copy, evidence.replicas):
        for producer_id, offset, fate in _ends(source, copy.start_offset, dump):
            found.setdefault(producer_id, []).append((offset, fate))
    return {producer_id: sorted(ends) for producer_id, ends in found.items()}


def _files(copy: Survivor, replicas: Sequence[Replica]) -> Iterator[str]:
    """The files of the copy that may hold offsets of the stretch or later ones."""
    for replica in replicas:
        if replica.path == copy.path:
            for segment, following in zip_longest(replica.segments, replica.segments[1:]):
                if following is None or following.base_offset > copy.start_offset:
                    yield segment.source
        elif copy.path in (leftover.source for leftover in replica.leftovers):
            first = next(leftover.base_offset for leftover in replica.leftovers if leftover.source == copy.path)
            yield from (leftover.source for leftover in replica.leftovers if leftover.base_offset >= first)


def _ends(source: str, start: int, dump: str) -> Iterator[tuple[int, int, Fate]]:
    origin = Origin(source=source)
    for chunk in scan_source(dump, origin, entries=True):
        for row, entry in chunk.entries(("last_offset", "attributes", "producer_id")):
            if (row["attributes"] or 0) & _CONTROL and row["last_offset"] >= start:
                kind = _control_type(entry, row["span_start"], origin)
                if kind in _OUTCOMES:
                    yield row["producer_id"], row["last_offset"], _OUTCOMES[kind]


def _control_type(entry: memoryview, start: int, origin: Origin) -> int:
    parsed = decode_entry(entry, origin, start)
    types = [row.control_type for row in parsed.rows if row.control_type is not None]
    return types[0] if types else -1
