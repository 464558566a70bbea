"""The fold over scanned lines that numba turns into machine code: sessions rebuilt, and rows of fetches and produces.

This module imports numba; only `compiled` loads it, and only for logs that are worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from numba import types

from parsers.machine_code import compiled, is_kept, keep_compiled
from parsers.request_log import columns as c
from parsers.request_log import grammar as g
from parsers.request_log import tables as t
from parsers.request_log.columns import State
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_names import code_of, index_rows, index_texts, name_topics
from parsers.request_log.machine_rows import (
    copied,
    end_run,
    head_of_fetch,
    head_of_line,
    release,
    tell_last,
    waited,
)
from parsers.request_log.machine_sessions import (
    apply,
    close,
    doubt,
    number_keys,
    open_slot,
    slot_at,
    wake,
)
from parsers.request_log.machine_told import Ranges, full_rows, produce_rows, session_rows
from parsers.request_log.machine_values import COMPILED

LAST_EPOCH: Final = (1 << 31) - 1
_OF_REPLICA: Final = 1 << 33
"""Third column of what is no session but all full fetches of a replica."""


@compiled
def _ranges(number: int, line: int, out: Integers) -> Ranges:
    """Where the partitions that a line asks for, forgets and answers stand."""
    asked, forgotten, answered = out[t.TABLES_AT + 1], out[t.TABLES_AT + 2], out[t.TABLES_AT + 3]
    first_asked, first_forgotten, first_answered = 0, 0, 0
    if number > 0:
        before = line - g.LINE_WIDTH
        first_asked, first_forgotten = out[before + g.ASKED_TO], out[before + g.FORGOTTEN_TO]
        first_answered = out[before + g.ANSWERED_TO]
    return (
        asked + first_asked * g.PARTITION_WIDTH,
        asked + out[line + g.ASKED_TO] * g.PARTITION_WIDTH,
        forgotten + first_forgotten * g.FORGOTTEN_WIDTH,
        forgotten + out[line + g.FORGOTTEN_TO] * g.FORGOTTEN_WIDTH,
        answered + first_answered * g.PARTITION_WIDTH,
        answered + out[line + g.ANSWERED_TO] * g.PARTITION_WIDTH,
    )


@compiled
def _endpoint(text: Bytes, out: Integers, line: int, letters: Bytes, state: State) -> int:
    """The number of the serving end: the connection's text before the first hyphen."""
    start = out[line + g.CONNECTION]
    if start < 0:
        return 0
    end = start
    while end < out[line + g.CONNECTION + 1] and text[end] != 45:
        end += 1
    return code_of(text, start, end, letters, state)


@compiled
def _gap(reason: int, lost: int, state: State) -> None:
    rows, counts = state[c.GAP_ROWS], state[c.NUMBERS]
    row, head = counts[c.GAPS] * c.GAP_WIDTH, c.HEAD_AT
    copied(counts, head, rows, row, c.TOPIC)
    rows[row + c.GAP_REPLICA], rows[row + c.GAP_ERROR] = counts[head + c.REPLICA], counts[head + c.ERROR]
    rows[row + c.GAP_SESSION], rows[row + c.GAP_EPOCH] = counts[head + c.SESSION], counts[head + c.EPOCH]
    rows[row + c.GAP_REASON], rows[row + c.GAP_LOST] = reason, lost
    counts[c.GAPS] += 1


@compiled
def _missing_between(expected: int, found: int) -> int:
    skipped = (found - expected) % LAST_EPOCH
    return skipped if skipped <= LAST_EPOCH // 2 else -1


@compiled
def _increment(endpoint: int, known: int, ranges: Ranges, out: Integers, line: int, state: State) -> None:
    slots, head = state[c.SLOT_ROWS], state[c.NUMBERS]
    session, epoch, error = out[line + g.SESSION], out[line + g.EPOCH], out[line + g.ERROR]
    slot = slot_at(endpoint, session, 0, state)
    if slot < 0 or slots[slot + c.SLOT_BASE] == c.CLOSED:
        inherited = slot < 0
        slot = open_slot(endpoint, session, 0, c.INHERITED if inherited else c.MISSING, state)
        slots[slot + c.SLOT_FIRST] = epoch if inherited else g.NULL
        slots[slot + c.SLOT_NEXT] = epoch
        _gap(c.UNSEEN_GAP, g.NULL, state)
    lost = _missing_between(slots[slot + c.SLOT_NEXT], epoch)
    if lost:
        _gap(c.LOST_GAP if lost > 0 else c.BACK_GAP, lost if lost > 0 else g.NULL, state)
        doubt(slot, state)
    wake(slot, known, state)
    apply(slot, ranges, out, state)
    slots[slot + c.SLOT_NEXT] = 1 if epoch >= LAST_EPOCH else epoch + 1
    if not known:
        _gap(c.ANSWER_GAP, g.NULL, state)
    if not known or error not in (g.NULL, 0):
        doubt(slot, state)
    slots[slot + c.SLOT_CALLS] += 1
    slots[slot + c.SLOT_WAITS] += waited(head, c.HEAD_AT)
    session_rows(slot, known, ranges, out, state)
    tell_last(head, c.HEAD_AT, slots, slot + c.SLOT_LAST)
    if out[line + g.ANSWER_SESSION] == 0:
        close(endpoint, session, state)


