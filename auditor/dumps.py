"""The folders given to an audit as one dump: a root that all paths are relative to, and what is read of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from auditor.config import ConfigError
from parsers.files import is_inside
from parsers.inventory import NotADump, enclose


class DumpParts(Struct, frozen=True, kw_only=True):
    """One dump, wherever its parts lie."""

    root: Path
    parts: tuple[str, ...] = ()
    """Folders relative to the root; empty when the root is read whole."""
    archives: tuple[Path, ...] = ()
    """What was given, where the root is a private folder with what was in it."""

    def holds(self, path: Path) -> bool:
        """Whether a path lies in what is read, so that nothing may be written there."""
        place = os.path.realpath(path)
        if place in {os.path.realpath(archive) for archive in self.archives}:
            return True
        return any(is_inside(place, os.path.realpath(self.root / part)) for part in self.parts or (".",))


def gather(given: Path | Sequence[Path], archives: tuple[Path, ...] = ()) -> DumpParts:
    """One folder as it is; several under the folder that encloses them all."""
    try:
        root, parts = enclose([given] if isinstance(given, Path) else list(given))
    except NotADump as refused:
        raise ConfigError(str(refused)) from refused
    return DumpParts(root=root, parts=parts, archives=archives)
