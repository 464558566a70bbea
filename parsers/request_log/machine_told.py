"""Which rows a fetch or a produce is told in, in the part of Python that numba turns into machine code."""

from __future__ import annotations

from parsers.machine_code import compiled
from parsers.request_log import columns as c
from parsers.request_log import grammar as g
from parsers.request_log.columns import State
from parsers.request_log.grammar import Integers
from parsers.request_log.machine_rows import copied, keep_resting, keep_row, write_row
from parsers.request_log.machine_sessions import entry_at, entry_of, number_keys

Ranges = tuple[int, int, int, int, int, int]
"""Where the partitions that a line asks for, forgets and answers begin and end."""


@compiled
def full_rows(slot: int, ranges: Ranges, out: Integers, state: State) -> None:
    """Rows of a full fetch; of two questions about one partition the first takes the answer."""
    keys, call = state[c.KEY_ROWS], state[c.NUMBERS][c.CALL]
    for row in range(ranges[0], ranges[1], g.PARTITION_WIDTH):
        key = out[row + g.TOPIC_ROW]
        answered = keys[key + c.KEY_ANSWERED_ROW] if keys[key + c.KEY_ANSWERED] == call else -1
        keys[key + c.KEY_ANSWERED] = -1
        written = write_row(key, -1, row, answered, False, out, state)
        keep_row(written, slot, entry_of(slot, key, state), 0, state)
    for row in range(ranges[4], ranges[5], g.PARTITION_WIDTH):
        key = out[row + g.TOPIC_ROW]
        if keys[key + c.KEY_ANSWERED] == call:
            keys[key + c.KEY_ANSWERED] = -1
            written = write_row(key, -1, -1, keys[key + c.KEY_ANSWERED_ROW], False, out, state)
            keep_row(written, slot, entry_of(slot, key, state), 0, state)


@compiled
def _one_row(key: int, slot: int, known: int, implied: bool, out: Integers, state: State) -> None:
    """The row of a partition that one side names or, `implied`, none: then it rests until it is named again."""
    keys, entries, call = state[c.KEY_ROWS], state[c.ENTRY_ROWS], state[c.NUMBERS][c.CALL]
    asked = keys[key + c.KEY_ASKED_ROW] if keys[key + c.KEY_ASKED] == call else -1
    answered = keys[key + c.KEY_ANSWERED_ROW] if keys[key + c.KEY_ANSWERED] == call else -1
    entry = entry_at(slot, key, state)
    flags = 0 if state[c.SLOT_ROWS][slot + c.SLOT_BASE] == c.FULL else c.BEGUN_UNSEEN
    if asked < 0:
        flags |= c.IMPLIED
    if answered < 0 and known:
        flags |= c.ANSWER_IMPLIED
    if entry >= 0 and entries[entry + c.ENTRY_PRESENT]:
        unsure = asked < 0 and entries[entry + c.ENTRY_ASKED_STALE]
        if unsure or (answered < 0 and entries[entry + c.ENTRY_ANSWERED_STALE]):
            flags |= c.STALE
    written = write_row(key, entry, asked, answered, known == 1, out, state)
    if implied:
        keep_resting(written, slot, entry, flags, state)
    else:
        keep_row(written, slot, entry, flags, state)


@compiled
def session_rows(slot: int, known: int, ranges: Ranges, out: Integers, state: State) -> None:
    """Rows of the partitions that the request names, of those that the answer names, then of all others."""
    keys, call = state[c.KEY_ROWS], state[c.NUMBERS][c.CALL]
    for row in range(ranges[0], ranges[1], g.PARTITION_WIDTH):
        key = out[row + g.TOPIC_ROW]
        if keys[key + c.KEY_TOLD] != call:
            keys[key + c.KEY_TOLD] = call
            _one_row(key, slot, known, False, out, state)
    for row in range(ranges[4], ranges[5], g.PARTITION_WIDTH):
        key = out[row + g.TOPIC_ROW]
        if keys[key + c.KEY_TOLD] != call:
            keys[key + c.KEY_TOLD] = call
            _one_row(key, slot, known, False, out, state)
    if state[c.NUMBERS][c.RUNS]:
        _fresh(slot, known, out, state)
        return
    entry, entries = state[c.SLOT_ROWS][slot + c.SLOT_ENTRIES], state[c.ENTRY_ROWS]
    while entry >= 0:
        key = entries[entry + 1]
        rests = entries[entry + c.ENTRY_PRESENT] and entries[entry + c.ENTRY_ASKED]
        if rests and keys[key + c.KEY_TOLD] != call:
            _one_row(key, slot, known, True, out, state)
        entry = entries[entry + c.ENTRY_NEXT]


@compiled
def _fresh(slot: int, known: int, out: Integers, state: State) -> None:
    """Partitions that were named lately and are not now begin to rest; those named now wait."""
    slots, entries, keys, call = state[c.SLOT_ROWS], state[c.ENTRY_ROWS], state[c.KEY_ROWS], state[c.NUMBERS][c.CALL]
    entry, kept = slots[slot + c.SLOT_FRESH], -1
    while entry >= 0:
        key, following = entries[entry + 1], entries[entry + c.ENTRY_NEXT_FRESH]
        if keys[key + c.KEY_TOLD] == call:
            entries[entry + c.ENTRY_NEXT_FRESH] = kept
            kept = entry
        else:
            entries[entry + c.ENTRY_IS_FRESH] = 0
            if entries[entry + c.ENTRY_PRESENT] and entries[entry + c.ENTRY_ASKED]:
                _one_row(key, slot, known, True, out, state)
        entry = following
    slots[slot + c.SLOT_FRESH] = kept


@compiled
def produce_rows(ranges: Ranges, out: Integers, line: int, state: State) -> None:
    """Rows of a produce: partitions in the order in which they are first named, the last word about each."""
    number_keys(ranges, out, state)
    keys, rows, counts = state[c.KEY_ROWS], state[c.PRODUCE_ROWS], state[c.NUMBERS]
    call = counts[c.CALL]
    for side in (0, 4):
        for at in range(ranges[side], ranges[side + 1], g.PARTITION_WIDTH):
            key = out[at + g.TOPIC_ROW]
            if keys[key + c.KEY_TOLD] == call:
                continue
            keys[key + c.KEY_TOLD] = call
            row = counts[c.PRODUCES] * c.PRODUCE_WIDTH
            copied(counts, c.HEAD_AT, rows, row, c.TOPIC)
            copied(keys, key, rows, row + c.TOPIC, 3)
            rows[row + c.ACKS], rows[row + c.TRANSACTIONAL] = out[line + g.ACKS], out[line + g.TRANSACTIONAL]
            sent, written = keys[key + c.KEY_ASKED] == call, keys[key + c.KEY_ANSWERED] == call
            rows[row + c.SENT_SIZE] = out[keys[key + c.KEY_ASKED_ROW] + g.SENT_SIZE] if sent else g.NULL
            for column in range(3):
                told = out[keys[key + c.KEY_ANSWERED_ROW] + g.WRITTEN_ERROR + column] if written else g.NULL
                rows[row + c.SENT_ERROR + column] = told
            counts[c.PRODUCES] += 1
