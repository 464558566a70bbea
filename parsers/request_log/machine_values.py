"""Names, numbers, texts and words of JSON, in the part of Python that numba turns into machine code.

Each function takes where a value begins and returns where it ends, or -1 where it is odd: unescaping, other alphabets,
exponents and values of another width are left to the plain parser.
"""

from __future__ import annotations

from typing import Final

from parsers.machine_code import compiled, inlined
from parsers.request_log import grammar as g
from parsers.request_log import tables as t
from parsers.request_log.grammar import Bytes, Integers

COMPILED: Final = ("machine*.py", "grammar.py", "tables.py", "columns.py", "shapes.py")
"""Modules beside this one whose code and numbers are compiled."""


@inlined
def stands(text: Bytes, at: int, end: int, word: bytes) -> bool:
    """Whether a word stands at a place before the end of the line."""
    if at + len(word) > end:
        return False
    for i in range(len(word)):
        if text[at + i] != word[i]:
            return False
    return True


# Loops, because the compiler takes seconds over an assignment to a slice.
@inlined
def clear(out: Integers, start: int, width: int) -> None:
    """A row in which nothing is told."""
    for at in range(start, start + width):
        out[at] = g.NULL


@compiled
def copy_counts(out: Integers, start: int, to: int) -> None:
    """Keeps the numbers of rows, or takes them back."""
    for at in range(t.BEFORE_AT):
        out[to + at] = out[start + at]


@inlined
def string_end(text: Bytes, at: int) -> int:
    """The closing quote of a plain text that begins at `at`; -1 where it needs unescaping, or a codec."""
    while True:
        byte = text[at]
        if byte == 34:
            return at
        if byte < 32 or byte > 126 or byte == 92:
            return -1
        at += 1


@compiled
def name_number(text: Bytes, start: int, end: int, grammar: Integers) -> int:
    """The number of a name; that of unknown names where it stands nowhere."""
    length, unknown = end - start, int(grammar[g.WIDTH_AT]) - 1
    if length == 0:
        return unknown
    middle = text[start + length // 2]
    slot = (length * 37 + text[start] * 5 + middle * 131 + text[end - 1] * 17) % g.SLOTS
    while True:
        at = grammar[g.SLOTS_FROM] + 3 * slot
        if grammar[at] < 0:
            return unknown
        letters = grammar[at + 1]
        if grammar[at + 2] - letters == length:
            same = 0
            while same < length and grammar[letters + same] == text[start + same]:
                same += 1
            if same == length:
                return int(grammar[at])
        slot = (slot + 1) % g.SLOTS


@compiled
def action_of(context: int, name: int, grammar: Integers) -> int:
    """What becomes of a field of a context."""
    return int(grammar[g.ACTIONS_AT + context * grammar[g.WIDTH_AT] + name])


@inlined
def number(text: Bytes, at: int) -> tuple[int, int, int, int]:
    """Sign, digits before the point, thousandths (-1 without a point), and the end; -1 there where it is odd."""
    sign = 1
    if text[at] == 45:
        sign = -1
        at += 1
    start, value = at, 0
    while 48 <= text[at] <= 57 and at - start <= 18:
        value = value * 10 + (text[at] - 48)
        at += 1
    if at == start or at - start > 18 or (text[start] == 48 and at - start > 1):
        return 0, 0, 0, -1
    fraction = -1
    if text[at] == 46:
        at += 1
        point, fraction = at, 0
        while 48 <= text[at] <= 57 and at - point < 3:
            fraction = fraction * 10 + (text[at] - 48)
            at += 1
        if at == point:
            return 0, 0, 0, -1
        for _ in range(3 - (at - point)):
            fraction *= 10
    if text[at] == 44 or text[at] == 125 or text[at] == 93:
        return sign, value, fraction, at
    return 0, 0, 0, -1


@inlined
def fits(value: int, action: int) -> bool:
    """Whether a number has the width of its field."""
    if action < g.I32:
        return -(1 << 15) <= value < (1 << 15)
    return action >= g.I64 or -(1 << 31) <= value < (1 << 31)


@inlined
def _keep_number(text: Bytes, at: int, action: int, out: Integers, record: int) -> int:
    sign, value, fraction, end = number(text, at)
    if end < 0 or action == g.SKIP:
        return end
    if g.I16 <= action < g.TEXT:
        column = record + action % 100
        if fraction >= 0 or not fits(sign * value, action) or out[column] != g.NULL:
            return -1
        out[column] = sign * value
        return end
    column = record + action - g.TIME
    if action < g.TIME or action >= g.NEST or sign < 0 or value >= 10**11 or out[column] != g.NULL:
        return -1
    out[column] = value * 1000 + max(fraction, 0)
    return end


@inlined
def _keep_text(text: Bytes, at: int, action: int, out: Integers, record: int) -> int:
    end = string_end(text, at + 1)
    if end < 0:
        return -1
    if g.TEXT <= action < g.TIME:
        column = record + action - g.TEXT
        if out[column] != g.NULL:
            return -1
        out[column] = at + 1
        out[column + 1] = end
    elif g.TOLD <= action < g.RECORDS:
        if out[record + action - g.TOLD] != g.NULL:
            return -1
        out[record + action - g.TOLD] = 1
    elif action != g.SKIP and not (action in (g.NEST + g.RESPONSE, g.NEST + g.SENT_RESPONSE) and end == at + 1):
        # acks=0 leaves an empty text where the answer would stand.
        return -1
    return end + 1


@inlined
def _keep_word(text: Bytes, at: int, end: int, action: int, out: Integers, record: int) -> int:
    """null, true or false; a null under a name that has another spelling is odd, and so is one that follows a value."""
    if stands(text, at, end, b"null"):
        if g.TOLD <= action < g.RECORDS and out[record + action - g.TOLD] == g.NULL:
            out[record + action - g.TOLD] = 0
            return at + 4
        client = action == g.TEXT + g.CLIENT and out[record + g.CLIENT] == g.NULL
        return at + 4 if action == g.SKIP or client or g.NEST <= action < g.ODD else -1
    if action == g.SKIP and stands(text, at, end, b"true"):
        return at + 4
    return at + 5 if action == g.SKIP and stands(text, at, end, b"false") else -1


@inlined
def scalar(text: Bytes, at: int, end: int, action: int, out: Integers, record: int) -> int:
    """A value that opens nothing; where it ends, or -1 where it is odd."""
    if text[at] == 34:
        return _keep_text(text, at, action, out, record)
    if text[at] == 45 or 48 <= text[at] <= 57:
        return _keep_number(text, at, action, out, record)
    return _keep_word(text, at, end, action, out, record)
