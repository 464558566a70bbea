"""Steps along a line, in the part of Python that numba turns into machine code.

This module imports numba; only `block` loads it, and only for logs that are worth it. Where bytes are gone through, places
are made unsigned: a signed one is looked at for whether it counts from the end.
"""

from __future__ import annotations

from numpy import uintp

from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.tables import Bytes, Integers
from parsers.machine_code import compiled

_MOST: int = (1 << 63) - 1
_SHORTEST: int = 1000
"""Letters of a shortened text, as `catalogue.shortened` keeps them of four more."""


@compiled
def stands(text: Bytes, at: int, stop: int, program: Integers, word: int, length: int) -> bool:
    """Whether a text of the program stands at a place."""
    if at + length > stop:
        return False
    for i in range(length):
        if text[uintp(at + i)] != program[uintp(word + i)]:
            return False
    return True


@compiled
def _until(text: Bytes, at: int, stop: int, program: Integers, word: int, length: int) -> int:
    first = program[word]
    while at + length <= stop:
        if text[uintp(at)] == first and stands(text, at, stop, program, word, length):
            return at
        at += 1
    return t.FAILED


@compiled
def _run(text: Bytes, at: int, stop: int, program: Integers, kind: int, least: int, most: int) -> int:
    end = at
    while end < stop and end - at < most and program[uintp(kind + text[uintp(end)])]:
        end += 1
    return end if end - at >= least else t.FAILED


@compiled
def _number(text: Bytes, at: int, stop: int, column: int, width: int, out: Integers, row: int) -> int:
    """At most 19 digits and maybe a sign; what no column holds is odd."""
    first = at + 1 if at < stop and text[at] == 45 else at
    end, value = first, 0
    while end < stop and 48 <= text[uintp(end)] <= 57:
        if end - first == 19:
            return t.FAILED
        digit = text[uintp(end)] - 48
        if column >= 0 and end - first == 18 and value > (_MOST - digit) // 10:
            return t.ODD
        value = value * 10 + digit
        end += 1
    if end == first:
        return t.FAILED
    if column >= 0:
        if first > at:
            value = -value
        if width == t.SHORT and not -(1 << 31) <= value < (1 << 31):
            return t.ODD
        if width == t.LAST:
            if value == _MOST:
                return t.ODD
            value += 1
        out[row + column] = value
    return end


@compiled
def _place(text: Bytes, at: int, stop: int, program: Integers, out: Integers, row: int) -> int:
    """A topic and a partition behind the last hyphen that a digit follows."""
    hyphen, names = at, program[t.NAMES_AT]
    while hyphen < stop and hyphen - at < 255 and program[uintp(names + text[uintp(hyphen)])]:
        hyphen += 1
    while hyphen > at and not (hyphen + 1 < stop and text[hyphen] == 45 and 48 <= text[hyphen + 1] <= 57):
        hyphen -= 1
    if hyphen == at:
        return t.FAILED
    end, value = hyphen + 1, 0
    while end < stop and 48 <= text[end] <= 57:
        if end - hyphen > 10:
            return t.FAILED
        value = value * 10 + (text[end] - 48)
        end += 1
    if value >= 1 << 31:
        return t.ODD
    out[row + t.TOPIC], out[row + t.TOPIC + 1], out[row + t.PARTITION] = at, hyphen, value
    return end


@compiled
def _digits(text: Bytes, at: int, stop: int) -> int:
    end = at
    while end < stop and end - at < 10 and 48 <= text[end] <= 57:
        end += 1
    return end


@compiled
def _ids(text: Bytes, at: int, stop: int) -> int:
    """Numbers between commas, maybe none."""
    end = _digits(text, at, stop)
    while end > at and end < stop and text[end] == 44:
        next_at = end + 1
        if next_at < stop and text[next_at] == 32:
            next_at += 1
        after = _digits(text, next_at, stop)
        if after == next_at:
            break
        end = after
    return end


@compiled
def _release(text: Bytes, at: int, stop: int) -> int:
    """`4.3` or `2.8-IV1`."""
    end = at
    while end < stop and 48 <= text[end] <= 57:
        end += 1
    if end == at:
        return t.FAILED
    while end + 1 < stop and text[end] == 46 and 48 <= text[end + 1] <= 57:
        end += 2
        while end < stop and 48 <= text[end] <= 57:
            end += 1
    if end + 3 < stop and text[end] == 45 and text[end + 1] == 73 and text[end + 2] == 86 and 48 <= text[end + 3] <= 57:
        end += 4
        while end < stop and 48 <= text[end] <= 57:
            end += 1
    return end


