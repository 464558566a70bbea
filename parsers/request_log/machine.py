"""The loop over FETCH lines in JSON that numba turns into machine code; anything odd it leaves to the plain parser.

This module imports numba; only `compiled.compiled_scan` loads it, and only for logs that are worth it. All state lies
in flat arrays, because passing many arrays between compiled functions costs more than the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numba
from numba import types

from parsers.request_log import grammar as g
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_values import (
    clear,
    compiled,
    copy_counts,
    fits,
    name_number,
    number,
    scalar,
    stands,
    string_end,
)

READ, UNREAD, LEFT = 0, 1, 2
"""Status of a line: read here, of a kind that is not read, left to the plain parser."""

DEPTH_LIMIT: Final = 12
_MESSAGE: Final = 50
"""Bytes of the default prefix and of the words that begin a request."""
_MARKER: Final = b"Completed request:"
_FETCH: Final = b'FETCH"'
_NUMBER_KEY: Final = b'"requestApiKey":'


@compiled
def _forgotten_number(text: Bytes, at: int, out: Integers) -> int:
    sign, value, fraction, end = number(text, at)
    if end < 0 or fraction >= 0 or not fits(sign * value, g.I32):
        return -1
    row = out[g.TABLES_AT + 2] + out[g.FORGOTTEN_ROWS] * g.FORGOTTEN_WIDTH
    out[row] = out[g.TOPICS] - 1
    out[row + 1] = sign * value
    out[g.FORGOTTEN_ROWS] += 1
    return end


@compiled
def _child(action: int, opener: int, seen: int) -> int:
    """The context that opens; -1 where something else should stand there, or where it stands twice."""
    if action == g.SKIP:
        return g.SKIPPED if opener == 123 else g.SKIPPED_LIST
    child = action - g.NEST
    if child < 0 or child >= g.CONTEXTS or (child % 2 == 0) != (opener == 123) or (seen >> child) & 1:
        return -1
    return child


@compiled
def _enter(child: int, seen: int, out: Integers) -> int:
    """A struct or list opens; what was seen inside an element of a list may stand again in the next one."""
    if child in (g.ASKED_TOPIC, g.FORGOTTEN_TOPIC, g.ANSWERED_TOPIC):
        out[g.TOPICS] += 1
        clear(out, _record(child, 0, out), g.TOPIC_WIDTH)
        return seen & ~((1 << g.ASKED_LIST) | (1 << g.FORGOTTEN_LIST) | (1 << g.ANSWERED_LIST))
    if child in (g.ASKED, g.ANSWERED):
        row = _record(child, 0, out)
        clear(out, row, g.PARTITION_WIDTH)
        out[row + g.TOPIC_ROW] = out[g.TOPICS] - 1
        return seen & ~((1 << g.DIVERGING) | (1 << g.LEADER))
    return seen if child in (g.SKIPPED, g.SKIPPED_LIST) else seen | (1 << child)


@compiled
def _leave(context: int, out: Integers) -> bool:
    """A struct or list closes; a partition becomes a row, if it told its number."""
    if context == g.ASKED:
        out[g.ASKED_ROWS] += 1
        return bool(out[_record(context, 0, out) - g.PARTITION_WIDTH + g.PARTITION] >= 0)
    if context == g.ANSWERED:
        out[g.ANSWERED_ROWS] += 1
        return bool(out[_record(context, 0, out) - g.PARTITION_WIDTH + g.PARTITION] >= 0)
    return True


@compiled
def _record(context: int, line: int, out: Integers) -> int:
    """Where the fields of a context go."""
    if context < g.ASKED_TOPIC:
        return line
    if context == g.ASKED:
        return int(out[g.TABLES_AT + 1] + out[g.ASKED_ROWS] * g.PARTITION_WIDTH)
    if context >= g.ANSWERED:
        return int(out[g.TABLES_AT + 3] + out[g.ANSWERED_ROWS] * g.PARTITION_WIDTH)
    return int(out[g.TABLES_AT] + (out[g.TOPICS] - 1) * g.TOPIC_WIDTH)


@compiled
def _fetch(  # noqa: C901, PLR0911, PLR0912 (one walk; each call between compiled functions would cost a step)
    text: Bytes, at: int, end: int, grammar: Integers, out: Integers, line: int
) -> bool:
    """One JSON object, walked once; false where anything in it is odd."""
    depth, fresh, seen = 0, True, 1
    out[g.STACK_AT] = g.ROOT
    at += 1
    while depth >= 0:
        context = out[g.STACK_AT + depth]
        listed = context & 1
        if text[at] == (93 if listed else 125):
            if not _leave(context, out):
                return False
            depth -= 1
            fresh = False
            at += 1
            continue
        if not fresh:
            if text[at] != 44:
                return False
            at += 1
        name = g.NAMES_WIDTH - 1
        if not listed:
            quote = string_end(text, at + 1) if text[at] == 34 else -1
            if quote < 0 or text[quote + 1] != 58:
                return False
            name = name_number(text, at + 1, quote, grammar)
            at = quote + 2
        action = grammar[context * g.NAMES_WIDTH + name]
        byte = text[at]
        fresh = byte in (123, 91)
        if fresh:
            child = _child(action, byte, 0 if listed else seen)
            depth += 1
            if child < 0 or depth >= DEPTH_LIMIT:
                return False
            seen = _enter(child, seen, out)
            out[g.STACK_AT + depth] = child
            at += 1
        elif context == g.FORGOTTEN_LIST:
            at = _forgotten_number(text, at, out)
        elif listed and action != g.SKIP:
            return False
        else:
            at = scalar(text, at, end, action, out, _record(context, line, out))
        if at < 0:
            return False
    out[line + g.SEEN] = seen
    return _is_fetch(text, end, out, line)


@compiled
def _is_fetch(text: Bytes, end: int, out: Integers, line: int) -> bool:
    """Whether the walk met all that a fetch must have."""
    name, seen = out[line + g.NAME], out[line + g.SEEN]
    whole = (seen >> g.HEADER) & 1 and (seen >> g.REQUEST) & 1 and out[line + g.VERSION] >= 0
    return bool(whole and name != g.NULL and stands(text, name, end, _FETCH))


@compiled
def _kind(text: Bytes, start: int, end: int, out: Integers) -> int:
    """Whether a line is a FETCH in JSON behind the default layout's prefix, some other request, or something else."""
    if end - start < 160 or text[start] != 91 or text[start + 24] != 93 or text[start + _MESSAGE] != 123:
        return LEFT
    if not (stands(text, start + 25, end, b" DEBUG ") or stands(text, start + 25, end, b" TRACE ")):
        return LEFT
    if not stands(text, start + 32, end, _MARKER) or not _is_time(text, start + 1):
        return LEFT
    for at in range(start + _MESSAGE, start + _MESSAGE + 80):
        if text[at] == 34 and text[at + 8] == 65 and stands(text, at, end, _NUMBER_KEY):
            kind, digits = 0, at + len(_NUMBER_KEY)
            while 48 <= text[digits] <= 57 and kind < g.WANTED:
                kind = kind * 10 + (text[digits] - 48)
                digits += 1
            if text[digits] != 44 or kind >= g.WANTED:
                return LEFT
            return READ if kind == 1 else LEFT if out[g.WANTED_AT + kind] else UNREAD
    return LEFT


