"""The arrays of a fold: as large as the next lines need, and the same sessions as `sessions` knows as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, TypeVar

import numpy as np

from parsers.request_log import columns as c
from parsers.request_log import tables as t
from parsers.request_log.call import Answered, Asked, PartitionKey, SessionKey
from parsers.request_log.columns import State
from parsers.request_log.grammar import NULL, Bytes, Integers
from parsers.request_log.sessions import Base, Cached, Session, SessionState

Reindex = Callable[[Bytes, State], None]

_BASES: Final = (Base.FULL, Base.INHERITED, Base.MISSING, Base.CLOSED)
_ROWS: Final = 1 << 14
"""Rows of fetches that are gathered before they are handed over."""
_PRODUCES: Final = 1 << 13
_GAPS: Final = 1 << 10
_WORN: Final = 1 << 16
"""Texts, or rows of sessions that have ended, from which on the arrays are made anew."""

# Each table, what says how many rows it has, its index, and the width of a row.
_TABLES: Final = (
    (c.SPANS, c.TEXTS, c.TEXT_INDEX, c.TEXT_WIDTH),
    (c.KEY_ROWS, c.KEYS, c.KEY_INDEX, c.KEY_WIDTH),
    (c.SLOT_ROWS, c.SLOTS, c.SLOT_INDEX, c.SLOT_WIDTH),
    (c.ENTRY_ROWS, c.ENTRIES, c.ENTRY_INDEX, c.ENTRY_WIDTH),
)
_HANDED: Final = (
    (c.FETCH_ROWS, c.FETCHES, c.FETCH_WIDTH),
    (c.PRODUCE_ROWS, c.PRODUCES, c.PRODUCE_WIDTH),
    (c.GAP_ROWS, c.GAPS, c.GAP_WIDTH),
)


class Arrays:
    """Owns the arrays; the compiled loops write into them."""

    __slots__ = ("_decoded", "_reindex", "letters", "state")

    def __init__(self, reindex: Reindex, before: SessionState, *, runs: bool) -> None:
        self._reindex = reindex
        self._decoded: list[str] = []
        sizes = {c.SPANS: 256, c.KEY_ROWS: 256, c.SLOT_ROWS: 64, c.ENTRY_ROWS: 256}
        arrays = [np.empty(0, dtype=np.int64)] * c.ARRAYS
        for rows, _, index, width in _TABLES:
            arrays[rows] = np.empty(sizes[rows] * width, dtype=np.int64)
            arrays[index] = np.full(2 * sizes[rows], -1, dtype=np.int64)
        for (rows, _, width), size in zip(_HANDED, (_ROWS, _PRODUCES, _GAPS), strict=True):
            arrays[rows] = np.empty(size * width, dtype=np.int64)
        arrays[c.NUMBERS] = np.zeros(c.COUNTS, dtype=np.int64)
        # Python's own hash differs from run to run: nobody can write names that all fall on one place.
        arrays[c.NUMBERS][[c.SEED, c.RUNS]] = hash("texts and partitions"), runs
        self.state: State = tuple(arrays)
        self.letters: Bytes = np.empty(1 << 16, dtype=np.uint8)
        self._restore(before)

    @property
    def _counts(self) -> Integers:
        return self.state[c.NUMBERS]

    def is_worn(self) -> bool:
        """Whether most of what is held is of no use any more."""
        counts = self._counts
        garbage = int(counts[c.GARBAGE])
        return int(counts[c.TEXTS]) > _WORN or (garbage > _WORN and 2 * garbage > int(counts[c.ENTRIES]))

    def make_room(self, out: Integers, lines: int, size: int) -> None:
        """Room for whatever the lines of a scan of `size` bytes may name."""
        topics, asked, forgotten, answered = (int(number) for number in out[: t.BEFORE_AT])
        named = asked + forgotten + answered
        needed = {c.SPANS: 2 * topics + 3 * lines, c.KEY_ROWS: named, c.SLOT_ROWS: 3 * lines, c.ENTRY_ROWS: named}
        self._grow(needed, size)

    def _grow(self, needed: dict[int, int], letters: int) -> None:
        arrays, counts, grown = list(self.state), self._counts, False
        used = int(counts[c.LETTERS])
        if used + letters > len(self.letters):
            self.letters = _longer(self.letters, used, used + letters)
        for rows, count, index, width in _TABLES:
            have = int(counts[count])
            if have + needed[rows] > len(arrays[rows]) // width:
                arrays[rows] = _longer(arrays[rows], have * width, (have + needed[rows]) * width)
                size = 1 << (2 * len(arrays[rows]) // width - 1).bit_length()
                arrays[index] = np.empty(size, dtype=np.int64)
                grown = True
        if grown:
            self.state = tuple(arrays)
            self._reindex(self.letters, self.state)

    def widen_rows(self) -> None:
        """A line has more rows than there is room for."""
        arrays = list(self.state)
        for rows, _, width in _HANDED:
            arrays[rows] = np.empty(2 * len(arrays[rows]) // width * width, dtype=np.int64)
        self.state = tuple(arrays)

    def taken(self) -> tuple[Integers, Integers, Integers]:
        """The rows so far, which are the caller's from now on."""
        counts = self._counts
        fetches, produces, gaps = (
            self.state[rows][: int(counts[count]) * width].reshape(-1, width).copy() for rows, count, width in _HANDED
        )
        counts[c.TAKEN] += counts[c.FETCHES]
        counts[[c.FETCHES, c.PRODUCES, c.GAPS]] = 0
        return fetches, produces, gaps

    def texts(self) -> Sequence[str]:
        """All texts by their codes."""
        spans = self.state[c.SPANS][2 * len(self._decoded) : 2 * int(self._counts[c.TEXTS])].tolist()
        if spans:
            letters = self.letters[: int(self._counts[c.LETTERS])].tobytes()
            self._decoded.extend(
                letters[start:end].decode() for start, end in zip(spans[::2], spans[1::2], strict=True)
            )
        return self._decoded

    def sessions(self) -> SessionState:
        """What has become of every session, as objects."""
        slots, texts = self.state[c.SLOT_ROWS].reshape(-1, c.SLOT_WIDTH), self.texts()
        newest = sorted(number for number in self.state[c.SLOT_INDEX].tolist() if number >= 0)
        found: dict[SessionKey, Session] = {}
        for number in newest:
            endpoint, session, third, base, first, following, broken, entry = slots[number, :8].tolist()
            if third != 0:
                continue
            if base == c.CLOSED:
                found[texts[endpoint], session] = Session(base=Base.CLOSED)
                continue
            found[texts[endpoint], session] = Session(
                base=_BASES[base],
                first_epoch=None if first == NULL else first,
                next_epoch=following,
                broken=bool(broken),
                partitions=dict(self._partitions(entry, texts, inherits=base == c.INHERITED)),
            )
        return SessionState(sessions=found)

    def _partitions(
        self, entry: int, texts: Sequence[str], *, inherits: bool
    ) -> Iterator[tuple[PartitionKey, Cached | None]]:
        entries, keys = self.state[c.ENTRY_ROWS], self.state[c.KEY_ROWS]
        while entry >= 0:
            row = entries[entry : entry + c.ENTRY_WIDTH].tolist()
            topic, topic_id, partition = keys[row[1] : row[1] + 3].tolist()
            key = PartitionKey(texts[topic], texts[topic_id], partition)
            if row[c.ENTRY_PRESENT]:
                yield key, _cached(key, row)
            elif inherits:
                yield key, None
            entry = row[c.ENTRY_NEXT]

    def _restore(self, before: SessionState) -> None:
        texts: dict[str, int] = {"": 0}
        keys: dict[tuple[int, int, int], int] = {}
        slots: list[list[int]] = []
        entries: list[list[int]] = []
        for (endpoint, number), session in before.sessions.items():
            entry, slot = -1, len(slots) * c.SLOT_WIDTH
            for key, cached in session.partitions.items():
                codes = tuple(texts.setdefault(text, len(texts)) for text in (key.topic, key.topic_id))
                place = keys.setdefault((*codes, key.partition), len(keys)) * c.KEY_WIDTH  # type: ignore[arg-type]
                entries.append(_entry_row(slot, place, entry, cached))
                entry = (len(entries) - 1) * c.ENTRY_WIDTH
            code = texts.setdefault(endpoint, len(texts))
            slots.append(_slot_row(code, number, session, entry))
        written = b"".join(text.encode() for text in texts)
        self._grow(
            {c.SPANS: len(texts), c.KEY_ROWS: len(keys), c.SLOT_ROWS: len(slots), c.ENTRY_ROWS: len(entries)},
            len(written),
        )
        self.letters[: len(written)] = np.frombuffer(written, dtype=np.uint8)
        ends = accumulate((len(text.encode()) for text in texts), initial=0)
        named = [[*key, *[-1] * (c.KEY_WIDTH - 3)] for key in keys]
        spans = pairwise(ends)
        tables: tuple[Iterable[Sequence[int]], ...] = (spans, named, slots, entries)
        for place, rows in zip((c.SPANS, c.KEY_ROWS, c.SLOT_ROWS, c.ENTRY_ROWS), tables, strict=True):
            numbers = [number for row in rows for number in row]
            self.state[place][: len(numbers)] = numbers
        self._counts[[c.TEXTS, c.KEYS, c.SLOTS, c.ENTRIES]] = len(texts), len(keys), len(slots), len(entries)
        self._counts[c.LETTERS] = len(written)
        self._reindex(self.letters, self.state)


