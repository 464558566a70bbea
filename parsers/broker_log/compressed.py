"""A compressed log as a stream of its text, bounded in memory and in length, ending where it is damaged."""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO, Final

EXPANDED_LIMIT: Final = 64 << 30
FREELY_EXPANDED: Final = 256 << 20
"""So much text is read however tightly it is packed; of more, only what is packed as logs are."""
TIGHTEST: Final = 512
"""Bytes of text in a byte of the file: a log that repeats one entry reaches some 250, nothing but one letter a thousand."""
_GZIP: Final = 31
_PIECE: Final = 1 << 20


class GzipText(io.RawIOBase):
    """Reads a `.gz` log forward; spans of its rows count bytes of the text, since those of the file hold no lines.

    Damage, an early end or too long a text end the stream; `trouble` then says what was found.
    """

    def __init__(self, file: BinaryIO, limit: int = EXPANDED_LIMIT, freely: int = FREELY_EXPANDED) -> None:
        super().__init__()
        self._file = file
        self._limit = limit
        self._freely = freely
        self._taken = 0
        self._given = 0
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
                self._given += len(piece)
                if self._given > self._limit:
                    self.trouble = "a text longer than the limit"
                elif self._given > max(self._freely, TIGHTEST * self._taken):
                    self.trouble = f"a text more than {TIGHTEST} times as long as what it is packed in"
                return piece
        return b""

    def _piece(self, wanted: int) -> bytes | None:
        """Some of the text, nothing yet, or None at the end."""
        if self._inflate.eof:
            self._input = self._inflate.unused_data or self._packed()
            if not self._input.strip(b"\0"):
                return None
            self._inflate = zlib.decompressobj(_GZIP)
        elif not self._input:
            self._input = self._packed()
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

    def _packed(self) -> bytes:
        """More of the file."""
        piece = self._file.read(_PIECE)
        self._taken += len(piece)
        return piece
