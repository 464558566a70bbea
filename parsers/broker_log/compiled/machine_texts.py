"""Texts that stand in a log many times over: numbered, found in blocks of settings, and copied out into columns.

This module imports numba; only `block` loads it, and only for logs that are worth it. Where bytes are gone through, places
are made unsigned: a signed one is looked at for whether it counts from the end.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy import uintp

from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.machine_walk import walk
from parsers.broker_log.compiled.tables import Bytes, Integers, Words
from parsers.machine_code import compiled

_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)
_PROBES: Final = 32
_EACH: Final = np.uint64(0x0101010101010101)
_LOW: Final = np.uint64(0x7F7F7F7F7F7F7F7F)
_LINE_ENDS: Final = np.uint64(0x0A0A0A0A0A0A0A0A)
_PLACES: Final = np.uint64(0x0001020304050607)
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _HALF, _WHOLE = np.uint64(1), np.uint64(32), np.uint64(64)
_SIGN, _TOP = np.uint64(7), np.uint64(56)


@compiled
def line_end(text: Bytes, words: Words, at: int) -> int:
    """The next line end, or the end of the text; looks at eight bytes at once."""
    word, before = at >> 3, _ALL << np.uint64((at & 7) << 3)
    while word < len(words):
        other = words[uintp(word)] ^ _LINE_ENDS
        # The sign of every byte that is a line end, and of no other.
        found = ~(((other & _LOW) + _LOW) | other | _LOW) & before
        if found:
            first = (found & (~found + _ONE)) >> _SIGN
            return int((word << 3) + np.int64((first * _PLACES) >> _TOP))
        word, before = word + 1, _ALL
    at = max(at, word << 3)
    while at < len(text) and text[uintp(at)] != 10:
        at += 1
    return at


@compiled
def _eight(text: Bytes, words: Words, at: int) -> np.uint64:
    """Eight bytes from `at` on, as a number; the text has so many."""
    word, bits = at >> 3, np.uint64((at & 7) << 3)
    if bits == 0:
        return np.uint64(words[uintp(word)])
    if word + 1 < len(words):
        return np.uint64((words[uintp(word)] >> bits) | (words[uintp(word + 1)] << (_WHOLE - bits)))
    told = np.uint64(0)
    for place in range(8):
        told |= np.uint64(text[uintp(at + place)]) << np.uint64(place << 3)
    return told


@compiled
def _digest(text: Bytes, words: Words, start: int, stop: int) -> np.uint64:
    """A number in which every byte of a text has a part."""
    mixed, at = _EACH, start
    while at + 8 <= stop:
        mixed = (mixed ^ _eight(text, words, at)) * _PRIME
        mixed ^= mixed >> _HALF
        at += 8
    while at < stop:
        mixed = (mixed ^ np.uint64(text[uintp(at)])) * _PRIME
        at += 1
    return (mixed * _PRIME) >> _HALF


@compiled
def _same(text: Bytes, words: Words, at: int, other: int, length: int) -> bool:
    """Whether the same bytes stand at two places."""
    done = 0
    while done + 8 <= length:
        if _eight(text, words, at + done) != _eight(text, words, other + done):
            return False
        done += 8
    while done < length:
        if text[uintp(at + done)] != text[uintp(other + done)]:
            return False
        done += 1
    return True


@compiled
def number_of(text: Bytes, words: Words, start: int, stop: int, known: Integers) -> int:
    """The number of a text among those known, to which it is added; -1 where there is no room near its place.

    `known` is the count, then for each slot a number and the text's first and last byte.
    """
    slots = (len(known) - 1) // 3
    slot = np.int64(_digest(text, words, start, stop) & np.uint64(slots - 1))
    for _ in range(_PROBES):
        row = 1 + 3 * slot
        if known[row] < 0:
            known[row], known[row + 1], known[row + 2] = known[0], start, stop
            known[0] += 1
            return int(known[row])
        first = known[row + 1]
        if known[row + 2] - first == stop - start and _same(text, words, start, first, stop - start):
            return int(known[row])
        slot = (slot + 1) & (slots - 1)
    return -1


def find_settings(
    text: Bytes,
    words: Words,
    start: int,
    last: int,
    program: Integers,
    begins: Integers,
    known: Integers,
    out: Integers,
) -> int:
    """The lines of a block from `start` on that begin with a blank, up to the next entry: first byte, last, and number.

    Their count; -1 for want of room, -2 where there are too many different ones. The last row of `out` is scratch.
    """
    count, at, scratch = 0, start, len(out) - t.LINE_WIDTH
    while at < last:
        stop = min(line_end(text, words, at), last)
        may_begin = begins[t.OPENING] < 0 or text[at] == begins[t.OPENING]
        if stop == last or (may_begin and walk(text, at, len(text), begins[t.HEAD], program, out, scratch) >= 0):
            return count
        if text[at] == 32 or text[at] == 9:
            if 3 * (count + 1) > scratch:
                return -1
            number = number_of(text, words, at, stop, known)
            if number < 0:
                return -2
            out[3 * count], out[3 * count + 1], out[3 * count + 2] = at, stop, number
            count += 1
        at = stop + 1
    return count


@compiled
def _copy_tight(text: Bytes, at: int, stop: int, letters: Bytes, count: int) -> int:
    """Copies a text without its blanks; how many letters there are then."""
    while at < stop:
        if text[uintp(at)] != 32:
            letters[uintp(count)] = text[uintp(at)]
            count += 1
        at += 1
    return count


def copy_texts(text: Bytes, starts: Integers, stops: Integers, tight: bool, letters: Bytes, offsets: Integers) -> int:
    """Copies texts one behind the other, `tight` without blanks; how many letters those are."""
    count = 0
    for number in range(len(starts)):
        offsets[number] = count
        start, stop = starts[number], stops[number]
        if tight:
            count = _copy_tight(text, start, stop, letters, count)
        else:
            for place in range(stop - start):
                letters[uintp(count + place)] = text[uintp(start + place)]
            count += stop - start
    offsets[len(starts)] = count
    return count
