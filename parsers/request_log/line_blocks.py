"""The lines of a block, and what is found of all of them at once."""

from __future__ import annotations

from io import BytesIO
from typing import Final

import numpy as np

_LOWEST: Final = np.frombuffer(b"[0000-00-00 00:00:00,000", np.uint8)
"""How a line opens that has Kafka's own layout: each nought stands for a digit."""
_SPAN: Final = np.where(ord("0") == _LOWEST, 9, 0).astype(np.uint8)


def lines_in(data: bytes) -> tuple[list[bytes], list[bool]]:
    """Lines, each with its line feed, and whether each opens with a bracket and a time as Kafka writes it."""
    lines = BytesIO(data).readlines()
    opening = b"".join([line[: len(_LOWEST)].ljust(len(_LOWEST)) for line in lines])
    letters = np.frombuffer(opening, np.uint8).reshape(-1, len(_LOWEST))
    return lines, np.all(letters - _LOWEST <= _SPAN, axis=1).tolist()


def braces_in(data: bytes) -> int:
    """How many structs begin in some JSON, if no text in it has a brace."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("{")))
