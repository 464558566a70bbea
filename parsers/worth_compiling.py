"""When compiled loops are worth their start: loading them takes a second, making them for the first time a minute."""

from __future__ import annotations

from collections.abc import Callable


class Worth:
    """Counts what a process reads of a format, and says when its compiled loops have become worth their start.

    `load` bytes are read plainly in the time in which code that is kept on disk is loaded, `make` bytes in that in
    which it is made, where none is kept. What is shorter than `least` bytes is read plainly whatever came before.
    """

    __slots__ = ("_least", "_load", "_make", "_passed")

    def __init__(self, *, load: int, make: int, least: int = 0) -> None:
        self._load, self._make, self._least, self._passed = load, make, least, 0

    def after(self, size: int, is_kept: Callable[[], bool]) -> bool:
        """Whether they are, now that `size` more bytes are to be read."""
        self._passed += size
        if size < self._least:
            return False
        return self._passed >= self._make or (self._passed >= self._load and is_kept())
