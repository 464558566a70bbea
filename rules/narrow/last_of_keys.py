"""Records to the last one of each key: a log as a reader of committed records sees it, however it was compacted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl
from msgspec import Struct

from parsers.provenance import Span

ROWS_HELD: Final = 1 << 20
"""Rows that wait until the last of each key is taken of them."""
KEYS_KEPT: Final = 20_000_000
"""Different keys of one replica; beyond them its keys are not compared."""
_SCHEMA: Final = {"key": pl.Int64, "offset": pl.Int64, "deletes": pl.Boolean, "place": pl.Int64}

KeyRow = tuple[int, int, bool]
"""A record: the hash of its key, its offset, and whether it deletes the key."""


class LastRecords(Struct, frozen=True, kw_only=True):
    """The last committed record of each key of a replica, from an offset on."""

    frame: pl.DataFrame
    waiting: pl.DataFrame
    """Keys of records whose transactions have no end in the log."""
    spans: Sequence[Span]
    """Batches by the places that the rows name."""
    last_hole: int
    """The highest offset below the log's end that holds nothing; -1 for none."""
    first_keyless: int | None = None
    """The first record without a key, which a cleaner would have taken; null for none."""
    whole: bool
    """Whether all was read and decoded, and all keys were kept."""


class KeyLedger:
    """The last record of each key while a log is walked in physical order; a transaction's records wait for its end."""

    def __init__(self, start_offset: int) -> None:
        self._next = start_offset
        self._spans: list[Span] = []
        self._rows: list[tuple[int, int, bool, int]] = []
        self._waiting: dict[int, list[tuple[int, int, bool, int]]] = {}
        self._last = pl.DataFrame(schema=_SCHEMA)
        self._hole = -1
        self._keyless: int | None = None
        self._whole = True

    def batch(self, span: Span, rows: Iterable[KeyRow], *, producer: int | None) -> None:
        """A batch of data; `producer` where it is part of a transaction."""
        place = len(self._spans)
        self._spans.append(span)
        kept = self._rows if producer is None else self._waiting.setdefault(producer, [])
        kept.extend((key, offset, deletes, place) for key, offset, deletes in rows)
        if len(self._rows) >= ROWS_HELD:
            self._take()

    def keyless(self, offsets: Iterable[int]) -> None:
        """Records of a batch of data that have no key."""
        if self._keyless is None:
            self._keyless = min(offsets, default=None)

    def marker(self, producer: int, *, commits: bool) -> None:
        """The end of a producer's transaction."""
        ended = self._waiting.pop(producer, [])
        if commits:
            self._rows.extend(ended)

    def held(self, base: int, end: int, offsets: Sequence[int]) -> None:
        """The offsets that an entry from `base` to `end` holds; they ascend."""
        if base > self._next:
            self._hole = base - 1
        if len(offsets) < end - base:
            present = set(offsets)
            self._hole = next((offset for offset in range(end - 1, base - 1, -1) if offset not in present), self._hole)
        self._next = max(self._next, end)

    def unread(self) -> None:
        """Something in the log could not be read: what it held is not known."""
        self._whole = False

    def close(self, end_offset: int) -> LastRecords:
        """The last records, of a log that goes on to an offset."""
        self._take()
        hole = end_offset - 1 if end_offset > self._next else self._hole
        keys = {key for rows in self._waiting.values() for key, *_ in rows}
        waiting = pl.DataFrame({"key": list(keys)}, schema={"key": pl.Int64})
        return LastRecords(
            frame=self._last, waiting=waiting, spans=self._spans, last_hole=hole, whole=self._whole,
            first_keyless=self._keyless,
        )  # fmt: skip

    def _take(self) -> None:
        """A later record of a key replaces an earlier one; what a transaction commits late may be the earlier."""
        fresh = pl.DataFrame(self._rows, schema=_SCHEMA, orient="row")
        self._rows = []
        self._last = pl.concat([self._last, fresh]).sort("offset").unique("key", keep="last", maintain_order=True)
        if self._last.height > KEYS_KEPT:
            self._whole = False
            self._last = self._last.clear()
