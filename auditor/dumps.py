"""The folders given to an audit as one dump: a root that all paths are relative to, and what is read of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from auditor.config import ConfigError
from parsers.files import is_inside, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """One dump, wherever its parts lie."""

    root: Path
    parts: tuple[str, ...] = ()
    """Folders relative to the root; empty when the root is read whole."""

    def holds(self, path: Path) -> bool:
        """Whether a path lies in what is read, so that nothing may be written there."""
        place = os.path.realpath(path)
        return any(is_inside(place, os.path.realpath(self.root / part)) for part in self.parts or (".",))


def gather(given: Path | Sequence[Path]) -> Dump:
    """One folder as it is; several under the folder that encloses them all."""
    folders = [given] if isinstance(given, Path) else list(given)
    for folder in folders:
        if not folder.is_dir():
            found = "a file" if folder.exists() else "nothing"
            raise ConfigError(f"{folder}: expected a folder that holds brokers' log dirs, found {found}")
    if len(folders) == 1:
        return Dump(root=folders[0])
    places = [os.path.realpath(folder) for folder in folders]
    _refuse_nested(list(zip(folders, places, strict=True)))
    root = os.path.commonpath(places)
    parts = (Path(os.path.relpath(place, root)).parts for place in places)
    return Dump(root=Path(root), parts=tuple(sorted("/".join(map(printable, names)) for names in parts)))


def _refuse_nested(placed: Sequence[tuple[Path, str]]) -> None:
    """A folder read twice would be compared with itself."""
    for (first, place), (second, other) in combinations(placed, 2):
        if place == other:
            raise ConfigError(f"{first} and {second} are the same folder; give each folder once")
        if is_inside(place, other) or is_inside(other, place):
            inner, outer = (first, second) if is_inside(place, other) else (second, first)
            raise ConfigError(f"{inner} lies inside {outer}; give the outer one alone, or folders beside each other")
