"""The members of an archive, one after the other: of a tar as it stands or packed, and of a zip."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import IO, Any, Final, Literal, cast

import pyarrow as pa
from msgspec import Struct

from auditor.archives.limits import MEMBERS, NotUnpacked
from parsers.files import GZIP

Kind = Literal["file", "folder", "link", "hard link", "other"]
ENDINGS: Final = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".zip")
READ_AT_ONCE: Final = 4 << 20
"""Headers are read whole, as long as they claim to be: no lawful one is longer."""
STEP: Final = 1 << 20
LONGEST_TARGET: Final = 4096
LONGEST_END: Final = 64 << 20
"""Zero bytes behind the last member: tools fill their last block, tapes had larger ones."""
LATEST: Final = 1 << 33
_TAR_BLOCK: Final = 512
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED: Final = 0x1
_PLAIN_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveMember(Struct, frozen=True, kw_only=True):
    """One entry of an archive, to be read before the next one is asked for."""

    name: str
    kind: Kind
    size: int
    changed: int
    """Seconds since 1970."""
    target: str = ""
    """Where a link leads."""
    says: str = ""
    """What it is, where it is nothing that a dump can hold."""
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def is_readable_archive(name: str) -> bool:
    """Whether a file's name promises an archive that can be given as a dump."""
    return name.lower().endswith(ENDINGS)


def members_of(archive: Path) -> Iterator[ArchiveMember]:
    """All members in their order; the archive's own bytes tell what it is, not its name."""
    with archive.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if head in _ZIP:
            yield from _of_zip(file)
        elif head == _ZSTD:
            yield from _of_tar(cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")))
        elif head.startswith(GZIP):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield from _of_tar(cast("IO[bytes]", unpacked))
        else:
            yield from _of_tar(file)


class _Forward:
    """A stream that is read once, from its beginning to its end; no single read may fill the memory."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._at = 0
        self.last = b""
        """What the last read gave."""

    def read(self, count: int = -1) -> bytes:
        """So many bytes, fewer only at the end."""
        if not 0 <= count <= READ_AT_ONCE:
            raise NotUnpacked(f"a header of it claims to be longer than {READ_AT_ONCE} bytes")
        pieces: list[bytes] = []
        while count > 0 and (piece := self._stream.read(min(count, STEP))):
            pieces.append(piece)
            count -= len(piece)
            self._at += len(piece)
        self.last = b"".join(pieces)
        return self.last

    def seek(self, place: int) -> None:
        """On to a later byte; what lies between is passed over."""
        if place < self._at:
            raise NotUnpacked("its members overlap")
        while self._at < place and self.read(min(STEP, place - self._at)):
            pass

    def tell(self) -> int:
        """How far it was read."""
        return self._at


def _of_tar(stream: IO[bytes]) -> Iterator[ArchiveMember]:
    """Read in one pass, so that nothing packed is unpacked twice."""
    forward = _Forward(stream)
    with tarfile.open(fileobj=cast("Any", forward), mode="r:") as tar:
        while (info := tar.next()) is not None:
            yield ArchiveMember(
                name=info.name,
                kind=_kind_of(info),
                size=info.size,
                changed=int(info.mtime) if 0 <= info.mtime <= LATEST else 0,
                target=info.linkname,
                says=_said_of(info),
                open=lambda info=info: cast("IO[bytes]", tar.extractfile(info)),  # type: ignore[misc]
            )
            tar.members.clear()  # type: ignore[attr-defined]  # a million of them would be kept otherwise
        _require_end(forward)


def _require_end(forward: _Forward) -> None:
    """A tar ends with zero blocks; the library takes a damaged header for the end, too."""
    if forward.last != bytes(_TAR_BLOCK):
        raise tarfile.ReadError(f"at byte {max(forward.tell() - _TAR_BLOCK, 0)} is no header of a member")
    started = forward.tell()
    while piece := forward.read(STEP):
        if piece.count(0) < len(piece) or forward.tell() - started > LONGEST_END:
            raise tarfile.ReadError("something lies behind its end: is it several archives in one file?")


def _kind_of(info: tarfile.TarInfo) -> Kind:
    kinds: tuple[tuple[bool, Kind], ...] = (
        (info.isreg(), "file"), (info.isdir(), "folder"), (info.issym(), "link"), (info.islnk(), "hard link"),
    )  # fmt: skip
    return next((kind for fits, kind in kinds if fits), "other")


def _said_of(info: tarfile.TarInfo) -> str:
    if info.isfifo():
        return "a FIFO"
    return "a device" if info.isdev() else f"of the unknown type {info.type!r}"


def _of_zip(file: IO[bytes]) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(file) as packed:
        listed = packed.infolist()
        if len(listed) > MEMBERS:
            raise NotUnpacked(f"it holds {len(listed):,} members, more than {MEMBERS:,}")
        for info in listed:
            mode = stat.S_IFMT(info.external_attr >> 16)
            linked = mode == stat.S_IFLNK
            yield ArchiveMember(
                name=info.filename,
                kind=_zipped_kind(info, mode),
                size=info.file_size,
                changed=0,
                target=_zipped_target(packed, info) if linked else "",
                says=_zipped_oddity(info),
                open=lambda info=info: closing(packed.open(info)),  # type: ignore[misc]
            )


def _zipped_kind(info: zipfile.ZipInfo, mode: int) -> Kind:
    if _zipped_oddity(info) or mode not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        return "other"
    if mode == stat.S_IFLNK:
        return "link"
    return "folder" if info.is_dir() else "file"


def _zipped_oddity(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    if info.compress_type not in _PLAIN_METHODS:
        return f"packed by method {info.compress_type}, which is not read"
    return "written with backslashes for slashes" if "\\" in info.orig_filename else ""


def _zipped_target(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    if _zipped_oddity(info) or info.file_size > LONGEST_TARGET:
        return ""
    with packed.open(info) as link:
        return link.read(LONGEST_TARGET).decode(errors="surrogateescape")
