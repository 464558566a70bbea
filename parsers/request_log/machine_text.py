"""The walk over one FETCH or PRODUCE in the struct text of Kafka 1.0 to 2.7."""

from __future__ import annotations

from typing import Final

from parsers.machine_code import compiled, inlined
from parsers.request_log import grammar as g
from parsers.request_log import shapes as s
from parsers.request_log import tables as t
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_json import DEPTH_LIMIT, child_of, enter, forgotten_number, leave, record_of
from parsers.request_log.machine_shapes import entered, keep_shape, partition, stretch, walked_value
from parsers.request_log.machine_text_values import digits, name_end, odd_name
from parsers.request_log.machine_values import action_of, fits, name_number, number, stands

_VERSION: Final = b", apiVersion="
_CLIENT: Final = b", clientId="
_CORRELATION: Final = b", correlationId="
_BODY: Final = b") -- "
_RESPONSE: Final = b",response:"
_CONNECTION: Final = b" from connection "
_TOTAL: Final = b";totalTime:"
_QUEUE: Final = b",requestQueueTime:"
_LOCAL: Final = b",localTime:"
_REMOTE: Final = b",remoteTime:"
_THROTTLED: Final = b",throttleTime:"
_RESPONSE_QUEUE: Final = b",responseQueueTime:"
_SEND: Final = b",sendTime:"


@compiled
def text_request(
    text: Bytes, at: int, end: int, kind: int, grammar: Integers, out: Integers, line: int, steps: Integers,
    letters: Bytes,
) -> bool:  # fmt: skip
    """A line from behind the request's name on; false where anything in it is odd."""
    at = _header(text, at, end, out, line)
    if at < 0 or text[at] != 123:
        return False
    fetch = kind == g.READ
    at, seen = _struct(
        text, at, end, g.REQUEST if fetch else g.SENT_REQUEST, 0, grammar, out, line, steps, letters
    )
    if at < 0 or not stands(text, at, end, _RESPONSE):
        return False
    at += len(_RESPONSE)
    if text[at] == 123:
        answer = g.OLD_RESPONSE if fetch else g.SENT_RESPONSE
        at, seen = _struct(text, at, end, answer, seen | (1 << g.RESPONSE), grammar, out, line, steps, letters)
    out[line + g.SEEN] = seen
    return at >= 0 and stands(text, at, end, _CONNECTION) and _tail(text, at + len(_CONNECTION), end, out, line)


@inlined
def _header(text: Bytes, at: int, end: int, out: Integers, line: int) -> int:
    """Version, client and correlation id; where the request's struct begins."""
    if not stands(text, at, end, _VERSION):
        return -1
    out[line + g.VERSION], at = digits(text, at + len(_VERSION), 5)
    if at < 0 or out[line + g.VERSION] >= 1 << 15 or not stands(text, at, end, _CLIENT):
        return -1
    at += len(_CLIENT)
    out[line + g.CLIENT] = at
    while not (text[at] == 44 and stands(text, at, end, _CORRELATION)):
        if text[at] < 32 or text[at] > 126:
            return -1
        at += 1
    out[line + g.CLIENT + 1] = at
    at += len(_CORRELATION)
    sign = -1 if text[at] == 45 else 1
    value, at = digits(text, at + (1 if sign < 0 else 0), 10)
    if at < 0 or not fits(sign * value, g.I32) or not stands(text, at, end, _BODY):
        return -1
    out[line + g.CORRELATION] = sign * value
    return at + len(_BODY)


@inlined
def _tail(text: Bytes, at: int, end: int, out: Integers, line: int) -> bool:
    """Connection and times; a time that is told again is odd."""
    out[line + g.CONNECTION] = at
    while text[at] != 59:
        if text[at] < 32 or text[at] > 126 or _tells_time(text, at):
            return False
        at += 1
    out[line + g.CONNECTION + 1] = at
    at = _time(text, at, end, _TOTAL, out, line + g.TOTAL)
    at = _time(text, at, end, _QUEUE, out, line + g.QUEUE)
    at = _time(text, at, end, _LOCAL, out, line + g.LOCAL)
    at = _time(text, at, end, _REMOTE, out, line + g.REMOTE)
    at = _time(text, at, end, _THROTTLED, out, line + g.SEND)
    at = _time(text, at, end, _RESPONSE_QUEUE, out, line + g.RESPONSE_QUEUE)
    at = _time(text, at, end, _SEND, out, line + g.SEND)
    if at < 0:
        return False
    while at < end:
        if text[at] == 58 and _tells_time(text, at):
            return False
        at += 1
    return True


