"""Partitions that rest in their sessions: named by nobody, told by what their session knows, as long as it lasts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.request_log.fetch_columns import ANSWER_IMPLIED, BEGUN_UNSEEN, IMPLIED, STALE, UNCHANGED, Integers
from parsers.request_log.known import Calls, Kept, Known, Words
from parsers.request_log.session_entries import KEYS, Entries
from parsers.request_log.session_lives import MOMENTS
from parsers.request_log.typed import NULL

ANSWERED_ONLY, RESTING = 1 << 32, 1 << 33


class RowsToBe(NamedTuple):
    """Rows to be: lines, partitions, words, and how far they are said."""

    line: Integers
    last: Integers
    times: Integers
    waits: Integers
    key: Integers
    asked: Integers
    answered: Integers
    flags: Integers
    order: Integers
    """In what order the rows of a line stand."""


class Rests(NamedTuple):
    """Partitions that nobody names, from one fetch of their session up to another; `pieces` are told apart."""

    first: Integers
    end: Integers
    key: Integers
    asked: Integers
    answered: Integers
    pieces: Integers


class Turns(NamedTuple):
    """The lines of sessions, one session after the other: which turn each has, and where runs of them begin."""

    line: Integers
    turn: Integers
    """Of each line; -1 of one by itself."""
    end: Integers
    """Of each turn, where its session's turns end."""
    lives: Integers
    starts: Integers
    """The sessions, and where the turns of each begin."""
    run: Integers
    """Of each turn, the number of its run; a partition that rests is told once a run."""
    runs: Integers
    """Where runs begin."""
    waits: Integers
    """Of each turn, how many before it waited."""


def turns_of(calls: Calls, *, runs: bool) -> Turns:
    """The lines of sessions, in runs; `runs` False makes each line one."""
    line = np.argsort(calls.life, kind="stable")[int((calls.life < 0).sum()) :]
    life, size = calls.life[line], len(line)
    turn = np.full(len(calls.life), -1)
    turn[line] = np.arange(size)
    begins = np.ones(size, dtype=np.bool_)
    begins[1:] = life[1:] != life[:-1]
    starts = np.flatnonzero(begins)
    bounds = np.append(starts, size)
    end = np.repeat(bounds[1:], np.diff(bounds))
    anew = np.ones(size, dtype=np.bool_)
    if runs:
        # Everything is told again when somebody else asks, or when a doubt has come.
        asker = calls.asker[line]
        doubtful = calls.doubted[line] >= calls.began + MOMENTS * line
        anew[1:] = begins[1:] | doubtful[1:] | (asker[1:] != asker[:-1]).any(axis=1)
    waits = np.concatenate([[0], np.cumsum(calls.waited[line])])
    return Turns(line, turn, end, life[starts], starts, np.cumsum(anew) - 1, np.flatnonzero(anew), waits)


def rests_of(kept: Kept, known: Known, turns: Turns, entries: Entries, sides: tuple[int, int]) -> Rests:
    """Where partitions rest: behind a line that names them, and before the first that does."""
    place, at = np.arange(len(kept.rows)), turns.turn[kept.line]
    until = np.where(kept.ends, turns.end[at], np.append(at[1:], 0)) if len(place) else at
    rests = ~kept.forgotten & (known.asked != -1) & (until > at + 1)
    named = entries.code[kept.places[kept.group[rests]]] % KEYS
    behind = (at[rests] + 1, until[rests], named, known.asked[rests], known.answered[rests])
    life = np.searchsorted(turns.lives, entries.code // KEYS)
    here = life < len(turns.lives)
    here[here] = turns.lives[life[here]] == entries.code[here] // KEYS
    slots = np.flatnonzero(here & entries.present & (entries.asked_at != NULL))
    start = turns.starts[life[slots]]
    end = turns.end[start] if len(slots) else start
    touched = np.full(len(entries.code), 1 << 62)
    touched[kept.places] = at[kept.begins]
    end = np.minimum(end, touched[slots])
    rests = end > start
    slots = slots[rests]
    answered = np.where(entries.answered_at[slots] == NULL, -1, sides[1] + slots)
    before = (start[rests], end[rests], entries.code[slots] % KEYS, sides[0] + slots, answered)
    first, until, key, asked, given = map(np.concatenate, zip(behind, before, strict=True))
    pieces = turns.run[until - 1] - turns.run[first] + 1 if len(first) else first
    return Rests(first, until, key, asked, given, pieces)


def resting(calls: Calls, turns: Turns, rests: Rests, words: Words, ranks: Integers | None) -> RowsToBe:
    """A row for every run of each."""
    row = np.repeat(np.arange(len(rests.first)), rests.pieces)
    number = np.arange(len(row)) - np.repeat(np.cumsum(rests.pieces) - rests.pieces, rests.pieces)
    first, until = rests.first[row], rests.end[row]
    if len(row):
        run, ends = turns.run[first] + number, np.append(turns.runs[1:], len(turns.line))
        first, until = np.maximum(first, turns.runs[run]), np.minimum(until, ends[run])
    line, asked, answered = turns.line[first], rests.asked[row], rests.answered[row]
    times = until - first
    flags = IMPLIED + UNCHANGED + calls.answered[line] * ANSWER_IMPLIED + calls.unseen[line] * BEGUN_UNSEEN
    doubted = calls.doubted[line]
    stale = (doubted > words.asked_at[asked]) | ((answered != -1) & (doubted > words.answered_at[answered]))
    order: Integers = np.full(len(row), RESTING)
    if ranks is not None:
        order += ranks[rests.key[row]]
    return RowsToBe(
        line, np.where(times > 1, turns.line[until - 1], -1), times, turns.waits[until] - turns.waits[first],
        rests.key[row], asked, answered, flags + stale * STALE, order,
    )  # fmt: skip
