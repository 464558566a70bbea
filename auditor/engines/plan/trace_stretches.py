"""Request logs cut into stretches, through all the files that one was rotated into, in order of time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from auditor.engines.plan.pieces import Piece, parts_of, whole
from parsers.broker_log import given_for, wall_clock
from parsers.files import GZIP, place_of
from parsers.provenance import Origin, Source
from parsers.request_log import first_time, holds_requests

TRACE_BYTES: Final = 64 << 20
"""A stretch of a request log; packed files are one stretch."""

_NEVER: Final = 1 << 62


class TraceStretch(Struct, frozen=True, kw_only=True):
    """A stretch of a request log, and the log that it is of."""

    chain: str
    """The first file of the log."""
    begun: int | None
    """The time of the log's first line, on the writer's clock."""
    origin: Origin
    piece: Piece
    is_last: bool
    shared: bool
    """Whether the file is a broker's log, into which its requests were written too."""


def trace_stretches(dump: str, files: Iterable[Source], patterns: Sequence[str] = ()) -> Iterator[TraceStretch]:
    """Every request log of a known broker; the stretches of one follow each other in order of time."""
    logs = _with_requests(dump, [file for file in files if file.origin.broker is not None])
    for _, rotated in groupby(sorted(logs, key=_place), key=_place):
        dated = sorted(((_begun(dump, file, patterns), _turn(file), file) for file in rotated), key=lambda one: one[:2])
        begun, _, first = dated[0]
        pieces = [(file, piece) for _, _, file in dated for piece in _cut(dump, whole(file))]
        for file, piece in pieces:
            yield TraceStretch(
                chain=first.origin.source,
                begun=None if begun == _NEVER else begun,
                origin=file.origin,
                piece=piece,
                is_last=piece is pieces[-1][1],
                shared=file.kind == "broker-log",
            )


def _with_requests(dump: str, files: Sequence[Source]) -> list[Source]:
    """The request logs; of a broker that has none, the logs that its requests were written into, as on a console."""
    own = [file for file in files if file.kind == "request-log"]
    brokers = {file.origin.broker for file in own}
    rest = (file for file in files if file.kind == "broker-log" and file.origin.broker not in brokers)
    return own + [file for file in rest if holds_requests(place_of(dump, file.origin.source))]


def _place(file: Source) -> tuple[int, str]:
    return file.origin.broker or 0, file.origin.source.rpartition("/")[0]


def _begun(dump: str, file: Source, patterns: Sequence[str]) -> int:
    """The time of the first line, on the writer's clock; a file without one stands last."""
    first = first_time(place_of(dump, file.origin.source), given_for(file.origin.broker, patterns))
    time = None if first is None else wall_clock(first)
    return _NEVER if time is None else time


def _turn(file: Source) -> tuple[bool, int, str]:
    """The order of rotation by name: dates go up, numbers go down, the file without either is written now."""
    suffix = file.origin.source.rpartition("/")[2].partition(".log")[2].removesuffix(".gz")
    number = re.fullmatch(r"\.(\d{1,3})", suffix)
    return suffix == "", -int(number[1]) if number else 0, suffix


def _cut(dump: str, piece: Piece) -> Iterator[Piece]:
    if piece.size <= TRACE_BYTES or _is_packed(dump, piece):
        yield piece
        return
    yield from parts_of(piece, TRACE_BYTES)


def _is_packed(dump: str, piece: Piece) -> bool:
    try:
        with place_of(dump, piece.source).open("rb") as file:
            return file.read(2) == GZIP
    except OSError:
        return False
