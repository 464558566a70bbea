"""The loops over the lines of a log that numba compiles; anything odd they leave to the plain reader.

This module imports numba; only `block` loads it, and only for logs that are worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from numba import types
from numpy import uintp

from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.machine_texts import copy_texts, find_settings, line_end, number_of
from parsers.broker_log.compiled.machine_walk import keep_text, stands, walk
from parsers.broker_log.compiled.tables import Bytes, Integers, Words
from parsers.machine_code import compiled, is_kept, keep_compiled

_COMPILED: Final = ("machine*.py", "tables.py")
_TAIL_LIMIT: Final = 512
_LONGEST_PREFIX: Final = 2048


@compiled
def _lead(text: Bytes, at: int, stop: int, program: Integers) -> int:
    """The lead with which a message begins or that follows its first word; -1 without one."""
    leads, names = program[t.LEADS_AT], program[t.NAMES_AT]
    word = at
    while word < stop and word - at < 255 and program[uintp(names + text[uintp(word)])]:
        word += 1
    if at < word < stop:
        for number in range(program[leads + t.INNER], program[leads + t.INNER + 1]):
            row = leads + t.FIRST_LEAD + number * t.LEAD_WIDTH
            spelt = program[row]
            # As every lead these have two letters; most lines begin with none of them.
            if text[word] != program[spelt] or word + 1 == stop or text[word + 1] != program[spelt + 1]:
                continue
            if stands(text, word, stop, program, spelt, program[row + t.LEAD_LENGTH]):
                return int(number)
    if at + 1 < stop:
        for number in range(program[leads + 2 * text[at]], program[leads + 2 * text[at] + 1]):
            row = leads + t.FIRST_LEAD + number * t.LEAD_WIDTH
            spelt = program[row]
            if text[at + 1] != program[spelt + 1]:
                continue
            if stands(text, at, stop, program, spelt, program[row + t.LEAD_LENGTH]):
                return int(number)
    return -1


@compiled
def _tail(text: Bytes, at: int, stop: int, opening: Bytes) -> int:
    """Where the last opening of what stands behind a message begins; -1 without one."""
    place = stop - len(opening)
    while place >= at:
        same = 0
        while same < len(opening) and text[uintp(place + same)] == opening[uintp(same)]:
            same += 1
        if same == len(opening):
            return place
        place -= 1
    return -1


@compiled
def _message(text: Bytes, at: int, stop: int, begins: Integers) -> int:
    """Where the message of a line begins if an entry begins there; -1 where the line is too short for a head."""
    message = at + begins[t.BEFORE_LEVEL]
    if begins[t.BEHIND_LEVEL] >= 0:
        if message + 4 >= stop:
            return -1
        # A level has four letters or five.
        message += 5 if 65 <= text[message + 4] <= 90 else 4
        message += begins[t.BEHIND_LEVEL]
    return message if message <= stop else -1


@compiled
def _behind_prefix(text: Bytes, at: int, stop: int) -> int:
    """Where a message goes on behind `[…] ` or `[…]: `; -1 where it does not begin so."""
    end, last = at + 1, min(stop, at + 1 + _LONGEST_PREFIX + 1)
    while end < last and text[uintp(end)] != 93:
        end += 1
    if end == last:
        return -1
    end += 1
    if end < stop and text[end] == 58:
        end += 1
    return end + 1 if end < stop and text[end] == 32 else -1


@compiled
def _speech(text: Bytes, message: int, stop: int, program: Integers, begins: Integers, out: Integers, line: int) -> int:
    """Where a message goes on behind its prefix, if it has one."""
    after = -1
    if message < stop and text[message] == 91:
        after = _behind_prefix(text, message, stop)
    elif message < stop and text[message] == 80:
        after = walk(text, message, stop, begins[t.OLD_PREFIX], program, out, line)
    return message if after < 0 else after


@compiled
def _describe(
    text: Bytes, words: Words, stop: int, opening: Bytes, prefixes: Integers, tails: Integers, out: Integers, line: int
) -> int:
    """What stands before the message of a line and what follows it, and whether the line is read here."""
    if out[line + t.PREFIX + 1] > out[line + t.PREFIX]:
        code = number_of(text, words, out[line + t.PREFIX], out[line + t.PREFIX + 1], prefixes)
        out[line + t.PREFIX_CODE] = code
        if code < 0:
            return t.LEFT
    tail = _tail(text, out[line + t.MESSAGE], stop, opening)
    out[line + t.TAIL] = tail
    if tail < 0:
        return t.READ
    if stop - tail > _TAIL_LIMIT:
        return t.LEFT
    code = number_of(text, words, tail, stop, tails)
    out[line + t.TAIL_CODE] = code
    return t.READ if code >= 0 else t.LEFT


@compiled
def _entry(text: Bytes, at: int, stop: int, program: Integers, begins: Integers, out: Integers, line: int) -> bool:
    """Whether a line begins an entry that may be an event or settings; then its parts stand in a row."""
    # What the message may be is looked at first: few lines of a broker at work are any of it.
    message = _message(text, at, stop, begins)
    if message < 0:
        return False
    speech = _speech(text, message, stop, program, begins, out, line)
    lead = _lead(text, speech, stop, program)
    if lead < 0:
        return False
    for column in range(line + t.TIME, line + t.PREFIX):
        out[column] = -1
    if walk(text, at, stop, begins[t.HEAD], program, out, line) < 0:
        return False
    out[line + t.START], out[line + t.MESSAGE], out[line + t.LEAD] = at, speech, lead
    out[line + t.PREFIX], out[line + t.PREFIX + 1] = message, speech
    out[line + t.PREFIX_CODE] = out[line + t.TAIL_CODE] = -1
    return True


def _scan(
    text: Bytes, words: Words, start: int, last: int, program: Integers, begins: Integers, opening: Bytes, prefixes: Integers,
    tails: Integers, out: Integers,
) -> tuple[int, int]:  # fmt: skip
    """Lines from `start` that may say something, as many as there is room for; their number and where to go on."""
    rows, at = 0, start
    while at < last and (rows + 1) * t.LINE_WIDTH <= len(out):
        line = rows * t.LINE_WIDTH
        stop = line_end(text, words, at)
        may_begin = begins[t.OPENING] < 0 or text[at] == begins[t.OPENING]
        if may_begin and _entry(text, at, stop, program, begins, out, line):
            end = stop - 1 if text[stop - 1] == 13 else stop
            out[line + t.STOP], out[line + t.STATUS] = end, t.SETTINGS
            if out[line + t.LEAD] != begins[t.SETTINGS_LEAD]:
                status = _describe(text, words, end, opening, prefixes, tails, out, line)
                out[line + t.STATUS] = t.LEFT if stop == len(text) else status
            rows += 1
        at = stop + 1
    return rows, at


@compiled
def _clear(rows: Integers, row: int) -> None:
    for column in range(row, row + t.FIRST_TEXT):
        rows[uintp(column)] = t.NULL
    for column in range(row + t.FIRST_TEXT, row + t.ROW_WIDTH):
        rows[uintp(column)] = -1


@compiled
def _copy(rows: Integers, of: int, to: int) -> None:
    for column in range(t.ROW_WIDTH):
        rows[uintp(to + column)] = rows[uintp(of + column)]


@compiled
def _items(text: Bytes, pc: int, program: Integers, rows: Integers, count: int) -> int:
    """A row for everything that the first row of `rows` lists; the number of rows then, ODD, or FAILED for want of room."""
    at, stop, names = rows[t.ITEMS], rows[t.ITEMS + 1], program[t.NAMES_AT]
    while at < stop:
        if at > 0 and program[names + text[at - 1]]:
            at += 1
            continue
        if (count + 2) * t.ROW_WIDTH > len(rows):
            return t.FAILED
        row = (count + 1) * t.ROW_WIDTH
        _copy(rows, 0, row)
        after = walk(text, at, stop, pc, program, rows, row)
        if after == t.ODD:
            return t.ODD
        if after > at:
            count, at = count + 1, after
        else:
            at += 1
    return count


@compiled
def _try(
    text: Bytes, message: int, stop: int, trial: int, program: Integers, line: int, rows: Integers, count: int
) -> int:
    """The number of rows when a wording was tried: as before where it does not fit; ODD, or FAILED for want of room."""
    _clear(rows, 0)
    after = walk(text, message, stop, program[trial + t.TRIAL_STEPS], program, rows, 0)
    if after < 0:
        return t.ODD if after == t.ODD else count
    rows[t.LINE], rows[t.WORDING] = line, program[trial + t.TRIAL_WORDING]
    if program[trial + t.TRIAL_ITEMS] >= 0:
        return _items(text, program[trial + t.TRIAL_ITEMS], program, rows, count)
    if program[trial + t.TRIAL_WHOLE] and not keep_text(text, message, stop, t.DETAIL, t.SHORTENED, rows, 0):
        return t.ODD
    if (count + 2) * t.ROW_WIDTH > len(rows):
        return t.FAILED
    _copy(rows, 0, (count + 1) * t.ROW_WIDTH)
    return count + 1


def _match(text: Bytes, program: Integers, whole: Integers, lines: Integers, number: int, rows: Integers) -> int:
    """The rows of `number` lines, behind a first one that is scratch; their number, or FAILED for want of room.

    A line that only the plain reader takes is marked as left.
    """
    leads, count = program[t.LEADS_AT] + t.FIRST_LEAD, 0
    for place in range(number):
        line = place * t.LINE_WIDTH
        if lines[line + t.STATUS] != t.READ:
            continue
        code = lines[line + t.TAIL_CODE]
        stop = lines[line + t.TAIL] if code >= 0 and whole[code] else lines[line + t.STOP]
        lead = leads + lines[line + t.LEAD] * t.LEAD_WIDTH
        for trial in range(program[lead + t.LEAD_TRIALS], program[lead + t.LEAD_TRIALS_TO], t.TRIAL_WIDTH):
            after = _try(text, lines[line + t.MESSAGE], stop, trial, program, place, rows, count)
            if after == t.FAILED:
                return t.FAILED
            if after == t.ODD:
                lines[line + t.STATUS] = t.LEFT
                break
            if after > count:
                count = after
                break
    return count


class Loops(NamedTuple):
    """What is compiled: the loops over lines, over their wordings, over settings, and the one that copies texts."""

    scan: Callable[..., tuple[int, int]]
    match: Callable[..., int]
    settings: Callable[..., int]
    copy: Callable[..., int]


def compile_loops() -> Loops | None:
    """The loops, compiled or loaded from where they were kept; None where that cannot be done here."""
    text: Any = types.Array(types.uint8, 1, "C", readonly=True)
    words: Any = types.Array(types.uint64, 1, "C", readonly=True)
    letters: Any = types.Array(types.uint8, 1, "C")
    flat: Any = types.Array(types.int64, 1, "C")
    number: Any = types.int64
    pair: Any = types.UniTuple(number, 2)  # type: ignore[no-untyped-call]
    scan = keep_compiled(_scan, pair(text, words, number, number, flat, flat, text, flat, flat, flat), _COMPILED)
    match = keep_compiled(_match, number(text, flat, flat, flat, number, flat), _COMPILED)
    settings = keep_compiled(find_settings, number(text, words, number, number, flat, flat, flat, flat), _COMPILED)
    copy = keep_compiled(
        copy_texts, number(text, flat, flat, types.boolean, letters, types.Array(types.int32, 1, "C")), _COMPILED
    )
    if scan is None or match is None or settings is None or copy is None:
        return None
    return Loops(scan, match, settings, copy)


def loops_are_kept() -> bool:
    """Whether they were compiled before and need only be loaded; the loop over lines is the longest to make."""
    return is_kept(_scan, _COMPILED)
