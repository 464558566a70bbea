"""Fetches as rows: what was said by name, and what incremental sessions left unsaid, a stretch of lines at a time.

A fetch costs what it names. A partition that rests in its session is told once with a count, not once a fetch: that is
what makes a trace small. Everything else is arithmetic on columns: of a partition that is not named the last word
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from parsers.request_log.fetch_columns import (
    ANSWER_IMPLIED,
    ANSWERED,
    ASKED,
    BEGUN_UNSEEN,
    IMPLIED,
    STALE,
    UNCHANGED,
    Integers,
)
from parsers.request_log.known import (
    Calls,
    Kept,
    KeyedSide,
    Known,
    Touched,
    Words,
    between,
    kept_by,
    known_to,
    leave,
    touched_by,
    words_of,
)
from parsers.request_log.resting import ANSWERED_ONLY, RESTING, RowsToBe, resting, rests_of, turns_of
from parsers.request_log.session_entries import Entries

_TOGETHER: Final = 1 << 17
"""Rows of resting partitions that are made at once."""
_AS_BEFORE: Final = ("high_watermark", "leader_log_start_offset")
_NONE: Final = ("error_code", "records_size")


def fold(
    calls: Calls,
    asked: KeyedSide,
    forgotten: KeyedSide,
    answered: KeyedSide,
    entries: Entries,
    ranks: Integers | None = None,
) -> Iterator[dict[str, Integers]]:
    """The rows of some lines, in order; the entries are as the lines leave them.

    Where `ranks` of partitions are given, one that rests has a row for each fetch, in that order.
    """
    touched = touched_by(asked, forgotten, answered)
    kept = kept_by(calls, touched, entries)
    words = words_of(calls, asked, answered, entries)
    known = known_to(kept, words, (len(asked.line), len(answered.line)))
    turns = turns_of(calls, runs=ranks is None)
    rests = rests_of(kept, known, turns, entries, (len(asked.line), len(answered.line)))
    lines = len(calls.life)
    if int(rests.pieces.sum()) > _TOGETHER and lines > 1:
        for start, end in ((0, lines // 2), (lines // 2, lines)):
            own = (between(asked, start, end), between(forgotten, start, end), between(answered, start, end))
            for rows in fold(calls.between(start, end), *own, entries, ranks):
                last = np.where(rows["last"] < 0, -1, rows["last"] + start)
                yield rows | {"line": rows["line"] + start, "last": last}
        return
    parts = (_named(calls, touched, kept, known, words), resting(calls, turns, rests, words, ranks))
    rows = _columns(RowsToBe(*map(np.concatenate, zip(*parts, strict=True))), words)
    leave(entries, kept, known, words)
    yield rows


def _named(calls: Calls, touched: Touched, kept: Kept, known: Known, words: Words) -> RowsToBe:
    """Partitions that a side names, and what their session knows of the other side."""
    asked, answered = np.full((2, len(touched.line)), -1)
    asked[kept.rows], answered[kept.rows] = known.asked, known.answered
    rows = np.flatnonzero((touched.asked >= 0) | (touched.answered >= 0))
    line, key, own, given = (column[rows] for column in touched[:4])
    session = (calls.life[line] >= 0) & ~calls.opens[line]
    asked, answered = np.where(session, asked[rows], -1), np.where(session, answered[rows], -1)
    unasked, ungiven = own < 0, given < 0
    doubted = calls.doubted[line]
    stale = (unasked & (asked != -1) & (doubted > words.asked_at[asked])) | (
        ungiven & (answered != -1) & (doubted > words.answered_at[answered])
    )
    flags = session * (
        unasked * IMPLIED + (ungiven & calls.answered[line]) * ANSWER_IMPLIED + stale * STALE
        + calls.unseen[line] * BEGUN_UNSEEN + ungiven * UNCHANGED
    )  # fmt: skip
    return RowsToBe(
        line, np.full(len(rows), -1), np.ones(len(rows), dtype=np.int64), calls.waited[line].astype(np.int64), key,
        np.where(unasked, asked, own), np.where(ungiven, answered, given), flags,
        np.where(unasked, ANSWERED_ONLY + given, own),
    )  # fmt: skip


def _columns(part: RowsToBe, words: Words) -> dict[str, Integers]:
    order = np.argsort(part.line * (RESTING << 1) + part.order, kind="stable")
    part = RowsToBe(*(column[order] for column in part))
    asked = {name: words.asked[:, number][part.asked] for number, name in enumerate(ASKED)}
    # An answer that leaves a partition out says: no error, no records, watermark and log start as before.
    unsaid = part.flags & UNCHANGED != 0
    known = part.flags & ANSWER_IMPLIED != 0
    said, as_before = np.where(unsaid, -1, part.answered), np.where(unsaid & ~known, -1, part.answered)
    answered = {
        name: words.answered[:, number][as_before if name in _AS_BEFORE else said]
        for number, name in enumerate(ANSWERED)
    }
    for name in _NONE:
        answered[name][unsaid & known] = 0
    return {
        "line": part.line, "last": part.last, "times": part.times, "waits": part.waits, "key": part.key,
        "flags": part.flags, **asked, **answered,
    }  # fmt: skip
