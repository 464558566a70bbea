"""Bounded, read-only access to the files of a dump; what the operating system refuses becomes a value."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal, RefusalKind

GZIP: Final = b"\x1f\x8b"
"""How a file that gzip packed begins."""
SMALL_LIMIT: Final = 64 << 20
_STEP: Final = 1 << 20
# A FIFO opened without O_NONBLOCK waits for a writer for ever; a terminal opened without O_NOCTTY may become ours.
_READ_ONLY: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileFault(Struct, frozen=True, kw_only=True):
    """Why a file's bytes could not be had."""

    kind: RefusalKind
    expected: str
    found: str
    size: int = 0

    def refusal(self, origin: Origin) -> Refusal:
        """The fault as a refusal of the whole file."""
        return refuse(origin, self.kind, 0, self.size, expected=self.expected, found=self.found)


def read_small(path: Path, limit: int = SMALL_LIMIT) -> bytes | FileFault:
    """All bytes of a regular file of at most `limit` bytes; links are not followed and nothing is waited for."""
    content = _read(path, limit + 1)
    if isinstance(content, FileFault) or len(content) <= limit:
        return content
    return FileFault(
        kind="too_large", expected=f"at most {limit} bytes", found="a larger file", size=_size(path, len(content))
    )


def read_head(path: Path, count: int) -> bytes | FileFault:
    """The first `count` bytes of a regular file, fewer where it is shorter."""
    return _read(path, count)


def read_at(path: Path, start: int, count: int) -> bytes | FileFault:
    """At most `count` bytes of a regular file from byte `start` on."""
    return _read(path, count, start)


def read_source(root: Path | str, origin: Origin, limit: int = SMALL_LIMIT) -> bytes | Refusal:
    """The bytes of a dump's file, found by its origin."""
    place = locate(root, origin.source)
    content = place if isinstance(place, FileFault) else read_small(place, limit)
    return content.refusal(origin) if isinstance(content, FileFault) else content


def is_wide_text(head: bytes) -> bool:
    """Whether a file that begins so is text of two or four bytes a letter, as some shells redirect output."""
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or (len(head) >= 8 and head[1:8:2] == b"\0\0\0\0")


def locate(root: Path | str, source: str) -> Path | FileFault:
    """Where a source lies on this machine, links inside the dump resolved; a path that leaves the dump is a fault."""
    expected = "a path inside the dump"
    try:
        path, top = os.path.join(root, disk_name(source)), str(root)
        if is_inside(path, top) and _leads_straight(path, top):
            return Path(path)
        base = os.path.realpath(root)
        place = os.path.realpath(os.path.join(base, disk_name(source)))
    except (OSError, ValueError) as error:
        return FileFault(kind="unreadable", expected=expected, found=reason_of(error))
    if not is_inside(place, base):
        return FileFault(kind="escapes_dump", expected=expected, found=_way_out(base, disk_name(source)))
    return Path(place)


def place_of(root: Path | str, source: str) -> Path:
    """The same where nobody asks for the fault: a name that leads out of the dump leads nowhere."""
    place = locate(root, source)
    return Path(root, "no such file in this dump") if isinstance(place, FileFault) else place


def _leads_straight(path: str, root: str) -> bool:
    """Whether a path is its own resolved form: `realpath` builds anew what almost always is what it was."""
    if os.path.normpath(path) != path or not _is_resolved(root):
        return False
    end = len(path)
    while end > len(root):
        try:
            if stat.S_ISLNK(os.lstat(path[:end]).st_mode):
                return False
        except OSError:
            pass  # what is not there leads nowhere else
        end = path.rfind(os.sep, 0, end)
    return True


@lru_cache(maxsize=16)
def _is_resolved(root: str) -> bool:
    """Whether no link leads to a dump; its place is not asked for again with each of its files."""
    return os.path.realpath(root) == root


def _way_out(base: str, name: str) -> str:
    """The link by which a path leaves the dump, and where it points; one that climbs out by itself is told as it is."""
    steps = name.split("/")
    for count in range(1, len(steps) + 1):
        place = os.path.join(base, *steps[:count])
        if os.path.islink(place) and not is_inside(os.path.realpath(place), base):
            return f"a link to {printable(os.readlink(place))}"
    return f"the path {printable(name)}"


def is_inside(place: str, base: str) -> bool:
    """Whether a resolved path is `base` or lies beneath it."""
    return place == base or place.startswith(base.rstrip(os.sep) + os.sep)


def printable(name: str) -> str:
    """A file name as a report may show it: what cannot be printed, `%` and backslashes become `%XX`; reversible."""
    if name.isascii() and name.isprintable() and "%" not in name and "\\" not in name:
        return name
    return "".join(_escaped(character) for character in name)


def disk_name(shown: str) -> str:
    """The name on disk that `printable` showed; the inverse of `printable`."""
    if "%" not in shown:
        return shown
    return os.fsdecode(unquote_to_bytes(os.fsencode(shown)))


def _escaped(character: str) -> str:
    if character.isprintable() and character not in "%\\":
        return character
    return "".join(f"%{byte:02X}" for byte in os.fsencode(character))


def read_exactly(path: Path, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """Bytes `[start, end)` for each span; a file that has them no more is an error, never fewer bytes."""
    descriptor = open_regular(path)
    try:
        for start, end in spans:
            content = os.pread(descriptor, end - start, start)
            if len(content) < end - start:
                raise OSError(errno.EIO, "fewer bytes than when it was read first", str(path))
            yield content
    finally:
        os.close(descriptor)


def open_regular(path: Path) -> int:
    """A descriptor of a regular file, for reading; nothing is waited for, and a device is not even opened."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, file_type(mode))
    return os.open(os.path.realpath(path) if os.path.islink(path) else path, _READ_ONLY)


def _read(path: Path, count: int, start: int = 0) -> bytes | FileFault:
    try:
        fault = _fault_of_mode(os.lstat(path).st_mode)
        # Asked before opening too: to open a device may already do something to it.
        return fault or _read_opened(os.open(path, _READ_ONLY), count, start)
    except (OSError, ValueError) as error:
        return FileFault(kind="unreadable", expected="a readable file", found=reason_of(error))


def _read_opened(descriptor: int, count: int, start: int) -> bytes | FileFault:
    try:
        fault = _fault_of_mode(os.fstat(descriptor).st_mode)
        if fault:
            return fault
        if start:
            os.lseek(descriptor, start, os.SEEK_SET)
        pieces: list[bytes] = []
        while count > 0 and (piece := os.read(descriptor, min(count, _STEP))):
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _fault_of_mode(mode: int) -> FileFault | None:
    if stat.S_ISREG(mode):
        return None
    return FileFault(kind="unreadable", expected="a regular file", found=file_type(mode))


def file_type(mode: int) -> str:
    """What a directory entry is, in words."""
    names = {
        stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket",
        stat.S_IFBLK: "a block device", stat.S_IFCHR: "a character device", stat.S_IFREG: "a regular file",
    }  # fmt: skip
    return names.get(stat.S_IFMT(mode), "an entry of unknown type")


def found_at(path: Path) -> str:
    """What stands at a path that a person named, links followed: its type, `nothing`, or why that cannot be told."""
    try:
        return file_type(os.stat(path).st_mode)
    except FileNotFoundError:
        return "nothing"
    except (OSError, ValueError) as error:
        return reason_of(error)


def reason_of(error: OSError | ValueError) -> str:
    """Why a file or folder could not be had, in the system's words."""
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def _size(path: Path, at_least: int) -> int:
    try:
        return max(os.lstat(path).st_size, at_least)
    except OSError:
        return at_least
