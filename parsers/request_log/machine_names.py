"""Texts, partitions and sessions by number: hash tables in flat arrays, in the part of Python that numba compiles."""

from __future__ import annotations

from typing import Final

from parsers.machine_code import compiled, inlined
from parsers.request_log import columns as c
from parsers.request_log import grammar as g
from parsers.request_log import tables as t
from parsers.request_log.columns import State
from parsers.request_log.grammar import Bytes, Integers

_PRIME: Final = 1099511628211
_FIRST: Final = -7046029254386353131
_SECOND: Final = -4417276706812531889
_DAYS_TO_1970: Final = 719468
_DAY_MS: Final = 86_400_000


@inlined
def _text_place(text: Bytes, start: int, end: int, size: int, seed: int) -> int:
    mixed = seed
    for at in range(start, end):
        mixed = (mixed ^ text[at]) * _PRIME
    return int((mixed ^ (mixed >> 32)) & (size - 1))


@compiled
def code_of(text: Bytes, start: int, end: int, letters: Bytes, state: State) -> int:
    """The number of a text; a new one where it was never seen."""
    spans, index, counts = state[c.SPANS], state[c.TEXT_INDEX], state[c.NUMBERS]
    place, length = _text_place(text, start, end, len(index), counts[c.SEED]), end - start
    while index[place] >= 0:
        first = spans[2 * index[place]]
        if spans[2 * index[place] + 1] - first == length:
            same = 0
            while same < length and letters[first + same] == text[start + same]:
                same += 1
            if same == length:
                return int(index[place])
        place = (place + 1) & (len(index) - 1)
    code, free = counts[c.TEXTS], counts[c.LETTERS]
    index[place] = code
    for at in range(length):
        letters[free + at] = text[start + at]
    spans[2 * code], spans[2 * code + 1] = free, free + length
    counts[c.TEXTS] += 1
    counts[c.LETTERS] += length
    return int(code)


@inlined
def place_of(first: int, second: int, third: int, index: Integers, rows: Integers, width: int, seed: int) -> int:
    """The place in an index of the row whose first three columns are these, or where it would go."""
    mixed = (first ^ seed) * _FIRST
    mixed = (mixed ^ (mixed >> 29) ^ second) * _SECOND
    mixed = (mixed ^ (mixed >> 31) ^ third) * _FIRST
    place = (mixed ^ (mixed >> 32)) & (len(index) - 1)
    while index[place] >= 0:
        row = index[place] * width
        if rows[row] == first and rows[row + 1] == second and rows[row + 2] == third:
            break
        place = (place + 1) & (len(index) - 1)
    return int(place)


@compiled
def key_of(topic: int, topic_id: int, partition: int, state: State) -> int:
    """Where the row of a partition stands; a new one where it was never seen."""
    keys, index, counts = state[c.KEY_ROWS], state[c.KEY_INDEX], state[c.NUMBERS]
    place = place_of(topic, topic_id, partition, index, keys, c.KEY_WIDTH, counts[c.SEED])
    if index[place] < 0:
        index[place] = counts[c.KEYS]
        row = counts[c.KEYS] * c.KEY_WIDTH
        keys[row], keys[row + 1], keys[row + 2] = topic, topic_id, partition
        for column in range(3, c.KEY_WIDTH):
            keys[row + column] = -1
        counts[c.KEYS] += 1
    return int(index[place] * c.KEY_WIDTH)


@compiled
def index_texts(letters: Bytes, state: State) -> None:
    """Fills an index of another size."""
    spans, index, counts = state[c.SPANS], state[c.TEXT_INDEX], state[c.NUMBERS]
    for place in range(len(index)):
        index[place] = -1
    for code in range(counts[c.TEXTS]):
        place = _text_place(letters, spans[2 * code], spans[2 * code + 1], len(index), counts[c.SEED])
        while index[place] >= 0:
            place = (place + 1) & (len(index) - 1)
        index[place] = code


@compiled
def index_rows(index: Integers, rows: Integers, width: int, count: int, seed: int) -> None:
    """The same for rows; of two that are called the same the later one counts."""
    for place in range(len(index)):
        index[place] = -1
    for number in range(count):
        row = number * width
        index[place_of(rows[row], rows[row + 1], rows[row + 2], index, rows, width, seed)] = number


@compiled
def name_topics(text: Bytes, out: Integers, letters: Bytes, state: State) -> None:
    """Numbers instead of spans for the names and ids of all topics of a scan."""
    for topic in range(out[t.TOPICS]):
        row = out[t.TABLES_AT] + topic * g.TOPIC_WIDTH
        for column in (0, 2):
            start = out[row + column]
            out[row + column] = 0 if start < 0 else code_of(text, start, out[row + column + 1], letters, state)


@compiled
def milliseconds(text: Bytes, at: int, end: int) -> int:
    """A time `dddd-dd-dd dd:dd:dd,ddd` since 1970 on its own clock; NULL where the text is none."""
    if end - at != 23:
        return g.NULL
    value, digits = 0, 0
    year, month, day, hour, minute, second = 0, 0, 0, 0, 0, 0
    for place in range(23):
        byte = text[at + place]
        if 48 <= byte <= 57:
            value = value * 10 + (byte - 48)
            digits += 1
            continue
        if place == 4 and byte == 45:
            year = value
        elif place == 7 and byte == 45:
            month = value
        elif place == 10 and byte == 32:
            day = value
        elif place == 13 and byte == 58:
            hour = value
        elif place == 16 and byte == 58:
            minute = value
        elif place == 19 and byte == 44:
            second = value
        else:
            return g.NULL
        value = 0
    if digits != 17 or year < 1 or not 1 <= month <= 12 or day < 1 or hour > 23 or minute > 59 or second > 59:
        return g.NULL
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    longest = 30 if month in (4, 6, 9, 11) else 31 if month != 2 else 29 if leap else 28
    if day > longest:
        return g.NULL
    # Years begin in March here, so that the leap day is a year's last.
    year -= month <= 2
    era_year = year % 400
    days = era_year * 365 + era_year // 4 - era_year // 100 + (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days += year // 400 * 146097 - _DAYS_TO_1970
    return int(days * _DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + value)
