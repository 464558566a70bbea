"""One partition's timeline as a picture, or as a page that holds it and every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from auditor.report.html.courses import Address
from auditor.report.html.over_time import over_time
from auditor.report.html.shapes import WIDTH, Picture
from auditor.report.html.shelf import policy, shelf
from rules.timeline.picture_values import DrawnHistory

TIMELINE_STYLE: Final = "timeline.css"
PICTURE_STYLE: Final = "pictures.css"
ROWS_SHOWN: Final = 5000
"""A page opens at once; the rest is counted."""
LINE: Final = 17.0
"""Height of a line of words below a drawing."""
NOTHING: Final = Picture(width=WIDTH, height=0, words="Nothing here bears a time.", shapes=())


class DrawnRow(Struct, frozen=True, kw_only=True):
    """One row: its cells, why each is so, and the bytes that tell it."""

    cells: tuple[str, ...]
    why: tuple[str, ...]
    """As many; empty where a cell says all itself."""
    source: str
    start: int
    end: int


class TimelinePage(Struct, frozen=True, kw_only=True):
    """What is told of one partition."""

    name: str
    history: DrawnHistory | None
    """Null where no statement bears a time."""
    offsets: tuple[int, int] | None
    """The first and the last one that are shown; null for all."""
    heads: tuple[str, ...]
    rows: tuple[DrawnRow, ...]
    signs: tuple[tuple[str, str], ...]
    clocks: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        """What a reader of the picture alone must know."""
        if self.history is None:
            return [NOTHING.words]
        return [f"Times are of the clock of {self.history.reference}.", *PICTURE_LEGEND, *self.clocks]


PICTURE_LEGEND: Final = (
    "A bar is a broker's lead, in the colour of its leader epoch.",
    "The dark line is the log end. The blue band is where the high watermark must have been.",
    "A dot is a told high watermark. A red ring is one that cannot have been.",
    "A red arrow is a cut, and ends at the offset that the log was cut to.",
    "A triangle at the foot is a log that was loaded again.",
    "Quiet stretches are drawn shorter than busy ones.",
)


def drawing(page: TimelinePage, *, links: bool) -> Picture:
    """The picture of the report's page; where rows stand below it, events lead to theirs."""
    if page.history is None:
        return NOTHING
    linked = enumerate(page.rows[:ROWS_SHOWN]) if links else ()
    steps: dict[Address, str] = {(row.source, row.start): f"row{number}" for number, row in linked}
    offsets = None if page.offsets is None else (page.offsets[0], page.offsets[1] + 1)
    return over_time(page.history, (), steps, offsets) or NOTHING


def render_svg(page: TimelinePage) -> str:
    """The picture by itself, with what its signs mean below it."""
    picture = drawing(page, links=False)
    height = 44 + picture.height + LINE * (len(page.notes) + 1)
    return _filled("timeline.svg", page, picture=picture, height=height, line=LINE, style=PICTURE_STYLE)


def render_page(page: TimelinePage) -> str:
    """The picture above all rows, each with the bytes that tell it."""
    style = shelf().get_template(TIMELINE_STYLE).render()
    return _filled("timeline.html", page, picture=drawing(page, links=True), policy=policy(style), shown=ROWS_SHOWN)


def _filled(template: str, page: TimelinePage, **given: object) -> str:
    return shelf().get_template(template).render(page=page, filled=_cells(page.rows[:ROWS_SHOWN]), **given) + "\n"


def _cells(rows: Sequence[DrawnRow]) -> list[tuple[DrawnRow, list[tuple[str, str]]]]:
    return [(row, list(zip(row.cells, row.why, strict=True))) for row in rows]
