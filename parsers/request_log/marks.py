"""Marks of all lines of a block, found at once: where they end, and whether they open with a time."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

_LOWEST: Final = np.frombuffer(b"[0000-00-00 00:00:00,000", np.uint8)
"""How a line opens that has Kafka's own layout: each nought stands for a digit."""
_SPAN: Final = np.where(ord("0") == _LOWEST, 9, 0).astype(np.uint8)


class Marked(NamedTuple):
    """Lines of a block, one behind the other."""

    ends: list[int]
    timed: list[bool]
    """Whether a line opens with a bracket and a time as Kafka writes it."""


def marked_in(data: bytes) -> Marked:
    """The marks of lines each of which a line feed ends."""
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    opening = letters.take(starts + np.arange(len(_LOWEST))[:, None], mode="clip")
    timed = np.all(opening - _LOWEST[:, None] <= _SPAN[:, None], axis=0)
    return Marked(ends.tolist(), timed.tolist())


def braces_in(data: bytes) -> int:
    """How many structs begin in some JSON, if no text in it has a brace."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("{")))
