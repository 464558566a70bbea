"""The loop over the lines of a request log that numba compiles; anything odd it leaves to the plain parser.

This module imports numba; only `compiled` loads it, and only for logs that are worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import types

from parsers.machine_code import compiled, is_kept, keep_compiled
from parsers.request_log import grammar as g
from parsers.request_log import tables as t
from parsers.request_log.grammar import LEFT, OTHER, READ, READ_SENT, UNREAD, Bytes, Integers
from parsers.request_log.machine_json import json_request
from parsers.request_log.machine_text import text_request
from parsers.request_log.machine_values import COMPILED, action_of, clear, copy_counts, name_number, stands

_MESSAGE: Final = 50
"""Bytes of the default prefix and of the words that begin a request."""
_MARKER: Final = b"Completed request:"
_NUMBER_KEY: Final = b'"requestApiKey":'
_HEADER: Final = b"RequestHeader(apiKey="
_FETCH: Final = b'FETCH"'
_HEADED: Final = _MESSAGE + len(_HEADER)


@compiled
def _kind(text: Bytes, start: int, end: int, spelt: Integers, out: Integers) -> tuple[int, int]:
    """Whether a line behind the default prefix is read here, passed over or left, and where its text goes on."""
    message = start + _MESSAGE
    if end - start < 160 or text[start] != 91 or text[start + 24] != 93 or text[start + 31] != 32:
        return LEFT, 0
    if not (stands(text, start + 25, end, b" DEBUG ") or stands(text, start + 25, end, b" TRACE ")):
        return LEFT, 0
    if not stands(text, start + 32, end, _MARKER) or not _is_time(text, start + 1):
        return LEFT, 0
    if text[message] == 123:
        return _json_kind(text, message, end, out), message
    if not stands(text, message, end, _HEADER):
        return LEFT, 0
    at = start + _HEADED
    while 65 <= text[at] <= 90 or text[at] == 95:
        at += 1
    if text[at] != 44:
        return LEFT, 0
    return action_of(g.API, name_number(text, start + _HEADED, at, spelt), spelt), at


@compiled
def _json_kind(text: Bytes, message: int, end: int, out: Integers) -> int:
    for at in range(message, message + 80):
        if text[at] == 34 and text[at + 8] == 65 and stands(text, at, end, _NUMBER_KEY):
            kind, digits = 0, at + len(_NUMBER_KEY)
            while 48 <= text[digits] <= 57 and kind < t.WANTED:
                kind = kind * 10 + (text[digits] - 48)
                digits += 1
            return LEFT if text[digits] != 44 or kind >= t.WANTED else int(out[t.WANTED_AT + kind])
    return LEFT


@compiled
def _read(
    text: Bytes, at: int, end: int, kind: int, grammar: Integers, spelt: Integers, out: Integers, line: int,
    steps: Integers, letters: Bytes,
) -> bool:  # fmt: skip
    """Walks the request of a line; false where it is left to the plain parser."""
    if text[at] == 123:
        root = g.ROOT if kind == READ else g.SENT_ROOT
        return json_request(text, at, end, root, grammar, out, line, steps, letters)
    return text_request(text, at, end, kind, spelt, out, line, steps, letters)


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


@compiled
def _is_odd(text: Bytes, start: int, end: int, kind: int) -> bool:
    """Whether another line begins inside a line, or its JSON may name itself a fetch, whatever its number says."""
    marked, named = np.uint8(0), np.uint8(0)
    # No way out of the loop, so that it is compiled to steps of many bytes.
    for place in range(start, end - len(_MARKER)):
        byte = text[np.uint64(place)]
        marked |= np.uint8(byte == 67) & np.uint8(text[np.uint64(place + 17)] == 58)
        named |= np.uint8(byte == 92) | (np.uint8(byte == 34) & np.uint8(text[np.uint64(place + 1)] == 70))
    if marked and _marked_again(text, start, end):
        return True
    if kind == UNREAD or text[start] != 123:
        return False
    first = start if named else max(start, end - len(_MARKER))
    for at in range(first, end):
        if text[at] == 92 or (text[at] == 34 and text[at + 1] == 70 and stands(text, at + 1, end, _FETCH)):
            return True
    return False


def _scan(
    text: Bytes, ends: Integers, first: int, grammar: Integers, spelt: Integers, out: Integers, steps: Integers,
    letters: Bytes,
) -> int:  # fmt: skip
    """The lines of a block from one on, as many as there is room for; how many those are.

    The block ends in a line feed, so no look ahead leaves it: every walk stops at one.
    """
    for table in range(t.BEFORE_AT):
        out[table] = 0
    rows = min((len(out) - out[t.LINES]) // g.LINE_WIDTH, len(ends) - first)
    start = ends[first - 1] + 1 if first > 0 else 0
    for row in range(rows):
        end = ends[first + row]
        line = out[t.LINES] + row * g.LINE_WIDTH
        clear(out, line, g.LINE_WIDTH)
        kind, at = _kind(text, start, end, spelt, out)
        copy_counts(out, 0, t.BEFORE_AT)
        if kind in (READ, READ_SENT) and not _read(
            text, at, end, kind, grammar, spelt, out, line, steps, letters
        ):
            copy_counts(out, t.BEFORE_AT, 0)
            kind = LEFT
        elif kind in (UNREAD, OTHER) and _is_odd(text, start + _MESSAGE, end, kind):
            kind = LEFT
        out[line + g.START], out[line + g.END], out[line + g.STATUS] = start, end, kind
        out[line + g.TIME_START], out[line + g.TIME_END] = start + 1, start + 24
        out[line + g.ASKED_TO] = out[t.ASKED_ROWS]
        out[line + g.FORGOTTEN_TO] = out[t.FORGOTTEN_ROWS]
        out[line + g.ANSWERED_TO] = out[t.ANSWERED_ROWS]
        start = end + 1
    return int(rows)


Scan = Callable[[Bytes, Integers, int, Integers, Integers, Integers, Integers, Bytes], int]


def compile_scan() -> Scan | None:
    """The loop, compiled or loaded from where it was kept; None where that cannot be done here."""
    text: Any = types.Array(types.uint8, 1, "C", readonly=True)
    flat: Any = types.Array(types.int64, 1, "C")
    letters: Any = types.Array(types.uint8, 1, "C")
    number: Any = types.int64
    return keep_compiled(_scan, number(text, flat, number, flat, flat, flat, flat, letters), COMPILED)


def scan_is_kept() -> bool:
    """Whether the loop was compiled before and need only be loaded."""
    return is_kept(_scan, COMPILED)
