"""The walk over one FETCH or PRODUCE in JSON, and what both walks do where structs open and close.

All state lies in flat arrays, because passing many arrays between compiled functions costs more than the work.
"""

from __future__ import annotations

from typing import Final

from parsers.machine_code import compiled, inlined
from parsers.request_log import grammar as g
from parsers.request_log import shapes as s
from parsers.request_log import tables as t
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_shapes import entered, keep_shape, partition, stretch, walked_value
from parsers.request_log.machine_values import action_of, clear, fits, name_number, number, stands, string_end

DEPTH_LIMIT: Final = 12
_FETCH: Final = b'FETCH"'
_PRODUCE: Final = b'PRODUCE"'


@compiled
def forgotten_number(text: Bytes, at: int, out: Integers) -> int:
    """One number of a list of forgotten partitions, as a row."""
    sign, value, fraction, end = number(text, at)
    if end < 0 or fraction >= 0 or not fits(sign * value, g.I32):
        return -1
    row = out[t.TABLES_AT + 2] + out[t.FORGOTTEN_ROWS] * g.FORGOTTEN_WIDTH
    out[row] = out[t.TOPICS] - 1
    out[row + 1] = sign * value
    out[t.FORGOTTEN_ROWS] += 1
    return end


@compiled
def child_of(action: int, opener: int, seen: int) -> int:
    """The context that opens; -1 where something else should stand there, or where it stands twice."""
    if action == g.SKIP:
        return g.SKIPPED if opener == 123 else g.SKIPPED_LIST
    child = action - g.NEST
    if child < 0 or child >= g.CONTEXTS or (child % 2 == 0) != (opener == 123) or (seen >> child) & 1:
        return -1
    return child


@compiled
def enter(child: int, seen: int, grammar: Integers, out: Integers) -> int:
    """A struct or list opens; what was seen inside an element of a list may stand again in the next one."""
    table = grammar[g.TABLE_AT + child]
    if table == g.OF_TOPIC:
        out[t.TOPICS] += 1
        clear(out, record_of(child, 0, grammar, out), g.TOPIC_WIDTH)
        return seen & ~g.LISTS_OF_A_TOPIC
    if table == g.OF_ASKED or child in (g.ANSWERED, g.WRITTEN, g.OLD_ANSWERED):
        row = record_of(child, 0, grammar, out)
        clear(out, row, g.PARTITION_WIDTH)
        out[row + g.TOPIC_ROW] = out[t.TOPICS] - 1
        return seen & ~g.STRUCTS_OF_A_PARTITION
    return seen if child in (g.SKIPPED, g.SKIPPED_LIST) else seen | (1 << child)


@compiled
def leave(context: int, grammar: Integers, out: Integers) -> bool:
    """A struct or list closes; a partition becomes a row, if it told its number."""
    if context in (g.ASKED, g.SENT):
        out[t.ASKED_ROWS] += 1
    elif context in (g.ANSWERED, g.WRITTEN, g.OLD_ANSWERED):
        out[t.ANSWERED_ROWS] += 1
    else:
        return True
    return bool(out[record_of(context, 0, grammar, out) - g.PARTITION_WIDTH + g.PARTITION] >= 0)


@compiled
def record_of(context: int, line: int, grammar: Integers, out: Integers) -> int:
    """Where the fields of a context go."""
    table = grammar[g.TABLE_AT + context]
    if table == g.OF_LINE:
        return line
    if table == g.OF_TOPIC:
        return int(out[t.TABLES_AT] + (out[t.TOPICS] - 1) * g.TOPIC_WIDTH)
    if table == g.OF_ASKED:
        return int(out[t.TABLES_AT + 1] + out[t.ASKED_ROWS] * g.PARTITION_WIDTH)
    return int(out[t.TABLES_AT + 3] + out[t.ANSWERED_ROWS] * g.PARTITION_WIDTH)


@compiled
def json_request(
    text: Bytes, at: int, end: int, root: int, grammar: Integers, out: Integers, line: int, steps: Integers,
    letters: Bytes,
) -> bool:  # fmt: skip
    """One JSON object, walked once; false where anything in it is odd."""
    unknown = grammar[g.WIDTH_AT] - 1
    out[t.STACK_AT] = root
    at, depth, seen = stretch(text, at + 1, end, root, 0, 1, line, out, steps, letters)
    fresh = True
    while depth >= 0:
        context = out[t.STACK_AT + depth]
        listed = context & 1
        if text[at] == (93 if listed else 125):
            if not leave(context, grammar, out):
                return False
            depth, at, fresh = depth - 1, at + 1, False
            if (g.TOPIC_LISTS >> context) & 1:
                at, depth, seen = stretch(text, at, end, context, depth, seen, line, out, steps, letters)
                fresh = text[at - 1] == 91
            elif (g.PARTITIONS >> context) & 1:
                keep_shape(text, at, seen & g.STRUCTS_OF_A_PARTITION, 0, out, steps, letters)
            continue
        if not fresh:
            if text[at] != 44:
                return False
            at += 1
        name = unknown
        if not listed:
            name, at = _named(text, at, context, unknown, grammar)
            if at < 0:
                return False
        action = action_of(context, name, grammar)
        byte = text[at]
        fresh = byte in (123, 91)
        if fresh:
            child = child_of(action, byte, 0 if listed else seen)
            depth += 1
            if child < 0 or depth >= DEPTH_LIMIT:
                return False
            seen = enter(child, seen, grammar, out)
            out[t.STACK_AT + depth] = child
            at += 1
            if (g.PARTITIONS >> child) & 1:
                stop, within = partition(text, at, end, child, record_of(child, 0, grammar, out), out, steps, letters)
                if stop >= 0:
                    if not leave(child, grammar, out):
                        return False
                    at, depth, seen, fresh = stop, depth - 1, seen | within, False
            else:
                entered(text, at, child, seen, depth, out, steps, letters)
        elif context == g.FORGOTTEN_LIST:
            at = forgotten_number(text, at, out)
        elif (listed and action != g.SKIP) or (g.NEST <= action < g.ODD and (seen >> (action - g.NEST)) & 1):
            return False
        else:
            record = record_of(context, line, grammar, out)
            at = walked_value(text, at, end, s.OF_JSON, action, out, record, steps, letters)
        if at < 0:
            return False
    out[line + g.SEEN] = seen
    keep_shape(text, at, seen, depth, out, steps, letters)
    return _is_whole(text, end, root, out, line)


@inlined
def _named(text: Bytes, at: int, context: int, unknown: int, grammar: Integers) -> tuple[int, int]:
    """The number of a field's name, and where its value begins; -1 there where no plain name stands."""
    quote = string_end(text, at + 1) if text[at] == 34 else -1
    if quote < 0 or text[quote + 1] != 58:
        return unknown, -1
    return unknown if context == g.SKIPPED else name_number(text, at + 1, quote, grammar), quote + 2


@compiled
def _is_whole(text: Bytes, end: int, root: int, out: Integers, line: int) -> bool:
    """Whether the walk met all that the request must have."""
    name, seen = out[line + g.NAME], out[line + g.SEEN]
    if name == g.NULL or out[line + g.VERSION] < 0 or not (seen >> g.HEADER) & 1:
        return False
    if root == g.ROOT:
        return bool((seen >> g.REQUEST) & 1 and stands(text, name, end, _FETCH))
    return bool((seen >> g.SENT_REQUEST) & 1 and stands(text, name, end, _PRODUCE))
