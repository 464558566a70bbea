"""The files that one log was rotated into, in the order in which they were written: their names tell another one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

Age = tuple[bool, int, str]
Place = tuple[str, int, Age]
"""The log, when its file begins, and the file as its name tells its age."""
LONGEST_NUMBER: Final = 4
"""Digits of the number that rotation gives a file; longer ones are dates."""


class FileOrder:
    """Where each file stands among those of its log, as far as times tell."""

    def __init__(self, lines: Iterable[tuple[str, int | None]]) -> None:
        """From the file and the time of every statement."""
        self._begun: dict[str, int] = {}
        for source, time in lines:
            if time is not None and time < self._begun.get(source, time + 1):
                self._begun[source] = time

    def place(self, source: str) -> Place:
        """What files are sorted by."""
        return log_of(source), self._begun.get(source, -1), age(source)


@cache
def age(source: str) -> Age:
    """Sorts files that begin in one millisecond: numbers fall, dates rise, and the file being written is last."""
    rotation = source.removeprefix(log_of(source)).removesuffix(".gz").strip(".-_")
    number = -int(rotation) if rotation.isdecimal() and len(rotation) <= LONGEST_NUMBER else 0
    return not rotation, number, source


@cache
def log_of(source: str) -> str:
    """A file's path without what rotation and compression add to its name."""
    folder, slash, name = source.rpartition("/")
    stem, log, _ = name.partition(".log")
    return f"{folder}{slash}{stem}{log}"
