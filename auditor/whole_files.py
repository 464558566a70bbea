"""Files and folders that are there whole or not at all: written beside their place, and renamed when all is in them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(target: Path, *, replace: bool, mode: int = 0o666) -> Iterator[TextIO]:
    """A text file to write; whatever ends the writing early leaves the place as it was.

    A new file gets `mode` less the user's mask, a replaced one keeps its own. Without `replace` a file that has come
    to stand there meanwhile is a FileExistsError.
    """
    draft = _beside(target)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        if replace:
            with suppress(FileNotFoundError):
                draft.chmod(target.stat().st_mode & 0o7777)
            draft.replace(target)
        else:
            _put_new(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def whole_draft(target: Path, *, replace: bool) -> Iterator[Path]:
    """A name beside the target for a file that its user writes; it comes to its place when it is whole."""
    draft = _beside(target)
    try:
        yield draft
        if replace:
            draft.replace(target)
        else:
            _put_new(draft, target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A folder to fill, not yet in its place; a place that holds anything is a FileExistsError."""
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(target)
    draft = _beside(target)
    try:
        draft.mkdir(parents=True)
        yield draft
        draft.replace(os.path.realpath(target))
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _beside(target: Path) -> Path:
    return target.absolute().with_name(f".tidemark-{secrets.token_hex(8)}")


def _put_new(draft: Path, target: Path) -> None:
    """Into a place that nobody has taken."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(target) from None
        draft.replace(target)
        return
    draft.unlink()