_Array = TypeVar("_Array", Integers, Bytes)


def _longer(array: _Array, used: int, needed: int) -> _Array:
    longer: _Array = np.empty(2 * needed, dtype=array.dtype)
    longer[:used] = array[:used]
    return longer


def _told(values: Iterable[int]) -> Iterator[int | None]:
    return (None if value == NULL else value for value in values)


def _cached(key: PartitionKey, row: Sequence[int]) -> Cached:
    asked = Asked(key, *_told(row[c.ENTRY_ASKED_AT : c.ENTRY_ANSWERED_AT])) if row[c.ENTRY_ASKED] else None
    answered = Answered(key, *_told(row[c.ENTRY_ANSWERED_AT :])) if row[c.ENTRY_ANSWERED] else None
    return Cached(
        asked, bool(row[c.ENTRY_ASKED_STALE]), bool(row[c.ENTRY_ASKED_BEFORE]),
        answered, bool(row[c.ENTRY_ANSWERED_STALE]), bool(row[c.ENTRY_ANSWERED_BEFORE]),
    )  # fmt: skip


def _slot_row(endpoint: int, number: int, session: Session, entry: int) -> list[int]:
    row = [0] * c.SLOT_WIDTH
    row[:3] = endpoint, number, 0
    row[c.SLOT_BASE] = _BASES.index(session.base)
    row[c.SLOT_FIRST] = NULL if session.first_epoch is None else session.first_epoch
    row[c.SLOT_NEXT], row[c.SLOT_BROKEN] = session.next_epoch, session.broken
    row[c.SLOT_ENTRIES], row[c.SLOT_FRESH], row[c.SLOT_SIZE] = entry, entry, len(session.partitions)
    row[c.SLOT_LAST], row[c.SLOT_LAST_TEXT] = NULL, -1
    row[c.SLOT_KNOWN], row[c.SLOT_REPLICA], row[c.SLOT_SURE] = 1, NULL, 1
    return row


def _entry_row(slot: int, key: int, following: int, cached: Cached | None) -> list[int]:
    row = [0] * c.ENTRY_WIDTH
    row[:3] = slot, key, 0
    row[c.ENTRY_NEXT], row[c.ENTRY_NEXT_FRESH], row[c.ENTRY_IS_FRESH] = following, following, 1
    row[c.ENTRY_REST], row[c.ENTRY_LAST_ROW] = -1, -1
    if cached is None:
        return row
    row[c.ENTRY_PRESENT] = 1
    row[c.ENTRY_ASKED : c.ENTRY_LAST_ROW] = (
        cached.asked is not None, cached.asked_stale, cached.asked_before,
        cached.answered is not None, cached.answered_stale, cached.answered_before,
    )  # fmt: skip
    for at, told in ((c.ENTRY_ASKED_AT, cached.asked), (c.ENTRY_ANSWERED_AT, cached.answered)):
        values = [] if told is None else [NULL if value is None else value for value in told[1:]]
        row[at : at + len(values)] = values
    return row
