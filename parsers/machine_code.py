"""What a format's compiled loops share: how functions are marked for numba, and how their code is kept on disk.

This module imports numba; only the `machine` modules of a format load it, and only for files that are worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast
from zlib import crc32

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Marks a function for the compiler, and leaves its type as it reads.

    Nothing that is compiled makes an array: counting who refers to those handed around would take a third of the time.
    """
    return cast("Function", numba.njit(function, _nrt=False))  # type: ignore[call-overload]


def inlined(function: Function) -> Function:
    """The same of a function that is put in place of its calls: handing over arrays would take longer than its work."""
    return cast("Function", numba.njit(function, _nrt=False, forceinline=True))  # type: ignore[call-overload]


def keep_compiled(function: Function, signature: object, modules: tuple[str, ...]) -> Function | None:
    """An entry into compiled code, made now or loaded from where it was kept; None where that cannot be done here.

    What is kept is found by the function's name, which is given a digest of the `modules` beside it that are compiled
    into it: a kept loop would not notice that a function it calls has changed.
    """
    _name(function, modules)
    # Without a writable place to keep the code it is compiled anew, which must not end a run.
    for keep in (True, False):
        try:
            keeper = numba.njit(signature, cache=keep, nogil=True, _nrt=False)  # type: ignore[call-overload]
            return cast("Function", keeper(function))
        except (RuntimeError, OSError):
            continue
    return None


def is_kept(function: Function, modules: tuple[str, ...]) -> bool:
    """Whether an entry's code lies where it would be kept: then it is loaded in a second, else made in a minute."""
    name = _name(function, modules)
    try:
        folder = numba.njit(function, cache=True).stats.cache_path
    except (RuntimeError, OSError):
        return False
    return any(Path(folder).glob(f"*{name}*.nbi"))


def _name(function: Function, modules: tuple[str, ...]) -> str:
    digest = _digest(Path(function.__code__.co_filename).parent, modules)
    function.__qualname__ = f"{function.__name__}_{digest:08x}"
    return function.__qualname__


@cache
def _digest(folder: Path, modules: Iterable[str]) -> int:
    """A checksum of the modules whose code and numbers are compiled; that of their names where no file shows it."""
    try:
        paths = sorted(path for name in modules for path in folder.glob(name))
        return crc32(b"".join(path.read_bytes() for path in paths))
    except OSError:
        return 0
