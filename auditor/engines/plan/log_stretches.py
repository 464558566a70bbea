"""Brokers' logs cut into stretches, where their lines can be found from any byte on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from auditor.engines.plan.pieces import Piece, parts_of, whole
from parsers.broker_log import HEAD_BYTES, USUAL_PATTERNS, WrappedLayout, given_for, parse_layout, written_as
from parsers.files import GZIP, is_wide_text, place_of
from parsers.provenance import Source

LOG_BYTES: Final = 64 << 20
"""A stretch of a broker's log; one that is packed, wrapped by a collector or of an unknown broker is one stretch."""


def log_stretches(dump: str, file: Source, patterns: Sequence[str]) -> Iterator[Piece]:
    """A file of a broker, cut if it is a log that may be."""
    piece, broker = whole(file), file.origin.broker
    if file.kind != "broker-log" or broker is None or piece.size <= LOG_BYTES:
        yield piece
    elif _may_be_cut(place_of(dump, piece.source), given_for(broker, patterns)):
        yield from parts_of(piece, LOG_BYTES)
    else:
        yield piece


def _may_be_cut(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a known broker's log can be read from any byte on: it is text as the broker wrote it."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    written = None if head.startswith(GZIP) or is_wide_text(head) else written_in(head, patterns)
    return written is not None and written.wrapping == "plain"


def written_in(head: bytes, patterns: Sequence[str]) -> WrappedLayout | None:
    """How a log that begins so is written, by the layouts that were given and the usual ones."""
    return written_as(head, [parse_layout(pattern) for pattern in (*patterns, *USUAL_PATTERNS)])
