"""What a person gave as dumps, as folders: archives are unpacked for as long as the command lasts."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from auditor.archives.limits import NotUnpacked
from auditor.archives.members import ENDINGS, is_readable_archive
from auditor.archives.unpack import unpack
from auditor.config import ConfigError
from auditor.streams import remark
from parsers.files import found_at


class AtHand(Struct, frozen=True, kw_only=True):
    """Folders that can be read, and the archives that they came from."""

    folders: tuple[Path, ...]
    archives: tuple[Path, ...] = ()


@contextmanager
def at_hand(given: Path | Sequence[Path], *, quiet: bool = False) -> Iterator[AtHand]:
    """The folders as they were given; archives as private folders, each named as its archive.

    Who unpacks many members is told how it goes on, unless somebody asked for quiet.
    """
    places = (given,) if isinstance(given, Path) else tuple(given)
    archives = tuple(place for place in places if _is_archive(place))
    if not archives:
        yield AtHand(folders=places)
        return
    if len(archives) < len(places):
        other = next(place for place in places if place not in archives)
        raise ConfigError(f"{other}: expected archives alone or folders alone; unpack {archives[0]}, or pack this too")
    home = _private_folder()
    try:
        yield AtHand(folders=tuple(_unpacked(archives, home, None if quiet else remark)), archives=archives)
    except ConfigError as error:
        # People know the archive by its name, and the private folder will be gone.
        raise ConfigError(_named(str(error), archives, home)) from error
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _is_archive(place: Path) -> bool:
    return is_readable_archive(place.name) and found_at(place) == "a regular file"


def _private_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="tidemark-"))
    except OSError as error:
        raise ConfigError(f"cannot unpack: {error}: let TMPDIR name another folder") from error


def _unpacked(archives: Sequence[Path], home: Path, tell: Callable[[str], None] | None) -> Iterator[Path]:
    for archive in archives:
        folder = home / _stem(archive)
        try:
            folder.mkdir(mode=0o700)
            unpack(archive, folder, tell)
        except FileExistsError:
            raise ConfigError(f"{archive}: expected a name that no other archive here has") from None
        except NotUnpacked as refused:
            raise ConfigError(str(refused)) from refused
        yield folder


def _stem(archive: Path) -> str:
    """The name without the ending: an archive named broker-1.tar.gz is of broker 1."""
    ending = max((e for e in ENDINGS if archive.name.lower().endswith(e)), key=len)
    return archive.name[: -len(ending)] or "archive"


def _named(text: str, archives: Sequence[Path], home: Path) -> str:
    for archive in archives:
        text = text.replace(str(home / _stem(archive)), str(archive))
    return text.replace(str(home), str(archives[0].parent))
