"""Rows of fetches as a fold writes them, and runs of fetches that one row stands for."""

from __future__ import annotations

from parsers.machine_code import compiled, inlined
from parsers.request_log import columns as c
from parsers.request_log import grammar as g
from parsers.request_log.columns import State
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_names import code_of, milliseconds


@inlined
def copied(source: Integers, start: int, to: Integers, at: int, count: int) -> None:
    """Copies numbers; a loop, because the compiler takes seconds over an assignment to a slice."""
    for place in range(count):
        to[at + place] = source[start + place]


@compiled
def head_of_line(text: Bytes, base: int, out: Integers, line: int, letters: Bytes, state: State) -> None:
    """What all rows of a line share."""
    head = state[c.NUMBERS]
    at, start, end = c.HEAD_AT, out[line + g.TIME_START], out[line + g.TIME_END]
    head[at + c.START], head[at + c.END] = base + out[line + g.START], base + out[line + g.END]
    time = milliseconds(text, start, end)
    head[at + c.TIME] = time
    head[at + c.TIME_TEXT] = code_of(text, start, end, letters, state) if time == g.NULL else -1
    client = out[line + g.CLIENT]
    head[at + c.CLIENT] = -1 if client == g.NULL else code_of(text, client, out[line + g.CLIENT + 1], letters, state)
    head[at + c.CORRELATION] = out[line + g.CORRELATION]
    head[at + c.VERSION] = out[line + g.VERSION]
    copied(out, line + g.TOTAL, head, at + c.TOTAL, c.TOPIC - c.TOTAL)


@compiled
def head_of_fetch(out: Integers, line: int, state: State) -> None:
    """What all rows of a fetch share besides."""
    head, at = state[c.NUMBERS], c.HEAD_AT
    stated = (out[line + g.SEEN] >> g.STATE) & 1
    replica = out[line + g.STATE_REPLICA] if stated else out[line + g.REPLICA]
    head[at + c.REPLICA] = -1 if replica == g.NULL else replica
    head[at + c.REPLICA_EPOCH] = out[line + g.STATE_EPOCH] if stated else g.NULL
    head[at + c.SESSION], head[at + c.EPOCH] = out[line + g.SESSION], out[line + g.EPOCH]
    head[at + c.ANSWER_SESSION], head[at + c.ERROR] = out[line + g.ANSWER_SESSION], out[line + g.ERROR]
    head[at + c.MIN_BYTES] = out[line + g.MIN_BYTES]


@compiled
def write_row(key: int, entry: int, asked: int, answered: int, unchanged: bool, out: Integers, state: State) -> int:
    """A row of what was said by name, or of what the session knows; `unchanged` where the answer vouches for it."""
    rows, entries, counts, keys = state[c.FETCH_ROWS], state[c.ENTRY_ROWS], state[c.NUMBERS], state[c.KEY_ROWS]
    row = counts[c.FETCHES] * c.FETCH_WIDTH
    copied(counts, c.HEAD_AT, rows, row, c.ASKED_AT)
    copied(keys, key, rows, row + c.TOPIC, 3)
    known = entry >= 0 and entries[entry + c.ENTRY_PRESENT] == 1
    if asked >= 0:
        copied(out, asked + 2, rows, row + c.ASKED_AT, c.ASKED_VALUES)
    elif known and entries[entry + c.ENTRY_ASKED]:
        copied(entries, entry + c.ENTRY_ASKED_AT, rows, row + c.ASKED_AT, c.ASKED_VALUES)
    else:
        for column in range(c.ASKED_AT, c.ANSWERED_AT):
            rows[row + column] = g.NULL
    if answered >= 0:
        copied(out, answered + 2, rows, row + c.ANSWERED_AT, c.ANSWERED_VALUES)
        return int(row)
    for column in range(c.ANSWERED_AT, c.FLAGS):
        rows[row + column] = g.NULL
    if unchanged:
        rows[row + c.ERROR_CODE], rows[row + c.RECORDS] = 0, 0
        if known and entries[entry + c.ENTRY_ANSWERED]:
            told = entry + c.ENTRY_ANSWERED_AT - c.ANSWERED_AT
            rows[row + c.WATERMARK] = entries[told + c.WATERMARK]
            rows[row + c.LEADER_LOG_START] = entries[told + c.LEADER_LOG_START]
    return int(row)


