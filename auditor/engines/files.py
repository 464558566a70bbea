"""Opening what a plan names, and telling what could not be opened."""

from __future__ import annotations

from pathlib import Path

from parsers.files import locate
from parsers.provenance import Span
from parsers.tables import Refusal
from rules.zoom import UnreadFile


def file_of(dump: str, source: str) -> Path:
    """Where a source lies; a name that leads out of the dump leads nowhere."""
    place = locate(Path(dump), source)
    return place if isinstance(place, Path) else Path(dump, "no such file in this dump")


def unread_file(refusal: Refusal) -> UnreadFile:
    """A refusal in the form in which evidence carries it."""
    span = Span(source=refusal.source, start=refusal.span_start, end=refusal.span_end)
    return UnreadFile(kind=refusal.kind, expected=refusal.expected, found=refusal.found, span=span)
