"""Every folder and file of a tree, each visited once, without following a link out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from parsers.files import disk_name, file_type, is_inside, printable
from parsers.inventory.names import FileName, parse_file_name
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal, RefusalKind


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a folder: its name as shown, its size, and what the name says."""

    name: str
    size: int
    parsed: FileName


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the tree, its files and the names of its subfolders."""

    path: str
    files: tuple[Entry, ...]
    subfolders: tuple[str, ...]

    def child(self, name: str) -> str:
        """The path of an entry of this folder."""
        return name if self.path == "." else f"{self.path}/{name}"


class _Listing:
    """A folder while it is listed."""

    def __init__(self) -> None:
        """Nothing is listed yet."""
        self.files: list[Entry] = []
        self.subfolders: list[tuple[str, str]] = []
        self.refusals: list[Refusal] = []


def walk(root: Path, parts: Sequence[str] = ()) -> tuple[dict[str, Folder], list[Refusal]]:
    """The folders of a tree by path, and what the operating system or a link kept from being read.

    With `parts`, folders relative to `root`, only those are walked; what encloses them is known by name alone.
    """
    base = os.path.realpath(root)
    # A stack of our own: folders may nest deeper than Python's calls can.
    stack = [(os.path.realpath(os.path.join(base, disk_name(part))), part) for part in parts or (".",)]
    bases = tuple(place for place, _ in stack)
    folders = _enclosing(parts)
    refusals: list[Refusal] = []
    while stack:
        place, path = stack.pop()
        listing = _list_folder(place, path, bases)
        refusals += listing.refusals
        stack += listing.subfolders
        files = tuple(sorted(listing.files, key=lambda entry: entry.name))
        names = tuple(sorted(shown.rpartition("/")[2] for _, shown in listing.subfolders))
        folders[path] = Folder(path, files, names)
    return folders, refusals


def _enclosing(parts: Sequence[str]) -> dict[str, Folder]:
    """The folders around the parts, each holding nothing but the way to them."""
    children: dict[str, set[str]] = {}
    for part in parts:
        for path in ancestors(part):
            if path != ".":
                children.setdefault(path.rpartition("/")[0] or ".", set()).add(path.rpartition("/")[2])
    return {path: Folder(path, (), tuple(sorted(names))) for path, names in children.items()}


def ancestors(path: str) -> Iterator[str]:
    """A folder and those that enclose it, nearest first, up to the root."""
    while path != ".":
        yield path
        path = path.rpartition("/")[0] or "."
    yield "."


def _list_folder(place: str, path: str, bases: tuple[str, ...]) -> _Listing:
    listing = _Listing()
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                shown = printable(entry.name)
                _add(listing, entry, shown if path == "." else f"{path}/{shown}", bases)
    except (OSError, ValueError) as error:
        listing.refusals.append(_refusal(path, "unreadable", "a folder that can be listed", _reason(error)))
    return listing


def _add(listing: _Listing, entry: os.DirEntry[str], path: str, bases: tuple[str, ...]) -> None:
    try:
        if entry.is_symlink():
            _add_link(listing, entry, path, bases)
        elif entry.is_dir(follow_symlinks=False):
            listing.subfolders.append((entry.path, path))
        else:
            _add_file(listing, entry.name, path, entry.stat(follow_symlinks=False))
    except (OSError, ValueError) as error:
        listing.refusals.append(_refusal(path, "unreadable", "a readable file", _reason(error)))


def _add_link(listing: _Listing, entry: os.DirEntry[str], path: str, bases: tuple[str, ...]) -> None:
    target = os.path.realpath(entry.path)
    if not any(is_inside(target, base) for base in bases):
        found = f"a link to {printable(os.readlink(entry.path))}"
        listing.refusals.append(_refusal(path, "escapes_dump", "a path inside the dump", found))
        return
    status = os.stat(target)
    # A folder inside the dump is walked under its own path: once, however many links lead to it.
    if not stat.S_ISDIR(status.st_mode):
        _add_file(listing, entry.name, path, status)


def _add_file(listing: _Listing, name: str, path: str, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        listing.files.append(Entry(path.rpartition("/")[2], status.st_size, parse_file_name(name)))
    else:
        listing.refusals.append(_refusal(path, "unreadable", "a regular file", file_type(status.st_mode)))


def _refusal(path: str, kind: RefusalKind, expected: str, found: str) -> Refusal:
    return refuse(Origin(source=path), kind, 0, 0, expected=expected, found=found)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
