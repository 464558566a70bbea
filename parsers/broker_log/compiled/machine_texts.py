"""Texts that stand in a log many times over: numbered, found in blocks of settings, and copied out into columns.

This module imports numba; only `block` loads it, and only for logs that are worth it.
"""

from __future__ import annotations

from typing import Final

from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.machine_walk import walk
from parsers.broker_log.compiled.tables import Bytes, Integers
from parsers.machine_code import compiled

_PRIME: Final = 1099511628211
_FIRST: Final = -3750763034362895579
_PROBES: Final = 32


@compiled
def number_of(text: Bytes, start: int, stop: int, known: Integers) -> int:
    """The number of a text among those known, to which it is added; -1 where there is no room near its place.

    `known` is the count, then for each slot a number and the text's first and last byte.
    """
    slots = (len(known) - 1) // 3
    mixed = _FIRST
    for at in range(start, stop):
        mixed = (mixed ^ text[at]) * _PRIME
    slot = (mixed ^ (mixed >> 29)) & (slots - 1)
    for _ in range(_PROBES):
        row = 1 + 3 * slot
        if known[row] < 0:
            known[row], known[row + 1], known[row + 2] = known[0], start, stop
            known[0] += 1
            return int(known[row])
        first = known[row + 1]
        if known[row + 2] - first == stop - start:
            same = 0
            while same < stop - start and text[first + same] == text[start + same]:
                same += 1
            if same == stop - start:
                return int(known[row])
        slot = (slot + 1) & (slots - 1)
    return -1


def find_settings(
    text: Bytes, start: int, last: int, program: Integers, head: int, known: Integers, out: Integers
) -> int:
    """The lines of a block from `start` on that begin with a blank, up to the next entry: first byte, last, and number.

    Their count; -1 for want of room, -2 where there are too many different ones. The last row of `out` is scratch.
    """
    count, at, scratch = 0, start, len(out) - t.LINE_WIDTH
    while at < last:
        stop = at
        while stop < last and text[stop] != 10:
            stop += 1
        if walk(text, at, len(text), head, program, out, scratch) >= 0 or stop == last:
            return count
        if text[at] == 32 or text[at] == 9:
            if 3 * (count + 1) > scratch:
                return -1
            number = number_of(text, at, stop, known)
            if number < 0:
                return -2
            out[3 * count], out[3 * count + 1], out[3 * count + 2] = at, stop, number
            count += 1
        at = stop + 1
    return count


def copy_texts(text: Bytes, starts: Integers, stops: Integers, tight: bool, letters: Bytes, offsets: Integers) -> int:
    """Copies texts one behind the other, `tight` without blanks; how many letters those are."""
    count = 0
    for number in range(len(starts)):
        offsets[number] = count
        for at in range(starts[number], stops[number]):
            if tight and text[at] == 32:
                continue
            letters[count] = text[at]
            count += 1
    offsets[len(starts)] = count
    return count
