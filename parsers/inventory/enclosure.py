"""Several folders as one dump: the root that encloses them, and where each lies under it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from parsers.files import found_at, is_inside, printable


class NotADump(ValueError):
    """Folders that cannot be read together; the text says why."""


def enclose(folders: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """The root of one folder as it is; of several the one that encloses them all, and their places under it."""
    if not folders:
        raise NotADump("expected a folder that holds brokers' log dirs, found none")
    for folder in folders:
        found = found_at(folder)
        if found != "a folder":
            words = found if found[0].isupper() else f"found {found.replace('regular ', '')}"
            raise NotADump(f"{folder}: expected a folder that holds brokers' log dirs, {words}")
    if len(folders) == 1:
        return folders[0], ()
    places = [os.path.realpath(folder) for folder in folders]
    _refuse_nested(list(zip(folders, places, strict=True)))
    root = os.path.commonpath(places)
    parts = (Path(os.path.relpath(place, root)).parts for place in places)
    return Path(root), tuple(sorted("/".join(map(printable, names)) for names in parts))


def _refuse_nested(placed: Sequence[tuple[Path, str]]) -> None:
    """A folder read twice would be compared with itself."""
    for (first, place), (second, other) in combinations(placed, 2):
        if place == other:
            raise NotADump(f"{first} and {second} are the same folder; give each folder once")
        if is_inside(place, other) or is_inside(other, place):
            inner, outer = (first, second) if is_inside(place, other) else (second, first)
            raise NotADump(f"{inner} lies inside {outer}; give the outer one alone, or folders beside each other")
