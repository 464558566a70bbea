"""Stretches of a request that were walked before: read again by their shape, in the part of Python numba compiles.

A stretch is kept as the letters between its values and what became of each value. One with the same letters would be
walked the same way, so that only its values are looked at. Any other is walked, and kept instead.
"""

from __future__ import annotations

import numpy as np

from parsers.machine_code import compiled, inlined
from parsers.request_log import grammar as g
from parsers.request_log import shapes as s
from parsers.request_log import tables as t
from parsers.request_log.grammar import Bytes, Integers
from parsers.request_log.machine_text_values import records, text_scalar
from parsers.request_log.machine_values import scalar


@inlined
def _value_of(text: Bytes, at: int, end: int, written: int, action: int, out: Integers, record: int) -> int:
    """A value that opens nothing; where it ends, or -1 where it is odd."""
    if written == s.OF_JSON:
        return scalar(text, at, end, action, out, record)
    if action == g.RECORDS:
        return records(text, at, out, record + g.RECORDS_SIZE)
    return text_scalar(text, at, 1 if written == s.OF_LIST else 0, action, out, record)


@compiled
def met_again(
    text: Bytes, at: int, end: int, context: int, open_now: int, record: int, out: Integers, steps: Integers,
    letters: Bytes,
) -> int:  # fmt: skip
    """Where a stretch ends that has a shape which is known; -1 where it must be walked: then it is being kept."""
    used = steps[s.USED_AT + context]
    for turn in range(s.WAYS):
        way = (used + turn) % s.WAYS
        number = context * s.WAYS + way
        shape = s.SHAPES_AT + number * s.WIDTH
        if steps[shape + s.BEFORE] == open_now:
            stop = _by_shape(text, at, end, number, record, out, steps, letters)
            if stop >= 0:
                steps[s.USED_AT + context], steps[s.MET] = way, shape
                return stop
    way = (used + 1) % s.WAYS
    number = context * s.WAYS + way
    shape = s.SHAPES_AT + number * s.WIDTH
    steps[s.USED_AT + context] = way
    steps[s.KEEPING], steps[s.MARK], steps[s.LETTERS] = number, at, number * s.MOST_LETTERS
    steps[s.OPENED] = open_now
    steps[shape + s.BEFORE], steps[shape + s.STEPS] = -1, 0
    return -1


@compiled
def _by_shape(
    text: Bytes, at: int, end: int, number: int, record: int, out: Integers, steps: Integers, letters: Bytes
) -> int:
    shape, letter = s.SHAPES_AT + number * s.WIDTH, number * s.MOST_LETTERS
    first = shape + s.STEPS_AT
    step, last = first, first + steps[shape + s.STEPS] * s.STEP_WIDTH
    while step < last:
        length = steps[step]
        if not _same(text, at, end, letters, letter, length):
            break
        letter += length
        at = _value_of(text, at + length, end, steps[step + 2], steps[step + 1], out, record)
        if at < 0:
            break
        step += s.STEP_WIDTH
    length = steps[shape + s.REST]
    if step == last and _same(text, at, end, letters, letter, length):
        return int(at + length)
    for done in range(first, step, s.STEP_WIDTH):
        _taken_back(steps[done + 1], out, record)
    return -1


@inlined
def _same(text: Bytes, at: int, end: int, letters: Bytes, letter: int, length: int) -> bool:
    if at + length > end:
        return False
    other = np.uint8(0)
    for place in range(length):
        other = np.uint8(other | (text[np.uint64(at + place)] ^ letters[np.uint64(letter + place)]))
    return bool(other == 0)


@compiled
def _taken_back(action: int, out: Integers, record: int) -> None:
    """Nothing is told of a field, as before its value was met."""
    if g.I16 <= action < g.TEXT:
        out[record + action % 100] = g.NULL
    elif g.TEXT <= action < g.TIME:
        out[record + action - g.TEXT], out[record + action - g.TEXT + 1] = g.NULL, g.NULL
    elif g.TIME <= action < g.NEST:
        out[record + action - g.TIME] = g.NULL
    elif g.TOLD <= action < g.RECORDS:
        out[record + action - g.TOLD] = g.NULL
    elif action == g.RECORDS:
        out[record + g.RECORDS_SIZE] = g.NULL


