"""Index entries held against the segment that they are of: all that batch headers say against an entry.

Kafka writes an entry now and then, of the first or of the last offset of what it appends, by version. So no entry is
due anywhere; but one that is there must lead to a batch, and no lookup may begin behind the offset that it looks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from parsers.indexes.entries import ENTRIES, ENTRY_LIMIT, used_size
from parsers.tables import IndexFlaw, IndexKind

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LAYOUTS: Final[dict[IndexKind, np.dtype[np.void]]] = {
    "offset": np.dtype([("relative", ">i4"), ("position", ">i4")]),
    "time": np.dtype([("timestamp", ">i8"), ("relative", ">i4")]),
    "transaction": np.dtype(
        [("version", ">i2"), ("producer", ">i8"), ("first", ">i8"), ("last", ">i8"), ("stable", ">i8")]
    ),
}
_INT64_MAX: Final = 2**63 - 1
_LAST_MOMENT: Final = 253_402_300_800_000
"""Milliseconds up to the end of the year 9999."""
_MARKER: Final = 0x30
_TRANSACTIONAL: Final = 0x10
"""Attribute bits: a marker's are both, transactional and control."""


class Slots(Struct, frozen=True, kw_only=True, eq=False):
    """The entries of one index as arrays, in the order of the file; those that no reader accepts are left out."""

    kind: IndexKind
    places: Ints
    """First byte of each entry."""
    offsets: Ints
    """Absolute; of an aborted transaction that of its marker."""
    values: Ints
    """Byte positions, timestamps, or producer ids, by the kind of the index."""
    begins: Ints | None = None
    """First offsets of aborted transactions; null for other kinds."""
    stable: Ints | None = None
    """The last stable offsets that went with them; null for other kinds."""
    refused: bool
    """Whether any were left out."""

    @property
    def width(self) -> int:
        """Bytes of an entry."""
        return ENTRIES[self.kind].size


class ContradictedEntry(Struct, frozen=True, kw_only=True):
    """An entry that its segment, or the entry before it, contradicts."""

    flaw: IndexFlaw
    place: int
    """Its first byte."""
    offset: int
    found: str
    at_the_end: bool = False
    """Whether it is of an entry that is missing behind the last one: the index may merely have been copied first."""


