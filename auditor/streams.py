"""Standard output and error of the process: a reader may go, a disk may be full, a stream may never have been open."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import Any, Final

STDOUT: Final = 1
STDERR: Final = 2
CLOSED: Final = "stdout is closed: nobody would see the result"


class Undelivered(Exception):
    """A result that could not be written; the text says why."""


class _Out(io.RawIOBase):
    """A stream of the process. Whoever stops reading changes nothing; what cannot be written is said once."""

    def __init__(self, descriptor: int, *, never_open: bool) -> None:
        self._descriptor = descriptor
        self.never_open = never_open
        self._over = False

    def fileno(self) -> int:
        """The descriptor, for those who ask the terminal for its width."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person watches."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - a buffer, for which 3.11 has no name
        """The bytes, until nobody takes them any more."""
        if self._over:
            return len(data)
        if self.never_open:
            self._over = True
            raise Undelivered(CLOSED)
        try:
            return _written(self._descriptor, data)
        except OSError as error:
            self._over = True  # Python writes what is left when it ends: that must not fail again.
            if error.errno == errno.EPIPE:
                return len(data)
            raise Undelivered(f"stdout: {error.strerror}") from error


class _Remarks(_Out):
    """Standard error: a remark that cannot be made is no reason to fail."""

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - a buffer, for which 3.11 has no name
        """The bytes, if they can be written."""
        try:
            return super().write(data)
        except Undelivered:
            return len(data)


def _written(descriptor: int, data: Any) -> int:  # noqa: ANN401
    while True:
        try:
            return os.write(descriptor, data)
        except BlockingIOError:  # whoever gave us the pipe does not want to be waited for; we do wait
            select.select([], [descriptor], [])


def own_streams() -> None:
    """Replace the process's streams by ours; streams that somebody has replaced are left to him."""
    absent = {descriptor for descriptor in (0, STDOUT, STDERR) if not _is_open(descriptor)}
    for descriptor in sorted(absent):
        # The next file that is opened would get its number, and the JVM would write its remarks into it.
        _open_null(descriptor)
    for name, descriptor, kind in (("stdout", STDOUT, _Out), ("stderr", STDERR, _Remarks)):
        stream = getattr(sys, name)
        if stream is None or stream is getattr(sys, f"__{name}__"):
            setattr(sys, name, _text(kind(descriptor, never_open=descriptor in absent), stream))
        else:
            with suppress(AttributeError):  # whoever replaced the stream has chosen its ways
                stream.reconfigure(errors="backslashreplace")


def _text(raw: _Out, before: io.TextIOWrapper | None) -> io.TextIOWrapper:
    if before is not None:
        with suppress(OSError, ValueError):
            before.flush()
    encoding = before.encoding if before is not None else "utf-8"
    in_lines = raw.fileno() == STDERR or raw.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=in_lines
    )


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _open_null(descriptor: int) -> None:
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)


def require_stdout() -> None:
    """Asked before long work, whose result a closed stdout would swallow."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Out) and raw.never_open:
        raise Undelivered(CLOSED)


def say(text: str) -> None:
    """A result, on stdout."""
    sys.stdout.write(text)
    sys.stdout.flush()


def remark(text: str) -> None:
    """A line for a person, on stderr, each control character in it made visible."""
    from auditor.report.plain import plain

    with suppress(OSError, ValueError):
        sys.stderr.write(f"tidemark: {plain(text)}\n")
        sys.stderr.flush()