@compiled
def _fetch(endpoint: int, ranges: Ranges, out: Integers, line: int, state: State) -> None:
    """Applies one fetch to its session, and writes its rows."""
    head_of_fetch(out, line, state)
    number_keys(ranges, out, state)
    session, epoch, error = out[line + g.SESSION], out[line + g.EPOCH], out[line + g.ERROR]
    answer = out[line + g.ANSWER_SESSION]
    if session != g.NULL and epoch not in (g.NULL, -1, 0):
        if error not in (70, 71, 106):
            _increment(endpoint, (out[line + g.SEEN] >> g.RESPONSE) & 1, ranges, out, line, state)
            return
        if error == 70:
            close(endpoint, session, state)
        _gap(c.REFUSED_GAP, g.NULL, state)
        return
    close(endpoint, session, state)
    if session != g.NULL and epoch == 0 and error in (g.NULL, 0) and answer not in (g.NULL, 0):
        slot = open_slot(endpoint, answer, 0, c.FULL, state)
        state[c.SLOT_ROWS][slot + c.SLOT_NEXT] = 1
        apply(slot, ranges, out, state)
    else:
        replica = _OF_REPLICA + max(-1, state[c.NUMBERS][c.HEAD_AT + c.REPLICA])
        slot = slot_at(0, 0, replica, state)
        if slot < 0:
            slot = open_slot(0, 0, replica, c.NO_SESSION, state)
    full_rows(slot, ranges, out, state)


@compiled
def _room(endpoint_slot: int, ranges: Ranges, state: State) -> bool:
    """Whether the rows of a line fit, whatever its session does."""
    counts = state[c.NUMBERS]
    named = (ranges[1] - ranges[0] + ranges[5] - ranges[4]) // g.PARTITION_WIDTH
    resting = state[c.SLOT_ROWS][endpoint_slot + c.SLOT_SIZE] if endpoint_slot >= 0 else 0
    room = len(state[c.FETCH_ROWS]) // c.FETCH_WIDTH - counts[c.FETCHES]
    produces = len(state[c.PRODUCE_ROWS]) // c.PRODUCE_WIDTH - counts[c.PRODUCES]
    return bool(
        named + resting < room and named < produces and counts[c.GAPS] + 4 < len(state[c.GAP_ROWS]) // c.GAP_WIDTH
    )


def _fold(text: Bytes, base: int, first: int, last: int, out: Integers, letters: Bytes, state: State) -> int:
    """Folds lines `[first, last)` of a scan; where it stopped for want of room, or `last`."""
    if first == 0 and out[t.TOPICS] > 0:
        name_topics(text, out, letters, state)
        out[t.TOPICS] = -out[t.TOPICS]
    for number in range(first, last):
        line = out[t.LINES] + number * g.LINE_WIDTH
        if out[line + g.STATUS] not in (g.READ, g.READ_SENT):
            continue
        ranges = _ranges(number, line, out)
        slot, endpoint = -1, 0
        if out[line + g.STATUS] == g.READ:
            endpoint = _endpoint(text, out, line, letters, state)
            slot = slot_at(endpoint, out[line + g.SESSION], 0, state) if out[line + g.SESSION] != g.NULL else -1
        if not _room(slot, ranges, state):
            return number
        state[c.NUMBERS][c.CALL] += 1
        head_of_line(text, base, out, line, letters, state)
        if out[line + g.STATUS] == g.READ:
            _fetch(endpoint, ranges, out, line, state)
        else:
            produce_rows(ranges, out, line, state)
    return last


def _take(state: State) -> None:
    """Ends every run, so that the rows can be handed over; the next fetches begin new ones."""
    rows, counts, entries = state[c.FETCH_ROWS], state[c.NUMBERS], state[c.ENTRY_ROWS]
    for number in range(counts[c.FETCHES]):
        row = number * c.FETCH_WIDTH
        if rows[row + c.OPEN] >= 0 and entries[rows[row + c.ENTRY] + c.ENTRY_REST] == counts[c.TAKEN] + number:
            release(rows[row + c.SLOT], rows[row + c.ENTRY], state)
        elif rows[row + c.OPEN] >= 0:
            end_run(row, state)


def _reindex(letters: Bytes, state: State) -> None:
    """Fills the indexes anew, as after their arrays have grown."""
    counts = state[c.NUMBERS]
    seed = counts[c.SEED]
    index_texts(letters, state)
    index_rows(state[c.KEY_INDEX], state[c.KEY_ROWS], c.KEY_WIDTH, counts[c.KEYS], seed)
    index_rows(state[c.SLOT_INDEX], state[c.SLOT_ROWS], c.SLOT_WIDTH, counts[c.SLOTS], seed)
    index_rows(state[c.ENTRY_INDEX], state[c.ENTRY_ROWS], c.ENTRY_WIDTH, counts[c.ENTRIES], seed)


class Folding(NamedTuple):
    """What is compiled: the fold, what ends its runs, and what fills the indexes of its arrays."""

    fold: Callable[[Bytes, int, int, int, Integers, Bytes, State], int]
    take: Callable[[State], None]
    reindex: Callable[[Bytes, State], None]


def compile_fold() -> Folding | None:
    """The fold, compiled or loaded from where it was kept; None where that fails."""
    text: Any = types.Array(types.uint8, 1, "C", readonly=True)
    letters: Any = types.Array(types.uint8, 1, "C")
    flat: Any = types.Array(types.int64, 1, "C")
    state: Any = types.UniTuple(flat, c.ARRAYS)  # type: ignore[no-untyped-call]
    number: Any = types.int64
    fold = keep_compiled(_fold, number(text, number, number, number, flat, letters, state), COMPILED)
    take = keep_compiled(_take, types.void(state), COMPILED)
    reindex = keep_compiled(_reindex, types.void(letters, state), COMPILED)
    return None if fold is None or take is None or reindex is None else Folding(fold, take, reindex)


def fold_is_kept() -> bool:
    """Whether the loop was compiled before and need only be loaded."""
    return is_kept(_fold, COMPILED)
