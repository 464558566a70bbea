"""Names and values of the struct text of Kafka 1.0 to 2.7, in the part of Python that numba turns into machine code.

Values are unquoted: one ends at a closing bracket, or at a comma that a name and `=` follow.
"""

from __future__ import annotations

from typing import Final

from parsers.machine_code import compiled, inlined
from parsers.request_log import grammar as g
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_values import fits, number, stands

_NULL: Final = b"null"
_TRUE: Final = b"true"
_FALSE: Final = b"false"
_SIZE: Final = b"(size="
_START: Final = b", start="
_END: Final = b", end="


@inlined
def digits(text: Bytes, at: int, most: int) -> tuple[int, int]:
    """A number without a sign, and where it ends; -1 there for none, or one of too many digits."""
    start, value = at, 0
    while 48 <= text[at] <= 57 and at - start <= most:
        value = value * 10 + (text[at] - 48)
        at += 1
    return value, at if start < at <= start + most else -1


@compiled
def name_end(text: Bytes, at: int) -> int:
    """Where a name ends that `=` follows; -1 where none stands."""
    start, byte = at, text[at]
    if not (97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95):
        return -1
    while 97 <= byte <= 122 or byte == 95 or 65 <= byte <= 90 or 48 <= byte <= 57:
        at += 1
        byte = text[at]
    return at if byte == 61 and at - start <= 64 else -1


@compiled
def odd_name(text: Bytes, start: int, end: int) -> bool:
    """Whether a name that is not known may be one in camelCase, unlike all names that Kafka writes."""
    upper, under, odd = False, False, text[end - 1] == 95
    for at in range(start, end):
        upper |= 65 <= text[at] <= 90
        under |= text[at] == 95
        odd |= text[at] == 95 and text[at + 1] == 95
    return odd or (upper and under)


@inlined
def text_scalar(text: Bytes, at: int, listed: int, action: int, out: Integers, record: int) -> int:
    """A value that opens nothing; where it ends, or -1 where it is odd."""
    if g.I16 <= action < g.TEXT:
        sign, value, fraction, end = number(text, at)
        column = record + action % 100
        if end < 0 or fraction >= 0 or not fits(sign * value, action) or out[column] != g.NULL:
            return -1
        out[column] = sign * value
        return end
    if action == g.SKIP:
        return _skipped(text, at, listed == 1)
    end = _plain_end(text, at)
    if g.TEXT <= action < g.TIME:
        column = record + action - g.TEXT
        if end < 0 or end == at or _is_no_text(text, at, end) or out[column] != g.NULL:
            return -1
        out[column], out[column + 1] = at, end
        return end
    if g.TOLD <= action < g.RECORDS and end > at:
        column = record + action - g.TOLD
        null = end - at == 4 and stands(text, at, end, _NULL)
        if out[column] != g.NULL or (_is_no_text(text, at, end) and not null):
            return -1
        out[column] = 0 if null else 1
        return end
    return -1


@inlined
def _plain_end(text: Bytes, at: int) -> int:
    """The end of a value of letters, digits, `.`, `_` and `-`, as names of topics are; -1 for another."""
    byte = text[at]
    while 97 <= byte <= 122 or 48 <= byte <= 57 or 65 <= byte <= 90 or byte in (45, 46, 95):
        at += 1
        byte = text[at]
    return at if byte in (44, 125) else -1


@inlined
def _is_no_text(text: Bytes, start: int, end: int) -> bool:
    """Whether a value may stand for a number, or for null, true or false."""
    for word in (_NULL, _TRUE):
        if end - start == 4 and stands(text, start, end, word):
            return True
    if end - start == 5 and stands(text, start, end, _FALSE):
        return True
    for at in range(start, end):
        if not (48 <= text[at] <= 57 or text[at] == 45):
            return False
    return True


@compiled
def _skipped(text: Bytes, at: int, listed: bool) -> int:
    """The end of a value that is passed over."""
    while True:
        byte = text[at]
        if byte in (125, 93) or (byte == 44 and (listed or name_end(text, at + 1) >= 0)):
            return at
        if byte == 40:
            at = _behind_parentheses(text, at)
            if at < 0:
                return -1
        elif byte < 32 or byte > 126 or byte in (123, 91, 41):
            return -1
        else:
            at += 1


@compiled
def _behind_parentheses(text: Bytes, at: int) -> int:
    depth = 0
    while True:
        byte = text[at]
        if byte < 32 or byte > 126:
            return -1
        depth += (byte == 40) - (byte == 41)
        at += 1
        if depth == 0:
            return at


@compiled
def records(text: Bytes, at: int, out: Integers, column: int) -> int:
    """What stands for the records of an answer: nothing, a kind without a size, a size, or a stretch of a file."""
    if out[column] != g.NULL:
        return -1
    if text[at] == 91 and text[at + 1] == 93:
        out[column] = 0
        return at + 2
    if not (97 <= text[at] <= 122 or 65 <= text[at] <= 90):
        return -1
    opened = _parenthesis(text, at)
    if opened >= 0:
        end = opened
        while text[end] != 41:
            end += 1
        size = _told_size(text, opened, end + 1)
        out[column] = size if size >= 0 else g.NULL
        return end + 1 if size >= 0 else -1
    end = _skipped(text, at, False)
    opened, marks = -1, 0
    for place in range(at, end):
        if text[place] == 40:
            opened, marks = place, marks + 1
    if end < 0 or marks > 1:
        return -1
    if end - at == 4 and stands(text, at, end, _NULL):
        out[column] = 0
    elif marks == 1:
        size = _told_size(text, opened, end)
        if size < 0:
            return -1
        out[column] = size
    return end


@inlined
def _parenthesis(text: Bytes, at: int) -> int:
    """Where the only parenthesis opens in a value that ends with it, and so does its struct; -1 for another value."""
    while 64 <= text[at] <= 90 or 97 <= text[at] <= 122 or 48 <= text[at] <= 57:
        at += 1
    opened, within = at, text[at] == 40
    while within and text[at] != 41:
        at += 1
        within = 32 <= text[at] <= 126 and text[at] != 40
    return opened if within and text[at + 1] == 125 else -1


@compiled
def _told_size(text: Bytes, opened: int, end: int) -> int:
    """The size behind the parenthesis, or the length from `start` to `end` before the closing one; -1 for neither."""
    if stands(text, opened, end, _SIZE):
        size, at = digits(text, opened + len(_SIZE), 18)
        return size if at >= 0 and text[at] in (44, 41) else -1
    at = end - 2
    while at > opened and 48 <= text[at] <= 57:
        at -= 1
    if text[end - 1] != 41 or not stands(text, at + 1 - len(_END), end, _END):
        return -1
    last, stop = digits(text, at + 1, 18)
    at -= len(_END)
    behind = at + 1
    while at > opened and 48 <= text[at] <= 57:
        at -= 1
    first, border = digits(text, at + 1, 18)
    if stop < 0 or border != behind or at <= opened or not stands(text, at + 1 - len(_START), end, _START):
        return -1
    return max(0, last - first)
