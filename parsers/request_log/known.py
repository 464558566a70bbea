"""What lines say of partitions, and what sessions know of them behind each line: the last word, unless forgotten."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from parsers.request_log.fetch_columns import ANSWERED, ASKED, Integers
from parsers.request_log.session_entries import KEYS, Entries, Flags
from parsers.request_log.session_lives import MOMENTS
from parsers.request_log.typed import NULL

ERROR: Final = ANSWERED.index("error_code")


class KeyedSide(NamedTuple):
    """Partitions that one side names: by line, by the partition's number, and what is said of each."""

    line: Integers
    key: Integers
    values: Integers


def between(side: KeyedSide, start: int, end: int) -> KeyedSide:
    """What one side names in some of the lines."""
    first, last = np.searchsorted(side.line, [start, end])
    return KeyedSide(side.line[first:last] - start, side.key[first:last], side.values[first:last])


class Calls(NamedTuple):
    """What became of each line's session, and who asks."""

    life: Integers
    """Its session's number; -1 where it has none."""
    opens: Flags
    doubted: Integers
    unseen: Flags
    inherited: Flags
    answered: Flags
    waited: Flags
    asker: Integers
    """Who asks, and how: where a session's next fetch differs in it, everything is told again."""
    began: int
    """The moment at which the first line begins."""

    def between(self, start: int, end: int) -> Calls:
        """The same of some of the lines."""
        columns = {name: column[start:end] for name, column in self._asdict().items() if name != "began"}
        return Calls(**columns, began=self.began + MOMENTS * start)


class Words(NamedTuple):
    """What is known of partitions: what lines say, then what entries held before; the last row says nothing."""

    asked: Integers
    asked_at: Integers
    answered: Integers
    answered_at: Integers


class Touched(NamedTuple):
    """Partitions that lines name, a row for each line and partition: what each side says, by its place in `Words`."""

    line: Integers
    key: Integers
    asked: Integers
    answered: Integers
    forgotten: Flags


def touched_by(asked: KeyedSide, forgotten: KeyedSide, answered: KeyedSide) -> Touched:
    """A row for every partition that a line names; of two words of one side about it the last counts."""
    named = np.concatenate([side.line * KEYS + side.key for side in (asked, answered, forgotten)])
    unique, row = np.unique(named, return_inverse=True)
    own = [np.full(len(unique), -1), np.full(len(unique), -1)]
    first, forgets = 0, np.zeros(len(unique), dtype=np.bool_)
    for column, side in zip(own, (asked, answered), strict=True):
        column[row[first : first + len(side.line)]] = np.arange(len(side.line))
        first += len(side.line)
    forgets[row[first:]] = True
    return Touched(unique // KEYS, unique % KEYS, own[0], own[1], forgets)


def words_of(calls: Calls, asked: KeyedSide, answered: KeyedSide, entries: Entries) -> Words:
    """All that is known, by its place."""
    said = calls.began + 1
    return Words(
        np.concatenate([asked.values, entries.asked, np.full((1, len(ASKED)), NULL)]),
        np.concatenate([said + MOMENTS * asked.line, entries.asked_at, [NULL]]),
        np.concatenate([answered.values, entries.answered, np.full((1, len(ANSWERED)), NULL)]),
        np.concatenate([said + MOMENTS * answered.line, entries.answered_at, [NULL]]),
    )


class Kept(NamedTuple):
    """Rows of sessions' partitions, in the order of sessions, partitions and lines."""

    rows: Integers
    line: Integers
    asked: Integers
    answered: Integers
    forgotten: Flags
    begins: Flags
    """Whether a row is the first of its partition, and `ends` the last."""
    ends: Flags
    group: Integers
    places: Integers
    """Where the entry of each group stands."""


def kept_by(calls: Calls, touched: Touched, entries: Entries) -> Kept:
    """The rows that are of sessions, whose entries are made where there are none."""
    life = calls.life[touched.line]
    code = life * KEYS + touched.key
    rows = np.argsort(code, kind="stable")[int((life < 0).sum()) :]
    code = code[rows]
    begins = np.ones(len(rows), dtype=np.bool_)
    begins[1:] = code[1:] != code[:-1]
    line = touched.line[rows]
    return Kept(
        rows, line, touched.asked[rows], touched.answered[rows], touched.forgotten[rows], begins,
        np.append(begins[1:], np.ones(min(len(rows), 1), dtype=np.bool_)), np.cumsum(begins) - 1,
        entries.places(code[begins], calls.inherited[line[begins]]),
    )  # fmt: skip


class Known(NamedTuple):
    """What is known of a partition behind each row, by its place in `Words`; and if it was told among these lines."""

    asked: Integers
    answered: Integers
    asked_here: Flags
    answered_here: Flags


def known_to(kept: Kept, words: Words, sides: tuple[int, int]) -> Known:
    """The last word about each partition."""
    place = np.arange(len(kept.rows))
    first = np.maximum.accumulate(np.where(kept.begins, place, 0))
    forgot = np.maximum.accumulate(np.where(kept.forgotten, place, -1))
    words_at, here = list[Integers](), list[Flags]()
    for own, at, size in ((kept.asked, words.asked_at, sides[0]), (kept.answered, words.answered_at, sides[1])):
        last = np.maximum.accumulate(np.where(own >= 0, place, -1))
        carried = size + kept.places[kept.group]
        before = np.where((forgot >= first) | (at[carried] == NULL), -1, carried)
        word = np.where(last >= first, np.where(last > np.where(forgot >= first, forgot, -1), own[last], -1), before)
        words_at.append(word)
        here.append((last >= first) | (forgot >= first))
    # An error is not kept: the broker states the partition again as soon as it can.
    error = words.answered[words_at[1], ERROR]
    words_at[1] = np.where((error == NULL) | (error == 0), words_at[1], -1)
    return Known(words_at[0], words_at[1], here[0], here[1])


def leave(entries: Entries, kept: Kept, known: Known, words: Words) -> None:
    """The entries as the last row of each partition leaves them."""
    last, places = np.flatnonzero(kept.ends), kept.places
    asked, answered = known.asked[last], known.answered[last]
    entries.asked[places], entries.asked_at[places] = words.asked[asked], words.asked_at[asked]
    entries.answered[places], entries.answered_at[places] = words.answered[answered], words.answered_at[answered]
    entries.present[places] = ~kept.forgotten[last]
    entries.asked_before[places] &= ~known.asked_here[last]
    entries.answered_before[places] &= ~known.answered_here[last]
