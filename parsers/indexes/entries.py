"""The entries of offset, time and transaction indexes as rows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Final

from parsers.provenance import FileKind, Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import IndexEntry, IndexKind, Refusal

ENTRY_LIMIT: Final = 2_000_000
"""Entries read of one index: more than the 10 MiB that Kafka gives an index by default can hold."""
REFUSAL_LIMIT: Final = 1_000

INDEX_KINDS: Final[dict[FileKind, IndexKind]] = {
    "offset-index": "offset",
    "time-index": "time",
    "transaction-index": "transaction",
}
ENTRIES: Final[dict[IndexKind, struct.Struct]] = {
    "offset": struct.Struct(">ii"),
    "time": struct.Struct(">qi"),
    "transaction": struct.Struct(">hqqqq"),
}
_INT64_MAX: Final = 2**63 - 1


def read_index(data: bytes, origin: Origin, base_offset: int, kind: IndexKind) -> Parsed[IndexEntry]:
    """The entries of an index of any kind."""
    return _READERS[kind](data, origin, base_offset)


def read_offset_index(data: bytes, origin: Origin, base_offset: int) -> Parsed[IndexEntry]:
    """The entries of an offset index up to its zero tail: absolute offset and byte position in the segment."""

    def entry_of(fields: tuple[int, ...], start: int) -> IndexEntry | None:
        relative, position = fields
        offset = base_offset + relative
        if relative < 0 or position < 0 or offset > _INT64_MAX:
            return None
        return _entry(origin, "offset", base_offset, offset, start, position=position)

    return _read_slots(data, origin, "offset", entry_of, expected="a relative offset and a position, neither negative")


def read_time_index(data: bytes, origin: Origin, base_offset: int) -> Parsed[IndexEntry]:
    """The entries of a time index up to its zero tail: timestamp and absolute offset."""

    def entry_of(fields: tuple[int, ...], start: int) -> IndexEntry | None:
        timestamp, relative = fields
        offset = base_offset + relative
        if relative < 0 or offset > _INT64_MAX:
            return None
        return _entry(origin, "time", base_offset, offset, start, timestamp=timestamp)

    return _read_slots(
        data, origin, "time", entry_of, expected="a timestamp and a relative offset that is not negative"
    )


def read_transaction_index(data: bytes, origin: Origin, base_offset: int) -> Parsed[IndexEntry]:
    """The aborted transactions of a segment, which no broker preallocates."""
    width = ENTRIES["transaction"].size

    def entry_of(fields: tuple[int, ...], start: int) -> IndexEntry | None:
        version, producer_id, first_offset, last_offset, last_stable_offset = fields
        if version != 0:
            return None
        return _entry(
            origin, "transaction", base_offset, last_offset, start,
            producer_id=producer_id, first_offset=first_offset, last_stable_offset=last_stable_offset,
        )  # fmt: skip

    end = min(len(data) // width, ENTRY_LIMIT) * width
    parsed = _rows(data, end, origin, "transaction", entry_of, expected="an entry of version 0")
    return Parsed(rows=parsed.rows, refusals=parsed.refusals + refused_ends(data, origin, "transaction"))


def refused_ends(data: bytes, origin: Origin, kind: IndexKind) -> tuple[Refusal, ...]:
    """What is refused of an index besides entries: more than are read, and what is behind them and is no zero tail."""
    width = ENTRIES[kind].size
    used = len(data) // width * width if kind == "transaction" else used_size(data, kind)
    rest = _refuse_rest(min(used, ENTRY_LIMIT * width), used, origin)
    return rest + _refuse_tail(data, used, width, origin)


def used_size(data: bytes, kind: IndexKind) -> int:
    """Bytes of an offset or time index that hold entries; behind them is the zero tail of a preallocated file.

    A zero entry is one only in the first slot, and there only where another follows or where nothing does:
    relative offset 0 stands in no later slot, so the first slot that says so ends the entries.
    """
    width = ENTRIES[kind].size
    whole = len(data) // width * width
    filled = len(data.rstrip(b"\0"))
    if filled == 0:
        return whole if whole == width else 0
    # The last slot that is not all zeros; its own trailing zero bytes belong to it.
    used = min(-(-filled // width) * width, whole)
    if kind == "time":
        zero = _aligned_find(data, bytes(width), width, used, width)
    else:
        zero = _aligned_find(data, bytes(4), width, used, width)
    return used if zero < 0 else zero


def _aligned_find(data: bytes, pattern: bytes, start: int, end: int, width: int) -> int:
    """The first slot in `[start, end)` that begins with the pattern; -1 for none."""
    place = data.find(pattern, start, end)
    while place >= 0 and place % width:
        place = data.find(pattern, place + width - place % width, end)
    return place


def _read_slots(
    data: bytes,
    origin: Origin,
    kind: IndexKind,
    entry_of: Callable[[tuple[int, ...], int], IndexEntry | None],
    *,
    expected: str,
) -> Parsed[IndexEntry]:
    width = ENTRIES[kind].size
    used = used_size(data, kind)
    end = min(used, ENTRY_LIMIT * width)
    parsed = _rows(data, end, origin, kind, entry_of, expected=expected)
    return Parsed(rows=parsed.rows, refusals=parsed.refusals + refused_ends(data, origin, kind))


def _rows(
    data: bytes,
    end: int,
    origin: Origin,
    kind: IndexKind,
    entry_of: Callable[[tuple[int, ...], int], IndexEntry | None],
    *,
    expected: str,
) -> Parsed[IndexEntry]:
    layout = ENTRIES[kind]
    slots: Iterable[tuple[int, ...]] = layout.iter_unpack(memoryview(data)[:end])
    rows: list[IndexEntry] = []
    refusals: list[Refusal] = []
    for start, fields in zip(range(0, end, layout.size), slots, strict=True):
        row = entry_of(fields, start)
        if row is not None:
            rows.append(row)
            continue
        stop = start + layout.size if len(refusals) < REFUSAL_LIMIT else end
        refusals.append(
            refuse(origin, "damage", start, stop, expected=expected, found=data[start : start + layout.size])
        )
        if stop == end:
            break
    return Parsed(rows=tuple(rows), refusals=tuple(refusals))


def _refuse_rest(end: int, used: int, origin: Origin) -> tuple[Refusal, ...]:
    if end >= used:
        return ()
    expected = f"at most {ENTRY_LIMIT} entries"
    return (refuse(origin, "too_large", end, used, expected=expected, found="more entries, left unread"),)


def _refuse_tail(data: bytes, used: int, width: int, origin: Origin) -> tuple[Refusal, ...]:
    """Bytes behind the entries that are no zero tail: entries behind a zero slot, or part of an entry, be it of zeros.

    Brokers preallocate whole entries, and refuse an offset or time index of any other length.
    """
    whole = len(data) // width * width
    filled = min(len(data.rstrip(b"\0")), whole)
    refusals: list[Refusal] = []
    if used < filled:
        found = data[used:filled][:80]
        refusals.append(refuse(origin, "damage", used, filled, expected="zeros behind a zero entry", found=found))
    if len(data) > whole:
        expected = f"an entry of {width} bytes"
        refusals.append(refuse(origin, "malformed", whole, len(data), expected=expected, found=data[whole:]))
    return tuple(refusals)


def _entry(
    origin: Origin,
    kind: IndexKind,
    base_offset: int,
    offset: int,
    start: int,
    **fields: int,
) -> IndexEntry:
    return IndexEntry(
        **origin.columns,
        kind=kind,
        segment_base_offset=base_offset,
        offset=offset,
        position=fields.get("position"),
        timestamp=fields.get("timestamp"),
        producer_id=fields.get("producer_id"),
        first_offset=fields.get("first_offset"),
        last_stable_offset=fields.get("last_stable_offset"),
        contradiction=None,
        span_start=start,
        span_end=start + ENTRIES[kind].size,
    )


_READERS: Final[dict[IndexKind, Callable[[bytes, Origin, int], Parsed[IndexEntry]]]] = {
    "offset": read_offset_index,
    "time": read_time_index,
    "transaction": read_transaction_index,
}
