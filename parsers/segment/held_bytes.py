"""A segment that is read, held a bounded window at a time.

A file may shrink while it is read: bytes of a mapping would then be gone, and the process with them. Bytes that were
read into memory of our own stay what they were, and those that are missing are an error of that file alone. Copying
costs little: a window stays in the processor's cache until its checksums are summed.
"""

from __future__ import annotations

import errno
import os
from struct import Struct
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

WINDOW: Final = 1 << 20
"""Bytes held at once; a longer batch is summed in steps. More leave the cache, fewer cost more calls."""
HEADER_ROOM: Final = 64
"""Of an entry, what must be held to tell its header, of whatever format."""


class HeldSegment:
    """An open segment. Positions are those of the file; `data` holds its bytes `[start, end)`."""

    __slots__ = ("_buffer", "_descriptor", "end", "identity", "size", "start")

    def __init__(self, descriptor: int, window: int = WINDOW) -> None:
        status = os.fstat(descriptor)
        self._descriptor = descriptor
        self.size = status.st_size
        self.identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        self._buffer = memoryview(bytearray(min(self.size, window)))
        self.start = self.end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    @property
    def data(self) -> Bytes:
        """The bytes that are held."""
        return np.frombuffer(self._buffer[: self.end - self.start], dtype=np.uint8)

    def holds(self, position: int, count: int) -> bool:
        """Whether these bytes are held, or all of them that the file has."""
        return self.start <= position and (position + count <= self.end or self.end == self.size)

    def hold(self, position: int, count: int = HEADER_ROOM) -> None:
        """Hold at least these bytes, as far as the file has them, and those that follow in the window."""
        if self.holds(position, count):
            return
        kept = self._buffer[position - self.start : self.end - self.start] if self.start <= position < self.end else b""
        if count > len(self._buffer):
            self._buffer = memoryview(bytearray(min(count, self.size)))
        have = len(kept)
        self._buffer[:have] = kept
        self.start, self.end = position, position + have
        end = min(position + len(self._buffer), self.size)
        self._fill(self._buffer[have : end - position], position + have)
        self.end = end

    def array(self, start: int, end: int) -> Bytes:
        """Bytes `[start, end)` of the file, which then are held."""
        self.hold(start, end - start)
        return self.data[start - self.start : end - self.start]

    def entry(self, start: int, end: int) -> memoryview:
        """Bytes `[start, end)` of the file; where they are held, no copy of them: they last until the window moves."""
        if self.start <= start and end <= self.end:
            return self._buffer[start - self.start : end - self.start]
        return memoryview(self.read(start, end))

    def read(self, start: int, end: int) -> bytes:
        """A copy of bytes `[start, end)` of the file; the window stays where it is."""
        if self.start <= start and end <= self.end:
            return bytes(self._buffer[start - self.start : end - self.start])
        content = bytearray(end - start)
        self._fill(memoryview(content), start)
        return bytes(content)

    def unpack(self, layout: Struct, position: int) -> tuple[Any, ...]:
        """The fields of a structure at a position; the window stays where it is."""
        if self.start <= position and position + layout.size <= self.end:
            return layout.unpack_from(self._buffer, position - self.start)
        return layout.unpack(self.read(position, position + layout.size))

    def byte(self, position: int) -> int:
        """One byte of the file; the window stays where it is."""
        if self.start <= position < self.end:
            return self._buffer[position - self.start]
        return self.read(position, position + 1)[0]

    def require(self, size: int) -> None:
        """Refuse a file that has fewer bytes than it had."""
        if self.size < size:
            raise OSError(errno.EIO, f"{self.size} bytes, where it had {size} when it was listed")

    def _fill(self, room: memoryview, position: int) -> None:
        done = 0
        while done < len(room):
            count = os.preadv(self._descriptor, [room[done:]], position + done)
            if count == 0:
                raise OSError(errno.EIO, f"fewer bytes than the {self.size} that it had when it was opened")
            done += count
