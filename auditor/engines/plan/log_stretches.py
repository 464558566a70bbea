"""Brokers' logs cut into stretches, where their lines can be found from any byte on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.engines.opening import file_of
from auditor.engines.plan.pieces import Piece, parts_of, whole
from auditor.engines.told.broker_logs import may_be_cut
from parsers.broker_log import given_for
from parsers.provenance import Source

LOG_BYTES: Final = 64 << 20
"""A stretch of a broker's log; one that is packed, wrapped by a collector or of an unknown broker is one stretch."""


def log_stretches(dump: str, file: Source, patterns: Sequence[str]) -> Iterator[Piece]:
    """A file of a broker, cut if it is a log that may be."""
    piece, broker = whole(file), file.origin.broker
    if file.kind != "broker-log" or broker is None or piece.size <= LOG_BYTES:
        yield piece
    elif may_be_cut(file_of(dump, piece.source), given_for(broker, patterns)):
        yield from parts_of(piece, LOG_BYTES)
    else:
        yield piece