@inlined
def _time(text: Bytes, at: int, end: int, name: bytes, out: Integers, column: int) -> int:
    if at < 0 or not stands(text, at, end, name):
        return -1
    sign, value, fraction, at = number(text, at + len(name))
    if at < 0 or text[at] != 44 or sign < 0 or value >= 10**11:
        return -1
    out[column] = value * 1000 + max(fraction, 0)
    return at


@inlined
def _tells_time(text: Bytes, colon: int) -> bool:
    """Whether one of the times that are read may be told here, by the letters that no other name of a time has."""
    if text[colon] != 58 or text[colon - 1] != 101 or text[colon - 2] != 109 or text[colon - 4] != 84:
        return False
    remote_or_queue = text[colon - 5] == 101 and text[colon - 6] in (116, 117)
    return bool(text[colon - 5] in (108, 100) or remote_or_queue)


@compiled
def _struct(
    text: Bytes, at: int, end: int, root: int, seen: int, grammar: Integers, out: Integers, line: int,
    steps: Integers, letters: Bytes,
) -> tuple[int, int]:  # fmt: skip
    """One struct, walked once: where it ends, -1 where anything in it is odd, and the contexts seen."""
    unknown = grammar[g.WIDTH_AT] - 1
    out[t.STACK_AT] = root
    at, depth, seen = stretch(text, at + 1, end, root, 0, seen, line, out, steps, letters)
    fresh = True
    while depth >= 0:
        context = out[t.STACK_AT + depth]
        listed = context & 1
        if text[at] == (93 if listed else 125):
            if not leave(context, grammar, out):
                return -1, 0
            depth, at, fresh = depth - 1, at + 1, False
            if (g.TOPIC_LISTS >> context) & 1:
                at, depth, seen = stretch(text, at, end, context, depth, seen, line, out, steps, letters)
                fresh = text[at - 1] == 91
            elif (g.PARTITIONS >> context) & 1:
                keep_shape(text, at, seen & g.STRUCTS_OF_A_PARTITION, 0, out, steps, letters)
            continue
        if not fresh:
            if text[at] != 44:
                return -1, 0
            at += 1
        name = unknown
        if not listed:
            name, at = _named(text, at, context, unknown, grammar)
            if at < 0:
                return -1, 0
        action = action_of(context, name, grammar)
        if context == g.OLD_ANSWERED and (seen >> g.OLD_HEADER) & 1 and action not in (g.SKIP, g.RECORDS):
            return -1, 0
        byte = text[at]
        fresh = action != g.RECORDS and byte in (123, 91)
        if fresh:
            child = child_of(action, byte, 0 if listed else seen)
            depth += 1
            if child < 0 or depth >= DEPTH_LIMIT or (child == g.OLD_HEADER and not _first(seen, grammar, out)):
                return -1, 0
            seen = enter(child, seen, grammar, out)
            out[t.STACK_AT + depth] = child
            at += 1
            if (g.PARTITIONS >> child) & 1:
                stop, within = partition(text, at, end, child, record_of(child, 0, grammar, out), out, steps, letters)
                if stop >= 0:
                    if not leave(child, grammar, out):
                        return -1, 0
                    at, depth, seen, fresh = stop, depth - 1, seen | within, False
            else:
                entered(text, at, child, seen, depth, out, steps, letters)
        elif context == g.FORGOTTEN_LIST:
            at = forgotten_number(text, at, out)
        elif (listed and action != g.SKIP) or (g.NEST <= action < g.RECORDS and action - g.NEST < g.CONTEXTS):
            return -1, 0
        else:
            record = record_of(context, line, grammar, out)
            at = walked_value(text, at, end, s.OF_STRUCT + listed, action, out, record, steps, letters)
        if at < 0:
            return -1, 0
    keep_shape(text, at, seen, depth, out, steps, letters)
    return at, seen


@inlined
def _named(text: Bytes, at: int, context: int, unknown: int, grammar: Integers) -> tuple[int, int]:
    """The number of a field's name, and where its value begins; -1 there for no name, or an odd one."""
    stop = name_end(text, at)
    if stop < 0 or context == g.SKIPPED:
        return unknown, stop + 1 if stop >= 0 else -1
    name = name_number(text, at, stop, grammar)
    return name, -1 if name == unknown and odd_name(text, at, stop) else stop + 1


@compiled
def _first(seen: int, grammar: Integers, out: Integers) -> bool:
    """Whether nothing was told of an answered partition before its header: the header alone counts."""
    row = record_of(g.OLD_ANSWERED, 0, grammar, out)
    for column in range(g.PARTITION, g.PARTITION_WIDTH):
        if out[row + column] != g.NULL and column != g.RECORDS_SIZE:
            return False
    return (seen & g.STRUCTS_OF_A_PARTITION) == 0
