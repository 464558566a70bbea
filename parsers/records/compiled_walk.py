"""The walk over records as machine code. This module imports numba; only what has many batches to walk loads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import register_jitable

from parsers.records.walk import behind_field, behind_headers, behind_time, number, walk

Walk = Callable[[bytes, int, int], bool]


@cache
def compile_walk() -> Walk | None:
    """The walk, compiled or loaded from where it was kept; None where that cannot be done here."""
    for function in (number, behind_time, behind_field, behind_headers):
        register_jitable(function)
    # Without a writable place to keep the code it is compiled anew, which takes about a second.
    for keep in (True, False):
        try:
            return _compile(keep)
        except (RuntimeError, OSError):
            continue
    return None


def _compile(keep: bool) -> Walk:
    held = types.Array(types.uint8, 1, "C", readonly=True)
    code: Any = numba.njit(types.boolean(held, types.int64, types.int64), cache=keep, nogil=True)(walk)

    def compiled(data: bytes, count: int, last_offset_delta: int) -> bool:
        return bool(code(np.frombuffer(data, dtype=np.uint8), count, last_offset_delta))

    return compiled
