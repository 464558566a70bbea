"""A compressed log as a stream of its text, bounded in memory and in length, ending where it is damaged."""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO, Final

EXPANDED_LIMIT: Final = 64 << 30
_GZIP: Final = 31
_PIECE: Final = 1 << 20


class GzipText(io.RawIOBase):
    """Reads a `.gz` log forward; spans of its rows count bytes of the text, since those of the file hold no lines.

    Damage, an early end or too long a text end the stream; `trouble` then says what was found.
    """

    def __init__(self, file: BinaryIO, limit: int = EXPANDED_LIMIT) -> None:
        super().__init__()
        self._file = file
        self._left = limit
        self._inflate = zlib.decompressobj(_GZIP)
        self._input = b""
        self.trouble: str | None = None

    def readable(self) -> bool:
        """Always: there is nothing else to do with it."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes of the text, at most `size`; empty at its end."""
        wanted = _PIECE if size < 0 else min(size, _PIECE)
        while self.trouble is None:
            piece = self._piece(wanted)
            if piece is None:
                return b""
            if piece:
                self._left -= len(piece)
                if self._left < 0:
                    self.trouble = "a text longer than the limit"
                return piece
        return b""

    def _piece(self, wanted: int) -> bytes | None:
        """Some of the text, nothing yet, or None at the end."""
        if self._inflate.eof:
            self._input = self._inflate.unused_data or self._file.read(_PIECE)
            if not self._input.strip(b"\0"):
                return None
            self._inflate = zlib.decompressobj(_GZIP)
        elif not self._input:
            self._input = self._file.read(_PIECE)
            if not self._input:
                self.trouble = "the end of the file inside the compressed text"
                return None
        try:
            piece = self._inflate.decompress(self._input, wanted)
        except zlib.error as error:
            self.trouble = str(error)
            return None
        self._input = self._inflate.unconsumed_tail
        return piece