@inlined
def _repeats(rows: Integers, before: int, row: int) -> bool:
    """Whether a row tells again what another told."""
    for column in (
        c.FETCH_OFFSET, c.LAST_FETCHED_EPOCH, c.CURRENT_LEADER_EPOCH, c.ERROR_CODE, c.WATERMARK, c.STABLE,
        c.LEADER_LOG_START, c.DIVERGING_EPOCH, c.DIVERGING_END, c.RECORDS, c.MIN_BYTES, c.FLAGS, c.REPLICA, c.CLIENT,
    ):  # fmt: skip
        if rows[before + column] != rows[row + column]:
            return False
    return True


@inlined
def waited(rows: Integers, head: int) -> int:
    """Whether the request lay in purgatory, in the columns that all rows of its line share."""
    return 1 if rows[head + c.REMOTE] > 0 else 0


@inlined
def tell_last(rows: Integers, head: int, to: Integers, at: int) -> None:
    """The time of a line, and the times of its request, as those of the last one that a row stands for."""
    to[at], to[at + 1] = rows[head + c.TIME], rows[head + c.TIME_TEXT]
    copied(rows, head + c.TOTAL, to, at + 2, c.TOLD_LAST - 2)


@inlined
def keep_row(row: int, slot: int, entry: int, flags: int, state: State) -> None:
    """A row that is written becomes one of the table, or another time of the one before it."""
    rows, entries, counts = state[c.FETCH_ROWS], state[c.ENTRY_ROWS], state[c.NUMBERS]
    rows[row + c.FLAGS], rows[row + c.COUNT], rows[row + c.WAITS] = flags, 1, waited(rows, row)
    rows[row + c.LAST], rows[row + c.LAST_TEXT] = g.NULL, -1
    rows[row + c.SLOT], rows[row + c.ENTRY], rows[row + c.OPEN] = slot, entry, -1
    if counts[c.RUNS] and entry >= 0:
        before = entries[entry + c.ENTRY_LAST_ROW] - counts[c.TAKEN]
        if before >= 0 and _repeats(rows, before * c.FETCH_WIDTH, row):
            before *= c.FETCH_WIDTH
            rows[before + c.COUNT] += 1
            rows[before + c.WAITS] += rows[row + c.WAITS]
            tell_last(rows, row, rows, before + c.LAST)
            return
        entries[entry + c.ENTRY_LAST_ROW] = counts[c.TAKEN] + counts[c.FETCHES]
    counts[c.FETCHES] += 1


@compiled
def keep_resting(row: int, slot: int, entry: int, flags: int, state: State) -> None:
    """A row of a partition that is not named stands for all fetches until it is named or in doubt."""
    rows, entries, counts, slots = state[c.FETCH_ROWS], state[c.ENTRY_ROWS], state[c.NUMBERS], state[c.SLOT_ROWS]
    number = counts[c.TAKEN] + counts[c.FETCHES]
    entries[entry + c.ENTRY_LAST_ROW] = -1
    keep_row(row, slot, entry, flags, state)
    if counts[c.RUNS]:
        rows[row + c.OPEN] = slots[slot + c.SLOT_CALLS] - 1
        rows[row + c.WAITS] = slots[slot + c.SLOT_WAITS] - rows[row + c.WAITS]
        entries[entry + c.ENTRY_REST] = number
        entries[entry + c.ENTRY_LAST_ROW] = -1


@compiled
def release(slot: int, entry: int, state: State) -> None:
    """A partition rests no longer: its run ends with the fetch before, and the next one writes a row of it."""
    slots, entries, counts = state[c.SLOT_ROWS], state[c.ENTRY_ROWS], state[c.NUMBERS]
    resting = entries[entry + c.ENTRY_REST] - counts[c.TAKEN]
    if resting >= 0:
        end_run(resting * c.FETCH_WIDTH, state)
    entries[entry + c.ENTRY_REST] = -1
    if not entries[entry + c.ENTRY_IS_FRESH]:
        entries[entry + c.ENTRY_IS_FRESH] = 1
        entries[entry + c.ENTRY_NEXT_FRESH] = slots[slot + c.SLOT_FRESH]
        slots[slot + c.SLOT_FRESH] = entry


@compiled
def end_run(row: int, state: State) -> None:
    """The number of fetches that a resting row stands for, and the time of the last one."""
    rows, slots = state[c.FETCH_ROWS], state[c.SLOT_ROWS]
    slot = rows[row + c.SLOT]
    rows[row + c.COUNT] = slots[slot + c.SLOT_CALLS] - rows[row + c.OPEN]
    rows[row + c.WAITS] = slots[slot + c.SLOT_WAITS] - rows[row + c.WAITS]
    rows[row + c.OPEN] = -1
    if rows[row + c.COUNT] > 1:
        copied(slots, slot + c.SLOT_LAST, rows, row + c.LAST, c.TOLD_LAST)
