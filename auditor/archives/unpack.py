"""One archive into an empty folder: plain files and folders, each named by the archive, none of them outside."""

from __future__ import annotations

import errno
import os
import posixpath
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final, NoReturn

from auditor.archives.limits import DEPTH, NAME_BYTES, PATH_BYTES, ArchiveBudget, NotUnpacked
from auditor.archives.members import ArchiveMember, members_of
from parsers.files import is_inside

FIRST_PRINTABLE: Final = 0x20
DELETE: Final = 0x7F
SHOWN: Final = 60
Refuse = Callable[[str], NoReturn]


def steps_of(name: str, refuse: Refuse) -> tuple[str, ...]:
    """The folders and the last name of a member; nothing for the archive's own root."""
    return _steps(name, f"its member {_shortened(name)}", refuse)


def target_of(name: str, target: str, refuse: Refuse) -> tuple[str, ...]:
    """The same of the member that a hard link repeats."""
    return _steps(target, _linking(name, target), refuse)


def require_link_inside(name: str, steps: tuple[str, ...], target: str, refuse: Refuse) -> None:
    """A symbolic link leads to a path below the same folder, by its words."""
    _require_plain(target, _linking(name, target), refuse)
    place = posixpath.normpath("/".join((*steps[:-1], target)))
    if place.split("/")[0] == "..":
        refuse(f"its member {name!r} is a link that leaves the archive, to {target!r}")


def _steps(path: str, said: str, refuse: Refuse) -> tuple[str, ...]:
    _require_plain(path, said, refuse)
    steps = tuple(step for step in path.split("/") if step not in ("", "."))
    if ".." in steps:
        refuse(f"{said} leaves the archive")
    if len(steps) > DEPTH:
        refuse(f"{said} lies deeper than {DEPTH} folders")
    if any(len(step.encode(errors="surrogateescape")) > NAME_BYTES for step in steps):
        refuse(f"{said} has a name of more than {NAME_BYTES} bytes")
    return steps


def _linking(name: str, target: str) -> str:
    """How a refusal begins that is about what a link leads to: people look for the member."""
    return f"its member {_shortened(name)} is a link to {_shortened(target)}, which"


def _require_plain(path: str, said: str, refuse: Refuse) -> None:
    if not path:
        refuse("one of its members has no name, or leads nowhere")
    if len(path.encode(errors="surrogateescape")) > PATH_BYTES:
        refuse(f"{said} has a path of more than {PATH_BYTES} bytes")
    if path.startswith("/"):
        refuse(f"{said} has an absolute path")
    if any(ord(character) < FIRST_PRINTABLE or ord(character) == DELETE for character in path):
        refuse(f"{said} has control characters in its name")


def _shortened(name: str) -> str:
    return repr(name if len(name) <= SHOWN else f"{name[:SHOWN]}…")


BLOCK: Final = 64 << 10
_ZEROS: Final = bytes(BLOCK)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_DAMAGED: Final = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    ValueError, LookupError, ArithmeticError,
)  # fmt: skip


def unpack(archive: Path, folder: Path, tell: Callable[[str], None] | None = None) -> None:
    """All of an archive; one that is damaged, or no archive, is refused whole. `tell` hears how it goes on."""
    budget = ArchiveBudget(archive, tell)
    try:
        _Unpacking(folder, budget).take_all(archive)
    except NotUnpacked as refused:
        said = str(refused)
        if said.startswith(f"{archive}: "):
            raise
        budget.refuse(said)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = f"no room for it in {folder.parent}: let TMPDIR name another folder"
            raise NotUnpacked(f"{archive}: {why}") from error
        raise NotUnpacked(f"{archive}: cannot be unpacked: {error.strerror or error}") from error
    except RecursionError:
        budget.refuse("its headers refer to headers without end")
    except _DAMAGED as error:
        why = str(error) or type(error).__name__
        raise NotUnpacked(f"{archive}: expected a tar or zip archive, whole: {why}; pack or copy it again") from None


