"""Fetch sessions in flat arrays, as `sessions` says it with objects, in the part of Python that numba compiles."""

from __future__ import annotations

from parsers.machine_code import compiled
from parsers.request_log import columns as c
from parsers.request_log import grammar as g
from parsers.request_log import tables as t
from parsers.request_log.columns import State
from parsers.request_log.grammar import Integers
from parsers.request_log.machine_names import key_of, place_of
from parsers.request_log.machine_rows import copied, release


@compiled
def slot_at(first: int, second: int, third: int, state: State) -> int:
    """Where the row of a session stands; -1 where it was never seen."""
    index = state[c.SLOT_INDEX]
    place = place_of(first, second, third, index, state[c.SLOT_ROWS], c.SLOT_WIDTH, state[c.NUMBERS][c.SEED])
    return int(index[place] * c.SLOT_WIDTH) if index[place] >= 0 else -1


@compiled
def open_slot(first: int, second: int, third: int, base: int, state: State) -> int:
    """A new session in the place of any that bore its id."""
    slots, index, counts = state[c.SLOT_ROWS], state[c.SLOT_INDEX], state[c.NUMBERS]
    place = place_of(first, second, third, index, slots, c.SLOT_WIDTH, counts[c.SEED])
    if index[place] >= 0:
        counts[c.GARBAGE] += 1 + slots[index[place] * c.SLOT_WIDTH + c.SLOT_SIZE]
    index[place] = counts[c.SLOTS]
    slot = counts[c.SLOTS] * c.SLOT_WIDTH
    counts[c.SLOTS] += 1
    for column in range(c.SLOT_WIDTH):
        slots[slot + column] = 0
    slots[slot], slots[slot + 1], slots[slot + 2] = first, second, third
    slots[slot + c.SLOT_BASE], slots[slot + c.SLOT_FIRST] = base, g.NULL
    slots[slot + c.SLOT_ENTRIES], slots[slot + c.SLOT_FRESH] = -1, -1
    slots[slot + c.SLOT_LAST], slots[slot + c.SLOT_LAST_TEXT] = g.NULL, -1
    slots[slot + c.SLOT_KNOWN], slots[slot + c.SLOT_REPLICA] = 1, g.NULL
    return int(slot)


@compiled
def close(endpoint: int, session: int, state: State) -> None:
    """A session ends; 0 is none."""
    if session not in (g.NULL, 0):
        open_slot(endpoint, session, 0, c.CLOSED, state)


@compiled
def entry_at(slot: int, key: int, state: State) -> int:
    """Where a session's row of a partition stands; -1 where it has none."""
    index, rows, seed = state[c.ENTRY_INDEX], state[c.ENTRY_ROWS], state[c.NUMBERS][c.SEED]
    found = index[place_of(slot, key, 0, index, rows, c.ENTRY_WIDTH, seed)]
    return int(found * c.ENTRY_WIDTH) if found >= 0 else -1


@compiled
def entry_of(slot: int, key: int, state: State) -> int:
    """The same, with a row made where there was none; an inherited session may have had the partition before."""
    entries, index, slots, counts = state[c.ENTRY_ROWS], state[c.ENTRY_INDEX], state[c.SLOT_ROWS], state[c.NUMBERS]
    place = place_of(slot, key, 0, index, entries, c.ENTRY_WIDTH, counts[c.SEED])
    if index[place] >= 0:
        return int(index[place] * c.ENTRY_WIDTH)
    index[place] = counts[c.ENTRIES]
    entry = counts[c.ENTRIES] * c.ENTRY_WIDTH
    counts[c.ENTRIES] += 1
    for column in range(c.ENTRY_WIDTH):
        entries[entry + column] = 0
    entries[entry], entries[entry + 1], entries[entry + 2] = slot, key, 0
    unseen = 1 if slots[slot + c.SLOT_BASE] == c.INHERITED else 0
    entries[entry + c.ENTRY_ASKED_BEFORE], entries[entry + c.ENTRY_ANSWERED_BEFORE] = unseen, unseen
    entries[entry + c.ENTRY_REST], entries[entry + c.ENTRY_LAST_ROW] = -1, -1
    entries[entry + c.ENTRY_NEXT] = slots[slot + c.SLOT_ENTRIES]
    slots[slot + c.SLOT_ENTRIES] = entry
    slots[slot + c.SLOT_SIZE] += 1
    return int(entry)


@compiled
def _named(slot: int, key: int, state: State) -> int:
    """The row of a partition that is named now, present from here on."""
    entry, entries = entry_of(slot, key, state), state[c.ENTRY_ROWS]
    release(slot, entry, state)
    entries[entry + c.ENTRY_PRESENT] = 1
    state[c.SLOT_ROWS][slot + c.SLOT_SURE] = 1
    return entry


@compiled
def forget(slot: int, entry: int, state: State) -> None:
    """A partition leaves its session; should it come back, nothing is known of it."""
    entries = state[c.ENTRY_ROWS]
    release(slot, entry, state)
    entries[entry + c.ENTRY_PRESENT] = 0
    for column in range(c.ENTRY_ASKED, c.ENTRY_LAST_ROW):
        entries[entry + column] = 0


