"""Lines of a terminal report: colour where it shows, wrapping where words allow it, columns that stay aligned."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from auditor.report.plain import plain

CODES: Final = {
    "critical": "1;31",
    "high": "31",
    "medium": "33",
    "low": "36",
    "info": "2",
    "undecided": "1;33",
    "sound": "32",
    "clean": "1;32",
    "findings": "1;31",
    "unknown": "1;33",
    "strong": "1",
    "faint": "2",
}
COLUMNS: Final = 80
"""No wider, wherever it is printed: who reads a log or a pager has no wider page."""
GAP: Final = "  "
NARROWEST: Final = 40
STEP: Final = 1024
NOT_TOLD: Final = "not told"


class Sheet(Struct, frozen=True, kw_only=True):
    """How wide the page is, and whether it takes colour."""

    columns: int
    colour: bool

    def paint(self, text: str, style: str) -> str:
        """The text in a style, if the page takes it."""
        code = CODES.get(style) if self.colour else None
        return f"\x1b[{code}m{text}\x1b[0m" if code and text else text

    def wrapped(self, text: str, indent: int = 0, style: str = "", hanging: int = 0) -> Iterator[str]:
        """A paragraph; words longer than a line are left whole, so that a path can be copied."""
        width = max(NARROWEST, self.columns)
        lines = textwrap.wrap(
            plain(text),
            width,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + hanging),
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (self.paint(line, style) for line in lines or [""])


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: int = 0
) -> Iterator[str]:
    """Columns as wide as their widest cell, nothing cut; those of the numbers in `right` end together."""
    cells = [list(heads), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    for row in cells:
        padded = (
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield " " * indent + GAP.join(padded).rstrip()


def between(low: int | None, high: int | None) -> str:
    """What is known of an offset."""
    if low is None or high is None:
        return NOT_TOLD if low == high else f"{low} or more" if high is None else f"{high} or less"
    return str(low) if low == high else f"{low} to {high}"


def size(count: int) -> str:
    """A number of bytes as people say it."""
    amount, units = float(count), ("B", "KiB", "MiB", "GiB", "TiB")
    place = 0
    while amount >= STEP and place + 1 < len(units):
        amount, place = amount / STEP, place + 1
    return f"{count} B" if place == 0 else f"{amount:.1f} {units[place]}"


def percent(ratio: float) -> str:
    """A part of a whole as people say it: all of it only where nothing is lacking."""
    return f"{int(ratio * 1000) / 10:g}%"