class _Unpacking:
    """What is known of an archive while it is unpacked."""

    def __init__(self, folder: Path, budget: ArchiveBudget) -> None:
        self._folder = folder
        self._budget = budget
        self._refuse: Refuse = budget.refuse
        self._files: set[tuple[str, ...]] = set()
        self._folders: set[tuple[str, ...]] = {()}
        self._links: list[tuple[tuple[str, ...], ArchiveMember]] = []

    def take_all(self, archive: Path) -> None:
        """Every member; links come last, so that nothing is written through one."""
        for member in members_of(archive):
            self._budget.member(member.size, member.name)
            self._take(member, steps_of(member.name, self._refuse))
        for steps, member in self._links:
            self._place(steps).symlink_to(member.target)
        for steps, member in self._links:
            self._require_inside(steps, member)

    def _take(self, member: ArchiveMember, steps: tuple[str, ...]) -> None:
        if member.kind == "other":
            self._refuse(f"its member {member.name!r} is {member.says or 'neither a file nor a folder'}")
        if member.kind == "folder":
            self._make_folder(steps, member)
            return
        self._claim(steps, member)
        if member.kind == "file":
            self._write(steps, member)
        elif member.kind == "hard link":
            self._repeat(steps, target_of(member.name, member.target, self._refuse), member)
        else:
            require_link_inside(member.name, steps, member.target, self._refuse)
            self._links.append((steps, member))

    def _claim(self, steps: tuple[str, ...], member: ArchiveMember) -> None:
        """A place that no other member has, in a folder."""
        if steps in self._files or steps in self._folders:
            self._refuse(f"it holds {member.name!r} twice")
        self._make_folder(steps[:-1], member)
        self._files.add(steps)

    def _make_folder(self, steps: tuple[str, ...], member: ArchiveMember) -> None:
        for depth in range(1, len(steps) + 1):
            part = steps[:depth]
            if part in self._files:
                self._refuse(f"its member {member.name!r} lies in {'/'.join(part)!r}, which is no folder")
            if part not in self._folders:
                self._place(part).mkdir(mode=0o700)
                self._folders.add(part)

    def _place(self, steps: tuple[str, ...]) -> Path:
        return self._folder.joinpath(*steps)

    def _write(self, steps: tuple[str, ...], member: ArchiveMember) -> None:
        descriptor = os.open(self._place(steps), _NEW, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            with member.open() as content:
                written = self._copy(content, file)
            if written != member.size:
                raise EOFError(f"{member.name!r} ends early")
            file.truncate(written)
        os.utime(self._place(steps), (member.changed, member.changed))

    def _copy(self, content: IO[bytes], file: IO[bytes]) -> int:
        """The content, zero bytes as holes: indexes are allocated far ahead."""
        count = 0
        while piece := content.read(BLOCK):
            if piece == _ZEROS[: len(piece)]:
                self._budget.zeros(len(piece))
                file.seek(len(piece), os.SEEK_CUR)
            else:
                self._budget.content(len(piece))
                _write_whole(file, piece)
            count += len(piece)
        return count

    def _repeat(self, steps: tuple[str, ...], target: tuple[str, ...], member: ArchiveMember) -> None:
        """A second name of a file that came before."""
        place = self._place(target)
        if target not in self._files or place.is_symlink() or not place.is_file():
            self._refuse(f"its member {member.name!r} is a hard link to {member.target!r}, which it does not hold")
        os.link(place, self._place(steps))

    def _require_inside(self, steps: tuple[str, ...], member: ArchiveMember) -> None:
        """Asked when all links are there: one may lead out through another."""
        if not is_inside(os.path.realpath(self._place(steps)), os.path.realpath(self._folder)):
            self._refuse(f"its member {member.name!r} is a link that leaves the archive, to {member.target!r}")


def _write_whole(file: IO[bytes], piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[file.write(left) :]
