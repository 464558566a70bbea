"""Opening what a plan names, and telling what could not be opened."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

from auditor.engines.plan.pieces import Piece
from parsers.files import is_wide_text, place_of, read_exactly, read_head
from parsers.provenance import Origin, Span, row_span
from parsers.refusal import refuse
from parsers.segment import SegmentChunk, scan_source
from parsers.tables import Refusal
from rules.facts.read_again import UnreadFile
from rules.facts.stretch import UNOPENED

_OFFSET_BYTES: Final = 8


def refuse_wide_text(path: Path, origin: Origin) -> Refusal | None:
    """Why a log is not read that was written anew in two bytes a letter: no byte in it is where it was."""
    head = read_head(path, 64)
    if isinstance(head, bytes) and is_wide_text(head):
        size, expected = path.stat().st_size, "text in UTF-8 as the broker wrote it"
        return refuse(origin, "malformed", 0, size, expected=expected, found="UTF-16 text")
    return None


def refuse_misnamed(dump: str, piece: Piece, origin: Origin) -> Refusal | None:
    """Why a segment is not what its name says: a broker names it after the first offset in it.

    Every entry begins with its offset, so eight bytes tell that almost every segment is what it is called.
    """
    named = piece.base_offset or 0
    head = read_head(place_of(dump, piece.source), _OFFSET_BYTES)
    if isinstance(head, bytes) and (len(head) < _OFFSET_BYTES or int.from_bytes(head, signed=True) >= named):
        return None
    for chunk in scan_source(dump, origin, end=1, verify=False):
        for base, end in zip(*(chunk.headers[name].to_pylist() for name in ("base_offset", "span_end")), strict=True):
            if base is not None and base < named:
                expected, found = f"a first batch at offset {named} or behind it", f"one at offset {base}"
                return refuse(origin, "malformed", 0, end, expected=expected, found=found)
    return None


def unread_file(refusal: Refusal) -> UnreadFile:
    """A refusal in the form in which evidence carries it."""
    span = row_span(refusal)
    return UnreadFile(kind=refusal.kind, expected=refusal.expected, found=refusal.found, span=span)


def entry_at(dump: str, span: Span) -> bytes:
    """The bytes of one entry, read again."""
    (content,) = read_exactly(place_of(dump, span.source), [(span.start, span.end)])
    return content


def still_there(chunk: SegmentChunk) -> SegmentChunk:
    """A chunk of a file that was read before: that it cannot be read any more is no evidence of what it lacks."""
    for refusal in chunk.refusals:
        if refusal.kind in UNOPENED:
            raise OSError(errno.EIO, refusal.found, refusal.source)
    return chunk
