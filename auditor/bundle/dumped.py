"""What kafka-dump-log printed, with every key, header and payload masked and all that it says of them left."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from parsers.dump_text import told_before_contents

Mask = Callable[[bytes], bytes]
_NUMBER: Final = rb"-?[0-9]{1,19}"
_OTHERS: Final = re.compile(
    rb"Dumping [^\x00-\x1f]{1,1024}"
    rb"|(?:Log s|S)tarting offset: " + _NUMBER + rb"|Snapshot end offset: [0-9, epoch:=\-]{1,80}"
    rb"|offset: " + _NUMBER + rb" position: " + _NUMBER + rb"|timestamp: " + _NUMBER + rb" offset: " + _NUMBER + rb""
    rb"|producerId: [\w:(), .=\[\]\-]{1,400}|version: [0-9]{1,5} producerId: [\w:(), .=\[\]\-]{1,400}"
)
"""Lines of indexes, snapshots and files' names: numbers, but for the names of topics."""


def masked_dump_text(data: bytes, mask: Mask) -> bytes:
    """Every line of as many bytes as before."""
    return b"".join(_line(line, mask) for line in data.splitlines(keepends=True))


def _line(line: bytes, mask: Mask) -> bytes:
    words = line.rstrip(b"\r\n")
    kept = told_before_contents(words)
    if kept is None:
        if _OTHERS.fullmatch(words):
            return line
        kept = 0
    # Equal contents read alike afterwards, so that what two replicas print of one record can be compared.
    hide = mask if kept else (lambda _: b"")
    pieces = _MARKS.split(words[kept:], maxsplit=2) if kept else [words]
    shown = (piece if place % 2 else _hidden(piece, hide) for place, piece in enumerate(pieces))
    return words[:kept] + b"".join(shown) + line[len(words) :]


_MARKS: Final = re.compile(rb"(\]? (?:key|payload): |\]$)")
"""Where a key or a payload begins; a reader looks for them."""


def _hidden(piece: bytes, mask: Mask) -> bytes:
    return mask(piece)[: len(piece)].hex().encode()[: len(piece)].ljust(len(piece), b".")
