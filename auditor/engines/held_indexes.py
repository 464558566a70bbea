"""The indexes of a stretch of log, read once and held against its batches while those go by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit
from parsers.files import locate, read_source
from parsers.indexes import (
    INDEX_KINDS,
    ContradictedEntry,
    Slots,
    ascending,
    beyond,
    decided_otherwise,
    falls,
    held_against,
    read_index,
    refused_ends,
    slots_of,
)
from parsers.provenance import Span, row_span
from parsers.segment import SegmentChunk
from parsers.tables import Refusal
from rules.facts.indexes import (
    KEEP_ABORTS,
    NO_INDEXES,
    IndexFacts,
    IndexFault,
    ToldAbort,
    Unindexed,
    join_indexes,
    kept,
)

_NO_ENTRIES: Final = slots_of(b"", 0, "transaction")


class HeldIndexes:
    """The indexes of a unit's segments; lives while the unit's log is read."""

    def __init__(self, unit: ReadUnit) -> None:
        self._unit = unit
        self._files = {(index.base_offset, index.kind): index for index in unit.indexes}
        self._open: tuple[str, tuple[_Index, ...]] = ("", ())
        self.facts: IndexFacts = NO_INDEXES
        """Of what has gone by."""

    def begin(self, piece: Piece) -> None:
        """A piece of a segment is about to be read: what its indexes show by themselves is told with its first byte."""
        if self._open[0] != piece.source:
            found = (self._files.get((piece.base_offset, kind)) for kind in INDEX_KINDS)
            read = [self._read(file) for file in found if file is not None]
            self._open = piece.source, tuple(index for index in read if isinstance(index, _Index))
            if piece.start == 0:
                refused = [index for index in read if isinstance(index, IndexFault)]
                self._add(IndexFacts(unread=kept(refused), unread_count=len(refused)) if refused else NO_INDEXES)
        if piece.start == 0:
            for index in self._open[1]:
                self._add(_by_itself(index, empty=self._is_empty(piece)))

    def go_by(self, piece: Piece, chunk: SegmentChunk) -> None:
        """Batches of the piece, in physical order."""
        headers = chunk.headers
        if not headers.num_rows:
            return
        first, last = (headers["last_offset"][row].as_py() for row in (0, headers.num_rows - 1))
        indexed = (piece.base_offset, "transaction-index") in self._files
        aborts = () if indexed else tuple(_aborts_of(piece, chunk))[:KEEP_ABORTS]
        self._add(IndexFacts(ascending=ascending(headers), first_end=first, last_end=last, unindexed=aborts))
        whole = headers["span_end"][headers.num_rows - 1].as_py() == piece.size
        for index in self._open[1]:
            contradicted = [*held_against(index.slots, headers)]
            if whole:
                contradicted += beyond(index.slots, piece.size, last + 1)
            faults = tuple(index.fault(one) for one in contradicted)
            if index.slots.kind == "transaction":
                faults += self._of_markers(index, chunk)
            if faults and index.slots.kind == "offset":
                self._add(IndexFacts(faults=kept(faults), fault_count=len(faults)))
            elif faults:
                self._add(IndexFacts(by_offset=kept(faults), by_offset_count=len(faults)))

    def _is_empty(self, segment: Piece) -> bool:
        """Whether the segment is there without a byte; one that was not copied has no size either."""
        place = None if segment.size else locate(self._unit.dump, segment.source)
        return isinstance(place, Path) and place.is_file()

    def _of_markers(self, index: _Index, chunk: SegmentChunk) -> tuple[IndexFault, ...]:
        """What markers say against the index; aborts that it leaves out are told apart."""
        contradicted = decided_otherwise(index.slots, chunk.headers, chunk.bytes_of)
        faults = [index.fault(one) for one in contradicted]
        left_out = [fault for fault in faults if fault.flaw == "no entry"]
        if left_out:
            self._add(IndexFacts(aborts=kept(left_out, KEEP_ABORTS)))
        return tuple(fault for fault in faults if fault.flaw != "no entry")

    def _add(self, facts: IndexFacts) -> None:
        self.facts = join_indexes(self.facts, facts)

    def _read(self, file: Piece) -> _Index | IndexFault:
        kind, origin, base = INDEX_KINDS[file.kind], self._unit.origin(file.source), file.base_offset or 0
        content = read_source(self._unit.dump, origin)
        if isinstance(content, Refusal):
            return _refused(content, base, kind=file)
        slots = slots_of(content, base, kind)
        refusals = read_index(content, origin, base, kind).refusals if slots.refused else ()
        refusals = refusals or refused_ends(content, origin, kind)
        return _Index(slots, file, tuple(_refused(refusal, base, kind=file) for refusal in refusals))


class _Index:
    """One index, open."""

    __slots__ = ("_file", "refused", "slots")

    def __init__(self, slots: Slots, file: Piece, refused: tuple[IndexFault, ...]) -> None:
        self.slots, self.refused, self._file = slots, refused, file

    def aborts(self, limit: int) -> Iterator[ToldAbort]:
        """The last entries of a transaction index."""
        slots = self.slots
        if slots.stable is None:
            return
        rows = (column[-limit:].tolist() for column in (slots.places, slots.values, slots.offsets, slots.stable))
        for place, producer, marker, stable in zip(*rows, strict=True):
            yield ToldAbort(
                producer_id=producer,
                marker_offset=marker,
                last_stable_offset=stable,
                segment_base_offset=self._file.base_offset or 0,
                span=self._span(place),
            )

    def _span(self, place: int) -> Span:
        end = min(place + self.slots.width, self._file.size)
        return Span(source=self._file.source, start=place, end=end)

    def fault(self, contradicted: ContradictedEntry) -> IndexFault:
        """A contradiction with its address."""
        return IndexFault(
            kind=self.slots.kind,
            flaw=contradicted.flaw,
            segment_base_offset=self._file.base_offset or 0,
            offset=contradicted.offset,
            found=contradicted.found,
            span=self._span(contradicted.place),
            at_the_end=contradicted.at_the_end,
        )


def _aborts_of(piece: Piece, chunk: SegmentChunk) -> Iterator[Unindexed]:
    """What an index would have to tell that is not here."""
    headers = chunk.headers
    for entry in decided_otherwise(_NO_ENTRIES, headers, chunk.bytes_of):
        row = headers["base_offset"].index(entry.offset).as_py()
        start, end = (headers[name][row].as_py() for name in ("span_start", "span_end"))
        yield Unindexed(marker_offset=entry.offset, span=Span(source=piece.source, start=start, end=end))


def _by_itself(index: _Index, *, empty: bool) -> IndexFacts:
    """What an index shows without its log, and of a segment without a byte that it leads anywhere."""
    faults = (*index.refused, *_faults(index, falls(index.slots)))
    if empty:
        faults += tuple(_faults(index, beyond(index.slots, 0, -1)))
    return IndexFacts(
        entries=len(index.slots.places),
        faults=kept(faults),
        fault_count=len(faults),
        told_aborts=tuple(index.aborts(KEEP_ABORTS)),
    )


def _faults(index: _Index, contradicted: Iterable[ContradictedEntry]) -> Iterator[IndexFault]:
    return (index.fault(one) for one in contradicted)


def _refused(refusal: Refusal, base_offset: int, *, kind: Piece) -> IndexFault:
    return IndexFault(
        kind=INDEX_KINDS[kind.kind],
        flaw="malformed",
        segment_base_offset=base_offset,
        offset=None,
        found=f"{refusal.found}, where {refusal.expected} was due",
        span=row_span(refusal),
    )