@compiled
def _is_time(text: Bytes, at: int) -> bool:
    """`dddd-dd-dd dd:dd:dd,ddd`."""
    marks = text[at + 4] == 45 and text[at + 7] == 45 and text[at + 10] == 32 and text[at + 13] == 58
    if not marks or text[at + 16] != 58 or text[at + 19] != 44:
        return False
    digits = 0
    for i in range(23):
        digits += 48 <= text[at + i] <= 57
    return digits == 17


@compiled
def _marked_again(text: Bytes, start: int, end: int) -> bool:
    for at in range(start, end - len(_MARKER)):
        if text[at] == 67 and text[at + 17] == 58 and stands(text, at, end, _MARKER):
            return True
    return False


def _scan(text: Bytes, start: int, grammar: Integers, out: Integers) -> int:
    """The lines of a block from `start` on, as many as there is room for; how many those are.

    The block ends in a line feed, so no look ahead leaves it: every walk stops at one.
    """
    for table in range(g.BEFORE_AT):
        out[table] = 0
    room = (len(out) - out[g.LINES]) // g.LINE_WIDTH
    rows = 0
    while start < len(text) and rows < room:
        end = start
        while text[end] != 10:
            end += 1
        line = out[g.LINES] + rows * g.LINE_WIDTH
        clear(out, line, g.LINE_WIDTH)
        kind = _kind(text, start, end, out)
        copy_counts(out, 0, g.BEFORE_AT)
        if kind == READ and not _fetch(text, start + _MESSAGE, end, grammar, out, line):
            copy_counts(out, g.BEFORE_AT, 0)
            kind = LEFT
        elif kind == UNREAD and _marked_again(text, start + _MESSAGE, end):
            kind = LEFT
        out[line + g.START], out[line + g.END], out[line + g.STATUS] = start, end, kind
        out[line + g.ASKED_TO] = out[g.ASKED_ROWS]
        out[line + g.FORGOTTEN_TO] = out[g.FORGOTTEN_ROWS]
        out[line + g.ANSWERED_TO] = out[g.ANSWERED_ROWS]
        rows += 1
        start = end + 1
    return rows


Scan = Callable[[Bytes, int, Integers, Integers], int]


def compile_scan() -> Scan | None:
    """The loop, compiled or loaded from where it was kept; None where that cannot be done here."""
    text: Any = types.Array(types.uint8, 1, "C", readonly=True)
    flat: Any = types.Array(types.int64, 1, "C")
    # Without a writable place to keep the code it is compiled anew, which must not end a run.
    for keep in (True, False):
        try:
            return cast("Scan", numba.njit(types.int64(text, types.int64, flat, flat), cache=keep, nogil=True)(_scan))
        except (RuntimeError, OSError):
            continue
    return None
