"""Every folder and file of a tree, each visited once, without following a link out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from parsers.files import disk_name, file_type, is_inside, printable, reason_of
from parsers.inventory.file_names import WRITTEN_BY_BROKERS, WRITTEN_BY_KAFKA, FileName, parse_file_name
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal, RefusalKind

_NO_FILE: Final[tuple[RefusalKind, str]] = ("unreadable", "a regular file")


class FolderEntry(Struct, frozen=True):
    """A file in a folder: its name as shown, its size, and what the name says."""

    name: str
    size: int
    parsed: FileName


class Impostor(Struct, frozen=True):
    """A folder, a FIFO, a socket, a link that leads nowhere: in the place where a file should stand."""

    entry: FolderEntry
    is_folder: bool
    kind: RefusalKind
    expected: str
    found: str


class Folder(Struct, frozen=True):
    """A folder of the tree, its files and the names of its subfolders."""

    path: str
    files: tuple[FolderEntry, ...]
    subfolders: tuple[str, ...]
    impostors: tuple[Impostor, ...] = ()
    """What bears the name of a file that Kafka writes, and is none that could be read."""
    listed: bool = True
    """Whether the operating system told what is in it; else it may hold anything."""

    def child(self, name: str) -> str:
        """The path of an entry of this folder."""
        return name if self.path == "." else f"{self.path}/{name}"


class _Listing:
    """A folder while it is listed."""

    def __init__(self) -> None:
        """Nothing is listed yet."""
        self.files: list[FolderEntry] = []
        self.subfolders: list[tuple[str, str]] = []
        self.impostors: list[Impostor] = []
        self.refusals: list[Refusal] = []
        self.listed = True

    def refuse(
        self, path: str, parsed: FileName, kind: RefusalKind, expected: str, found: str, *, is_folder: bool = False
    ) -> None:
        """Note what cannot be read; whose it is, if its name is one that Kafka gives, the inventory will tell."""
        if parsed.kind in WRITTEN_BY_KAFKA:
            entry = FolderEntry(path.rpartition("/")[2], 0, parsed)
            self.impostors.append(Impostor(entry, is_folder, kind, expected, found))
        elif not is_folder:
            if (kind, expected) == _NO_FILE and parsed.kind in WRITTEN_BY_BROKERS:
                expected = "a log that can be read"
            self.refusals.append(_refusal(path, kind, expected, found))


def unwatched(_files: int, _of: int) -> None:
    """Nobody watches how many files were seen, and of how many."""


def walk(
    root: Path, parts: Sequence[str] = (), seen: Callable[[int, int], None] = unwatched
) -> tuple[dict[str, Folder], list[Refusal]]:
    """The folders of a tree by path, and what the operating system or a link kept from being read.

    With `parts`, folders relative to `root`, only those are walked; what encloses them is known by name alone.
    """
    files_seen = 0
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
        files_seen += len(files)
        seen(files_seen, 0)
        names = tuple(sorted(shown.rpartition("/")[2] for _, shown in listing.subfolders))
        impostors = tuple(sorted(listing.impostors, key=lambda impostor: impostor.entry.name))
        folders[path] = Folder(path, files, names, impostors, listed=listing.listed)
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
        listing.listed = False
        listing.refusals.append(_refusal(path, "unreadable", "a folder that can be listed", reason_of(error)))
    return listing


def _add(listing: _Listing, entry: os.DirEntry[str], path: str, bases: tuple[str, ...]) -> None:
    parsed = parse_file_name(entry.name)
    try:
        if entry.is_symlink():
            _add_link(listing, entry, path, parsed, bases)
        elif entry.is_dir(follow_symlinks=False):
            listing.subfolders.append((entry.path, path))
            listing.refuse(path, parsed, *_NO_FILE, file_type(stat.S_IFDIR), is_folder=True)
        else:
            _add_file(listing, path, parsed, entry.stat(follow_symlinks=False))
    except (OSError, ValueError) as error:
        listing.refuse(path, parsed, "unreadable", "a readable file", reason_of(error))


def _add_link(
    listing: _Listing, entry: os.DirEntry[str], path: str, parsed: FileName, bases: tuple[str, ...]
) -> None:
    target = os.path.realpath(entry.path)
    if not any(is_inside(target, base) for base in bases):
        found = f"a link to {printable(os.readlink(entry.path))}"
        listing.refuse(path, parsed, "escapes_dump", "a path inside the dump", found)
        return
    status = os.stat(target)
    # A folder inside the dump is walked under its own path: once, however many links lead to it.
    if stat.S_ISDIR(status.st_mode):
        listing.refuse(path, parsed, *_NO_FILE, "a link to a folder", is_folder=True)
    else:
        _add_file(listing, path, parsed, status)


def _add_file(listing: _Listing, path: str, parsed: FileName, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        listing.files.append(FolderEntry(path.rpartition("/")[2], status.st_size, parsed))
    else:
        listing.refuse(path, parsed, *_NO_FILE, file_type(status.st_mode))


def _refusal(path: str, kind: RefusalKind, expected: str, found: str) -> Refusal:
    return refuse(Origin(source=path), kind, 0, 0, expected=expected, found=found)