@compiled
def walked_value(
    text: Bytes, at: int, end: int, written: int, action: int, out: Integers, record: int, steps: Integers,
    letters: Bytes,
) -> int:  # fmt: skip
    """A value of a stretch that is walked; where it ends, or -1 where it is odd."""
    if steps[s.KEEPING] >= 0:
        _keep_value(text, at, action, written, steps, letters)
    at = _value_of(text, at, end, written, action, out, record)
    steps[s.MARK] = at
    return at


@compiled
def _keep_value(text: Bytes, at: int, action: int, written: int, steps: Integers, letters: Bytes) -> None:
    """A value of the stretch that is being kept begins."""
    number = steps[s.KEEPING]
    shape = s.SHAPES_AT + number * s.WIDTH
    count = steps[shape + s.STEPS]
    if count >= s.MOST_STEPS or not _letters_kept(text, at, steps, letters):
        steps[s.KEEPING] = -1
        return
    step = shape + s.STEPS_AT + count * s.STEP_WIDTH
    steps[step], steps[step + 1], steps[step + 2] = at - steps[s.MARK], action, written
    steps[shape + s.STEPS] = count + 1


@compiled
def _letters_kept(text: Bytes, at: int, steps: Integers, letters: Bytes) -> bool:
    start, free = steps[s.MARK], steps[s.LETTERS]
    if free + at - start > (steps[s.KEEPING] + 1) * s.MOST_LETTERS:
        return False
    for place in range(at - start):
        letters[free + place] = text[start + place]
    steps[s.LETTERS] = free + at - start
    return True


@compiled
def keep_shape(
    text: Bytes, at: int, seen: int, depth: int, out: Integers, steps: Integers, letters: Bytes
) -> None:
    """The stretch that is being kept ends, if one is."""
    number = steps[s.KEEPING]
    if number < 0:
        return
    shape = s.SHAPES_AT + number * s.WIDTH
    if depth < s.DEEPEST and _letters_kept(text, at, steps, letters):
        steps[shape + s.BEFORE], steps[shape + s.SEEN], steps[shape + s.DEPTH] = steps[s.OPENED], seen, depth
        steps[shape + s.REST] = at - steps[s.MARK]
        for place in range(s.DEEPEST):
            steps[shape + s.STACK + place] = out[t.STACK_AT + place]
    steps[s.KEEPING] = -1


@compiled
def opened(root: int, depth: int, seen: int) -> int:
    """What is open, and was seen, as one number."""
    return seen | root << g.CONTEXTS | depth << (g.CONTEXTS + 6)


@compiled
def stretch(
    text: Bytes, at: int, end: int, context: int, depth: int, seen: int, line: int, out: Integers, steps: Integers,
    letters: Bytes,
) -> tuple[int, int, int]:  # fmt: skip
    """The stretch behind the topics of `context`, or before the first ones: where it ends, what is open and was seen.

    A stretch that must be walked ends where it begins.
    """
    seen &= ~(g.LISTS_OF_A_TOPIC | g.STRUCTS_OF_A_PARTITION)
    stop = met_again(text, at, end, context, opened(out[t.STACK_AT], depth, seen), line, out, steps, letters)
    if stop < 0:
        return at, depth, seen
    shape = steps[s.MET]
    for place in range(s.DEEPEST):
        out[t.STACK_AT + place] = steps[shape + s.STACK + place]
    return stop, steps[shape + s.DEPTH], steps[shape + s.SEEN]


@compiled
def entered(
    text: Bytes, at: int, child: int, seen: int, depth: int, out: Integers, steps: Integers, letters: Bytes
) -> None:
    """A struct or list opens inside of a stretch that may be kept: topics end it, forgotten ones spoil it."""
    if (g.TOPIC_LISTS >> child) & 1:
        keep_shape(text, at, seen, depth, out, steps, letters)
    elif child == g.FORGOTTEN_TOPIC:
        steps[s.KEEPING] = -1


@compiled
def partition(
    text: Bytes, at: int, end: int, context: int, record: int, out: Integers, steps: Integers, letters: Bytes
) -> tuple[int, int]:
    """A partition of a known shape: where it ends, and what was seen in it; -1 where it must be walked."""
    stop = met_again(text, at, end, context, opened(out[t.STACK_AT], 0, 0), record, out, steps, letters)
    return stop, steps[steps[s.MET] + s.SEEN] if stop >= 0 else 0
