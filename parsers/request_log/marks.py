"""Marks of all lines of a block, found at once: where they end, whether they open with a time, whether two are one."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Letters = npt.NDArray[np.uint8]

_LOWEST: Final = np.frombuffer(b"[0000-00-00 00:00:00,000", np.uint8)
"""How a line opens that has Kafka's own layout: each nought stands for a digit."""
_SPAN: Final = np.where(ord("0") == _LOWEST, 9, 0).astype(np.uint8)
_STRUCTS: Final = (b'equest":', b'sponse":')
"""How the names end before whose struct a line tells a request or its answer, eight letters that make a number."""


class Marked(NamedTuple):
    """Lines of a block, one behind the other."""

    ends: list[int]
    timed: list[bool]
    """Whether a line opens with a bracket and a time as Kafka writes it."""
    spliced: list[bool]
    """Whether it may hold parts of two: a request or an answer twice, as where what lay between was lost."""


def marked_in(data: bytes) -> Marked:
    """The marks of lines each of which a line feed ends."""
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    opening = letters.take(starts[:, None] + np.arange(len(_LOWEST)), mode="clip")
    timed = np.all((opening - _LOWEST) <= _SPAN, axis=1)
    return Marked(ends.tolist(), timed.tolist(), _spliced(data, letters, ends).tolist())


def _spliced(data: bytes, letters: Letters, ends: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    braces = np.flatnonzero(letters[8:] == ord("{"))
    before = np.ndarray(max(len(data) - 8, 0), "<u8", data, strides=(1,))[braces]
    most = np.zeros(len(ends), dtype=np.int64)
    for name in _STRUCTS:
        lines = np.searchsorted(ends, braces[before == int.from_bytes(name, "little")] + 8)
        most = np.maximum(most, np.bincount(lines, minlength=len(ends)))
    return most > 1