def slots_of(data: bytes, base_offset: int, kind: IndexKind) -> Slots:
    """The entries up to the zero tail. A first one of zeros alone says nothing and is passed over."""
    width = ENTRIES[kind].size
    used = len(data) // width * width if kind == "transaction" else used_size(data, kind)
    rows = np.frombuffer(data, dtype=_LAYOUTS[kind], count=min(used // width, ENTRY_LIMIT))
    places = np.arange(len(rows), dtype=np.int64) * width
    begins: Ints | None = None
    stable: Ints | None = None
    if kind == "transaction":
        accepted: Mask = rows["version"] == 0
        kept = accepted
        offsets, values = rows["last"].astype(np.int64), rows["producer"].astype(np.int64)
        begins, stable = (rows[name].astype(np.int64)[kept] for name in ("first", "stable"))
    else:
        values = rows["position" if kind == "offset" else "timestamp"].astype(np.int64)
        relative = rows["relative"].astype(np.int64)
        accepted = (relative >= 0) & (relative <= _INT64_MAX - base_offset) & ((values >= 0) | (kind == "time"))
        kept = accepted & ((relative != 0) | (values != 0))
        offsets = relative + base_offset
    refused = not bool(accepted.all())
    held = (places[kept], offsets[kept], values[kept])
    return Slots(
        kind=kind, places=held[0], offsets=held[1], values=held[2], begins=begins, stable=stable, refused=refused
    )


def falls(slots: Slots) -> Iterator[ContradictedEntry]:
    """Entries that do not rise above the one before them."""
    earlier, later = slots.offsets[:-1], slots.offsets[1:]
    before, behind = slots.values[:-1], slots.values[1:]
    if slots.kind == "offset":
        # A cut inside a batch, by a broker that indexed first offsets, leaves an entry where the next one will point.
        fallen = (later <= earlier) | (behind < before)
    elif slots.kind == "time":
        fallen = (later < earlier) | (behind <= before)
    else:
        fallen = later <= earlier
    for row in np.flatnonzero(fallen).tolist():
        found = f"the entries do not rise: {_brief(slots, row)} comes before {_brief(slots, row + 1)}"
        yield _contradiction(slots, "falls", row + 1, found)


def beyond(slots: Slots, size: int, end_offset: int) -> Iterator[ContradictedEntry]:
    """Entries that lead behind the last batch of their segment, which is whole."""
    behind = slots.offsets >= end_offset
    if slots.kind == "offset":
        behind = (slots.values >= size) | behind
    if slots.begins is not None:
        behind = (slots.begins >= end_offset) | behind
    for row in np.flatnonzero(behind).tolist():
        ends = f"has {size} bytes and ends before offset {end_offset}" if size else "is empty"
        found = f"{_entry(slots, row)}; the segment {ends}"
        yield _contradiction(slots, "beyond the log", row, found)


def held_against(slots: Slots, headers: pa.RecordBatch) -> Iterator[ContradictedEntry]:
    """Entries that these neighbouring batches of the segment contradict.

    Where the log's own offsets do not ascend, an offset is no address: only positions are judged.
    """
    if not headers.num_rows or not len(slots.places):
        return
    last = column(headers, "last_offset")
    base = column(headers, "base_offset", missing=-1)
    if slots.kind == "offset":
        yield from _positions(slots, base, last, headers)
    elif ascending(headers):
        rows = np.searchsorted(last, slots.offsets)
        held = np.flatnonzero(rows < len(last))
        # Of a wrapper, whose header does not tell where it begins, time indexes name the last offset.
        known = base[rows[held]] >= 0
        held = held[np.where(known, base[rows[held]] <= slots.offsets[held], last[rows[held]] == slots.offsets[held])]
        against = _times if slots.kind == "time" else _markers
        yield from against(slots, held, rows[held], headers)
        if slots.begins is not None:
            yield from _beginnings(slots, slots.begins, base, last, headers)


def ascending(headers: pa.RecordBatch) -> bool:
    """Whether each batch ends above the one before it."""
    last = column(headers, "last_offset")
    return bool((last[1:] > last[:-1]).all())


def _positions(slots: Slots, base: Ints, last: Ints, headers: pa.RecordBatch) -> Iterator[ContradictedEntry]:
    starts, ends = column(headers, "span_start"), column(headers, "span_end")
    rows = np.searchsorted(starts, slots.values, side="right") - 1
    held = np.flatnonzero(rows >= 0)
    held = held[slots.values[held] < ends[rows[held]]]
    inside = slots.values[held] > starts[rows[held]]
    other = ~inside & (base[rows[held]] > slots.offsets[held])
    flawed = held[inside | other]
    for place in flawed.tolist():
        row = int(rows[place])
        batch = f"the batch of offsets [{int(base[row])}, {int(last[row]) + 1})"
        if int(slots.values[place]) > int(starts[row]):
            where = f"that byte is inside {batch}, which begins at byte {int(starts[row])}"
            yield _contradiction(slots, "inside a batch", place, f"{_entry(slots, place)}; {where}")
        else:
            yield _contradiction(slots, "another batch", place, f"{_entry(slots, place)}; {batch} begins there")


def _times(slots: Slots, held: Ints, rows: Ints, headers: pa.RecordBatch) -> Iterator[ContradictedEntry]:
    latest = column(headers, "max_timestamp", missing=-1)[rows]
    for place in np.flatnonzero(latest != slots.values[held]).tolist():
        entry = _entry(slots, int(held[place]))
        found = f"{entry}; the latest time in the batch with that offset is {_time(int(latest[place]))}"
        yield _contradiction(slots, "another time", int(held[place]), found)


def _markers(slots: Slots, held: Ints, rows: Ints, headers: pa.RecordBatch) -> Iterator[ContradictedEntry]:
    marked = (column(headers, "attributes", missing=0)[rows] & _MARKER) == _MARKER
    own = column(headers, "producer_id", missing=-1)[rows] == slots.values[held]
    for place in np.flatnonzero(~(marked & own)).tolist():
        found = f"{_entry(slots, int(held[place]))}; the log has no marker of that producer there"
        yield _contradiction(slots, "no marker", int(held[place]), found)


def _beginnings(
    slots: Slots, begins: Ints, base: Ints, last: Ints, headers: pa.RecordBatch
) -> Iterator[ContradictedEntry]:
    """Transactions that do not begin where their entries say, as far as these batches hold those places."""
    rows = np.searchsorted(last, begins)
    held = np.flatnonzero(rows < len(last))
    held = held[base[rows[held]] <= begins[held]]
    at = rows[held]
    written = (column(headers, "attributes", missing=0)[at] & _MARKER) == _TRANSACTIONAL
    own = column(headers, "producer_id", missing=-1)[at] == slots.values[held]
    for place in held[~(written & own & (base[at] == begins[held]))].tolist():
        said = f"and that the transaction began at offset {int(begins[place])}"
        found = f"{_entry(slots, place)}, {said}; in the log it does not begin at offset {int(begins[place])}"
        flaw: IndexFlaw = "begins at its marker" if begins[place] == slots.offsets[place] else "not its beginning"
        yield _contradiction(slots, flaw, place, found)


def _entry(slots: Slots, row: int) -> str:
    """What an entry says."""
    offset, value = int(slots.offsets[row]), int(slots.values[row])
    says = {
        "offset": f"leads to byte {value}",
        "time": f"says that the latest time up to there is {_time(value)}",
        "transaction": f"says that producer {value}'s transaction was aborted there",
    }
    return f"the entry for offset {offset} {says[slots.kind]}"


def _brief(slots: Slots, row: int) -> str:
    offset, value = int(slots.offsets[row]), int(slots.values[row])
    if slots.kind == "offset":
        return f"offset {offset} at byte {value}"
    return f"time {_time(value)} at offset {offset}" if slots.kind == "time" else f"producer {value} at offset {offset}"


def _time(milliseconds: int) -> str:
    """As people read it; a number that no calendar knows as it stands."""
    if not 0 <= milliseconds < _LAST_MOMENT:
        return str(milliseconds)
    day = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{day:%Y-%m-%d %H:%M:%S}.{milliseconds % 1000:03} UTC"


def _contradiction(slots: Slots, flaw: IndexFlaw, row: int, found: str) -> ContradictedEntry:
    return ContradictedEntry(flaw=flaw, place=int(slots.places[row]), offset=int(slots.offsets[row]), found=found)


def column(headers: pa.RecordBatch, name: str, missing: int = 0) -> Ints:
    """A column of headers as numbers."""
    held = headers.column(name)
    whole = held.cast(pa.int64()) if pa.types.is_boolean(held.type) else held
    values = whole.fill_null(missing) if whole.null_count else whole
    numbers: Ints = values.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers
