"""What could not be read: malformed input becomes a row that names file, byte, what was due and what was found."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from msgspec import Struct

from parsers.provenance import Origin
from parsers.tables import Refusal, RefusalKind

Row = TypeVar("Row")

FOUND_LIMIT: Final = 80


class Parsed(Struct, Generic[Row], frozen=True, kw_only=True):
    """What a reader made of a file: the rows it could read and the places it could not."""

    rows: tuple[Row, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def refuse(origin: Origin, kind: RefusalKind, start: int, end: int, *, expected: str, found: str | bytes) -> Refusal:
    """A refusal of bytes `[start, end)` of a file."""
    return Refusal(
        **origin.columns,
        kind=kind,
        expected=expected,
        found=shorten(found),
        span_start=start,
        span_end=end,
    )


def shorten(found: str | bytes) -> str:
    """Hostile text made safe to print: escaped, and cut to a length that fits a line."""
    if isinstance(found, bytes):
        return repr(found[:FOUND_LIMIT])[1:] + ("…" if len(found) > FOUND_LIMIT else "")
    safe = found[: FOUND_LIMIT + 1].encode("unicode_escape").decode("ascii")
    return safe[:FOUND_LIMIT] + ("…" if len(safe) > FOUND_LIMIT or len(found) > FOUND_LIMIT else "")
