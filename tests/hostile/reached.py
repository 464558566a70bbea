"""Which lines of the readers an input reached: inputs that reach new ones are bred from.

libFuzzer's bridge to Python would count the same lines, but it takes the process over, ends it at the first fault and is
built for one platform; this loop keeps its totals, goes on after a fault and gives the same inputs for the same seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

WATCHED: Final = tuple(f"{Path(__file__).resolve().parents[2] / name}/" for name in ("parsers", "auditor/engines"))


class Coverage:
    """The lines that were ever reached, by what reached them."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()
        self._met: set[tuple[int, int]] = set()

    @property
    def lines(self) -> int:
        """How many there are."""
        return len(self._seen)

    def watched(self, act: Callable[[], None]) -> bool:
        """Do something, and say whether it reached a line, from another line than before, for the first time."""
        self._met = set()
        sys.settrace(self._enter)
        try:
            act()
        finally:
            sys.settrace(None)
        fresh = self._met - self._seen
        self._seen |= fresh
        return bool(fresh)

    def _enter(self, frame: FrameType, event: str, _given: Any) -> Any:  # noqa: ANN401 - as sys.settrace has it
        if event != "call" or not frame.f_code.co_filename.startswith(WATCHED):
            return None
        code, met, last = hash(frame.f_code.co_filename) ^ frame.f_code.co_firstlineno, self._met, 0

        def line(inner: FrameType, _event: str, _given: Any) -> Any:  # noqa: ANN401
            nonlocal last
            at = inner.f_lineno
            met.add((code, last << 20 | at))
            last = at
            return line

        return line
