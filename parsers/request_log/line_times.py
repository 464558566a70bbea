"""Times of many lines at once: when each was written, and how long its request took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from parsers.request_log.fetch_columns import Integers
from parsers.request_log.typed import NULL

Floats = npt.NDArray[np.float64]
_LOWEST: Final = np.frombuffer(b"0000-00-00 00:00:00,000", np.uint8)[:, None]
"""A time as Kafka writes it: each nought stands for a digit."""
_SPAN: Final = np.where(ord("0") == _LOWEST, 9, 0).astype(np.uint8)
_WIDTH: Final = len(_LOWEST)
_UNITS: Final = ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19), (20, 23))
"""Where years, months, days, hours, minutes, seconds and milliseconds stand."""
_LEAST: Final = np.array([[1], [1], [1], [0], [0], [0], [0]])
_MOST: Final = np.array([[9999], [12], [31], [23], [59], [59], [999]])
_LONGEST_MS: Final = 1e15


def times_of(texts: Sequence[bytes]) -> Integers:
    """Milliseconds on the writer's clock, of times as Kafka writes them; NULL for others."""
    written = b"".join(texts)
    if len(written) != _WIDTH * len(texts) or set(map(len, texts)) != {_WIDTH}:
        return np.array([times_of((text,))[0] if len(text) == _WIDTH else NULL for text in texts], dtype=np.int64)
    letters = np.ascontiguousarray(np.frombuffer(written, np.uint8).reshape(-1, _WIDTH).T) - _LOWEST
    units = np.array([_number(letters[start:end]) for start, end in _UNITS])
    known = (letters <= _SPAN).all(axis=0) & ((units >= _LEAST) & (units <= _MOST)).all(axis=0)
    year, month, day, hour, minute, second, ms = np.where(known, units, _LEAST)
    first = ((year - 1970) * 12 + month - 1).astype("M8[M]")
    days = first.astype("M8[D]").astype(np.int64) + day - 1
    known &= days.astype("M8[D]").astype("M8[M]") == first
    return np.where(known, (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms, NULL)


def _number(digits: npt.NDArray[np.uint8]) -> Integers:
    number: Integers = np.zeros(digits.shape[1], dtype=np.int64)
    for digit in digits:
        number = number * 10 + digit
    return number


def microseconds(milliseconds: Floats) -> Integers:
    """Durations; NULL for what is none."""
    known = (milliseconds >= 0) & (milliseconds < _LONGEST_MS)
    return np.where(known, np.rint(np.where(known, milliseconds, 0) * 1000).astype(np.int64), NULL)
