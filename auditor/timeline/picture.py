"""A timeline as a picture or a page: the drawing of the report's page, and the rows of the text below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.report.html.timeline_page import DrawnRow, TimelinePage
from auditor.timeline.legend import legend
from auditor.timeline.text import clock_lines, columns, missing_lines, name_of
from auditor.timeline.window import Window
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.timeline.drawn import drawn_of
from rules.timeline.rows import Timeline, TimelineRow


def page_of(whole: Timeline, window: Window, zones: Sequence[str] = ()) -> TimelinePage:
    """What is drawn of a stretch of a timeline: how it begins is known from what came before."""
    shown = window.shows(whole)
    grid = columns(shown, zones)
    return TimelinePage(
        name=name_of(whole),
        history=drawn_of(whole, window.since, window.until),
        offsets=window.offsets,
        heads=grid.heads,
        rows=tuple(
            DrawnRow(cells=cells, why=tuple(_why(row, len(cells))), source=span.source, start=span.start, end=span.end)
            for cells, row in zip(grid.rows, shown.rows, strict=True)
            for span in (row.moment.span,)
        ),
        signs=tuple((sign.mark, sign.means) for sign in legend(shown)),
        clocks=tuple(f"The {line}." for line in clock_lines(whole)),
        missing=tuple(missing_lines(whole)),
    )


def _why(row: TimelineRow, cells: int) -> Iterator[str]:
    """What the bounds in each cell rest on."""
    yield from ("", "", "", "")
    for cell in row.cells:
        yield from (_because(cell.log_end), _because(cell.high_watermark), "", "")
    yield from [""] * (cells - 4 - 4 * len(row.cells))


def _because(expected: ExpectedHighWatermark) -> str:
    """The reasons of both bounds; one where they are the same."""
    reasons = [
        f"{name} {bound.offset}: {bound.because}"
        for name, bound in (("at least", expected.low), ("at most", expected.high))
        if bound is not None
    ]
    return "; ".join(reasons)
