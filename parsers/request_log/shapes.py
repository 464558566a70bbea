"""Where a scan keeps the shapes of what it has walked: lines of one client differ in little but their numbers."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from parsers.request_log.grammar import CONTEXTS, Bytes, Integers

# The head: the shape that is being kept (-1: none), what was open before it, where its last value ended, the letters
# kept so far, and which shape was met last. Then, for every context, which of its ways was used last.
KEEPING, OPENED, MARK, LETTERS, MET = 0, 1, 2, 3, 4
USED_AT: Final = 8
SHAPES_AT: Final = USED_AT + CONTEXTS

# A shape: what was open and seen before it (-1: no shape), after it, how many values, how many letters behind the last,
# and the contexts that are open behind it; then its values: letters before it, what becomes of it, how it is written.
BEFORE, SEEN, DEPTH, STEPS, REST, STACK = 0, 1, 2, 3, 4, 5
DEEPEST: Final = 4
STEPS_AT: Final = STACK + DEEPEST
STEP_WIDTH, MOST_STEPS, MOST_LETTERS = 3, 64, 2048
WIDTH: Final = STEPS_AT + STEP_WIDTH * MOST_STEPS
WAYS: Final = 2
"""Shapes of each context: clients of two kinds or releases take turns."""
OF_JSON, OF_STRUCT, OF_LIST = 0, 1, 2
"""How a value is written: as in JSON, or in text in a struct or a list."""


class Shapes(NamedTuple):
    """What was walked, in numbers and letters."""

    steps: Integers
    letters: Bytes


def no_shapes() -> Shapes:
    """Nothing walked yet."""
    steps = np.zeros(SHAPES_AT + CONTEXTS * WAYS * WIDTH, dtype=np.int64)
    steps[KEEPING] = -1
    steps[SHAPES_AT:].reshape(-1, WIDTH)[:, BEFORE] = -1
    return Shapes(steps, np.zeros(CONTEXTS * WAYS * MOST_LETTERS, dtype=np.uint8))