@compiled
def apply(slot: int, ranges: tuple[int, int, int, int, int, int], out: Integers, state: State) -> None:
    """Adds, then forgotten partitions, then what the answer tells."""
    entries, keys, call = state[c.ENTRY_ROWS], state[c.KEY_ROWS], state[c.NUMBERS][c.CALL]
    for row in range(ranges[0], ranges[1], g.PARTITION_WIDTH):
        entry = _named(slot, out[row + g.TOPIC_ROW], state)
        entries[entry + c.ENTRY_ASKED] = 1
        entries[entry + c.ENTRY_ASKED_STALE], entries[entry + c.ENTRY_ASKED_BEFORE] = 0, 0
        copied(out, row + 2, entries, entry + c.ENTRY_ASKED_AT, c.ASKED_VALUES)
    for row in range(ranges[2], ranges[3], g.FORGOTTEN_WIDTH):
        forget(slot, entry_of(slot, out[row], state), state)
    for row in range(ranges[4], ranges[5], g.PARTITION_WIDTH):
        key = out[row + g.TOPIC_ROW]
        if keys[key + c.KEY_FORGOTTEN] == call:
            continue
        entry = _named(slot, key, state)
        # An error is not cached: the broker states the partition again as soon as it can.
        entries[entry + c.ENTRY_ANSWERED] = out[row + 2] in (g.NULL, 0)
        entries[entry + c.ENTRY_ANSWERED_STALE], entries[entry + c.ENTRY_ANSWERED_BEFORE] = 0, 0
        copied(out, row + 2, entries, entry + c.ENTRY_ANSWERED_AT, c.ANSWERED_VALUES)


@compiled
def doubt(slot: int, state: State) -> None:
    """Whatever was cached may have changed in a line that is missing."""
    slots, entries = state[c.SLOT_ROWS], state[c.ENTRY_ROWS]
    slots[slot + c.SLOT_BROKEN] = 1
    entry = slots[slot + c.SLOT_ENTRIES] if slots[slot + c.SLOT_SURE] else -1
    slots[slot + c.SLOT_SURE] = 0
    while entry >= 0:
        asked, answered = entries[entry + c.ENTRY_ASKED], entries[entry + c.ENTRY_ANSWERED]
        stale = entries[entry + c.ENTRY_ASKED_STALE] == asked and entries[entry + c.ENTRY_ANSWERED_STALE] == answered
        if entries[entry + c.ENTRY_PRESENT] and not stale:
            release(slot, entry, state)
            entries[entry + c.ENTRY_ASKED_STALE], entries[entry + c.ENTRY_ANSWERED_STALE] = asked, answered
        entry = entries[entry + c.ENTRY_NEXT]


@compiled
def wake(slot: int, known: int, state: State) -> None:
    """All rows are written again when somebody else asks, or when answers begin or cease to be told."""
    slots, entries, head = state[c.SLOT_ROWS], state[c.ENTRY_ROWS], state[c.NUMBERS]
    replica, client, least = head[c.HEAD_AT + c.REPLICA], head[c.HEAD_AT + c.CLIENT], head[c.HEAD_AT + c.MIN_BYTES]
    same = slots[slot + c.SLOT_REPLICA] == replica and slots[slot + c.SLOT_CLIENT] == client
    if slots[slot + c.SLOT_KNOWN] != known or not same or slots[slot + c.SLOT_MIN_BYTES] != least:
        entry = slots[slot + c.SLOT_ENTRIES]
        while entry >= 0:
            if entries[entry + c.ENTRY_PRESENT]:
                release(slot, entry, state)
            entry = entries[entry + c.ENTRY_NEXT]
    slots[slot + c.SLOT_KNOWN] = known
    slots[slot + c.SLOT_REPLICA], slots[slot + c.SLOT_CLIENT], slots[slot + c.SLOT_MIN_BYTES] = replica, client, least


@compiled
def number_keys(ranges: tuple[int, int, int, int, int, int], out: Integers, state: State) -> None:
    """Marks the partitions that a line names; of two rows for one the last counts."""
    keys, call = state[c.KEY_ROWS], state[c.NUMBERS][c.CALL]
    for row in range(ranges[0], ranges[1], g.PARTITION_WIDTH):
        key = _key(row, out, state)
        keys[key + c.KEY_ASKED], keys[key + c.KEY_ASKED_ROW] = call, row
    for row in range(ranges[2], ranges[3], g.FORGOTTEN_WIDTH):
        keys[_key(row, out, state) + c.KEY_FORGOTTEN] = call
    for row in range(ranges[4], ranges[5], g.PARTITION_WIDTH):
        key = _key(row, out, state)
        keys[key + c.KEY_ANSWERED], keys[key + c.KEY_ANSWERED_ROW] = call, row


@compiled
def _key(row: int, out: Integers, state: State) -> int:
    """The number of a row's partition, which takes the place of its topic's row."""
    topic = out[t.TABLES_AT] + out[row] * g.TOPIC_WIDTH
    key = key_of(out[topic], out[topic + 2], out[row + 1], state)
    out[row] = key
    return key