@compiled
def _is_blank(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@compiled
def keep_text(text: Bytes, at: int, stop: int, column: int, how: int, out: Integers, row: int) -> bool:
    """Keeps where a text stands; false for letters that only the plain reader decodes."""
    start, end = at, stop
    if how == t.SHORTENED:
        end = min(end, start + _SHORTEST + 4)
    if how != t.RAW:
        for place in range(start, end):
            if text[uintp(place)] >= 128:
                return False
    if how == t.SHORTENED:
        while start < end and _is_blank(text[start]):
            start += 1
        while end > start and _is_blank(text[end - 1]):
            end -= 1
        end = min(end, start + _SHORTEST)
    elif how == t.DOTLESS:
        while end > start and text[end - 1] == 46:
            end -= 1
    elif how == t.OR_NONE and end - start == 4 and _is_none(text, start, end):
        start = end = -1
    out[row + column], out[row + column + 1] = start, end
    return True


@compiled
def _is_none(text: Bytes, at: int, stop: int) -> bool:
    return at + 4 <= stop and text[at] == 78 and text[at + 1] == 111 and text[at + 2] == 110 and text[at + 3] == 101


@compiled
def _step(text: Bytes, at: int, stop: int, pc: int, program: Integers, out: Integers, row: int) -> int:
    """Takes a step that is no choice; where it ends, or how it fails."""
    kind, first, second = program[uintp(pc)], program[uintp(pc + 1)], program[uintp(pc + 2)]
    if kind == t.TEXT:
        return at + second if stands(text, at, stop, program, first, second) else t.FAILED
    if kind == t.RUN:
        return _run(text, at, stop, program, first, second, program[pc + 3])
    if kind == t.NUMBER:
        return _number(text, at, stop, first, second, out, row)
    if kind == t.PLACE:
        return _place(text, at, stop, program, out, row)
    if kind == t.UNTIL:
        return _until(text, at, stop, program, first, second)
    if kind == t.BEGIN:
        out[row + first] = at
        return at
    if kind == t.CLOSE:
        return at if keep_text(text, out[row + first], at, first, second, out, row) else t.ODD
    if kind == t.IDS:
        end = _ids(text, at, stop)
        out[row + first], out[row + first + 1] = at, end
        return end
    if kind == t.NUMBER_OR_NONE:
        end = _number(text, at, stop, first, second, out, row)
        return at + 4 if end == t.FAILED and _is_none(text, at, stop) else end
    if kind == t.COPY:
        out[row + first] = out[row + second]
        return at
    if kind == t.REST:
        return stop
    if kind == t.END:
        return at if at == stop else t.FAILED
    return _release(text, at, stop) if kind == t.RELEASE else t.ODD


@compiled
def _either(text: Bytes, at: int, stop: int, pc: int, program: Integers) -> int:
    for choice in range(pc + t.STEP, pc + t.STEP * (program[pc + 1] + 1), t.STEP):
        if stands(text, at, stop, program, program[choice + 1], program[choice + 2]):
            return int(at + program[choice + 2])
    return t.FAILED


@compiled
def _untold(begin: int, end: int, program: Integers, out: Integers, row: int) -> None:
    """Takes back what an optional part has kept."""
    for pc in range(begin, end, t.STEP):
        kind, column = program[pc], program[pc + 1]
        if kind in (t.NUMBER, t.NUMBER_OR_NONE):
            if column >= 0:
                out[row + column] = t.NULL
        elif kind == t.PLACE:
            out[row + t.TOPIC], out[row + t.PARTITION] = -1, t.NULL
        elif kind in (t.BEGIN, t.IDS):
            out[row + column] = -1


@compiled
def walk(text: Bytes, at: int, stop: int, pc: int, program: Integers, out: Integers, row: int) -> int:
    """Walks a program along `[at, stop)` and keeps what it finds in a row; where it ends, FAILED or ODD."""
    optional, behind, before = 0, -1, 0
    while program[uintp(pc)] != t.DONE:
        if pc == behind:
            behind = -1
        if program[uintp(pc)] == t.MAYBE:
            optional, behind, before = pc, pc + t.STEP * (program[pc + 1] + 1), at
            pc += t.STEP
            continue
        if program[uintp(pc)] == t.EITHER:
            after = _either(text, at, stop, pc, program)
            following = pc + t.STEP * (program[pc + 1] + 1)
        else:
            after = _step(text, at, stop, pc, program, out, row)
            following = pc + t.STEP
        if after == t.FAILED and behind >= 0:
            _untold(optional + t.STEP, behind, program, out, row)
            at, following, behind = before, behind, -1
        elif after < 0:
            return after
        else:
            at = after
        pc = following
    return at
