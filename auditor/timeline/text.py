"""A timeline as a table for people: one row an event, one group of columns a replica."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from auditor.report.bill import headed
from auditor.report.plain import plain
from auditor.report.sheet import Sheet, table
from auditor.timeline.legend import Sign, legend
from auditor.timeline.written_times import written
from rules.loss.incurred import Loss
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.replay.leading.tracks import NEVER, RemoteEndBounds
from rules.timeline.rows import Cell, LastStable, Timeline, TimelineRow

EVENT: Final = 4
"""The columns that say when, by which clock and what."""


def timeline_text(
    drawn: Timeline, zones: Sequence[str] = (), lost: Sequence[Loss] = (), *, width: int | None = None
) -> str:
    """The whole timeline, and what was lost in it; hostile names are escaped by the table."""
    grid = columns(drawn, zones)
    head = [plain(name_of(drawn)), *legend_lines(legend(drawn)), *map(plain, clock_lines(drawn)), ""]
    foot = ["", "missing:", *(plain(f"  {line}") for line in missing_lines(drawn))] if drawn.missing else []
    bill = ["", *(plain(headed(loss, name_of(drawn))) for loss in lost)] if lost else []
    return "\n".join([*head, *_rows(grid, width), *bill, *foot]) + "\n"


def _rows(grid: Columns, width: int | None) -> Sequence[str]:
    """A table where the page is wide enough; else a paragraph a row, which names the columns that it has."""
    drawn = list(table(grid.heads, grid.rows))
    if width is None or max(map(len, drawn)) <= width:
        return drawn
    page = Sheet(columns=width, colour=False)
    return [line for row in grid.rows for line in page.wrapped(_row_in_words(grid.heads, row), 0, "", 2)]


def _row_in_words(heads: Sequence[str], row: Sequence[str]) -> str:
    """When, whose clock and what as they are; then each filled column with its head."""
    event = "  ".join(row[:EVENT])
    filled = (f"{head} {cell}" for head, cell in zip(heads[EVENT:], row[EVENT:], strict=True) if cell)
    return "; ".join([event, *filled])


def name_of(drawn: Timeline) -> str:
    """The partition as people call it."""
    return f"{drawn.topic}-{drawn.partition}"


def legend_lines(signs: Sequence[Sign]) -> Iterator[str]:
    """A line a sign, their meanings below each other."""
    width = max(len(sign.mark) for sign in signs)
    yield from (f"  {sign.mark.ljust(width)}  {sign.means}" for sign in signs)


def clock_lines(drawn: Timeline) -> list[str]:
    """How far apart the clocks stand."""
    return [f"clock of {clock.clock}: {clock.words}" for clock in drawn.clocks if clock.bounds]


def missing_lines(drawn: Timeline) -> list[str]:
    """What is not told, and what that leaves open."""
    return [f"{missing.evidence}; it leaves open {missing.leaves_open}" for missing in drawn.missing]


class Columns(Struct, frozen=True, kw_only=True):
    """The timeline as a table."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def columns(drawn: Timeline, zones: Sequence[str] = ()) -> Columns:
    """One row an event, one group of columns a replica."""
    groups = [(f"{broker} LEO", "HW", "told", "e") for broker in drawn.brokers]
    heads = ("time", "as written", "clock", "event", *(head for group in groups for head in group), "LSO", "remote LEO")
    return Columns(heads=heads, rows=tuple(_row(row, zones) for row in drawn.rows))


def _row(row: TimelineRow, zones: Sequence[str]) -> tuple[str, ...]:
    cells = [text for cell in row.cells for text in _cell(cell)]
    time = clock_time(row.time)
    remotes = " ".join(remote(end) for end in row.remotes)
    event = (f"~{time}" if row.back else time, written(row.moment, zones), row.moment.clock, row.text)
    return (*event, *cells, _stable(row.last_stable), remotes)


def _cell(cell: Cell) -> list[str]:
    star = "*" if cell.leads else ""
    watermark = "" if cell.told_high_watermark is None else f"{cell.told_high_watermark}{'!' if cell.outside else ''}"
    ends = star + (span(cell.log_end) or "?"), span(cell.high_watermark) or "?"
    return [*ends, watermark, "" if cell.epoch is None else str(cell.epoch)]


def _stable(last: LastStable | None) -> str:
    if last is None:
        return ""
    answer = "" if last.observed is None else f" told {last.observed}{'!' if last.outside else ''}"
    return (span(last.expected) + answer).strip()


def span(expected: ExpectedHighWatermark) -> str:
    """An interval as `7`, `7..14`, or open as `7..?`."""
    low, high = expected.interval.low, expected.interval.high
    if low is None and high is None:
        return ""
    if low == high:
        return str(low)
    return f"{'?' if low is None else low}..{'?' if high is None else high}"


def remote(end: RemoteEndBounds) -> str:
    """A follower's log end as its leader knows it; none before its first fetch."""
    low = "none" if end.low == NEVER else end.low
    if end.low == end.high:
        return f"{end.broker}:{low}"
    return f"{end.broker}:{low}..{'?' if end.high is None else end.high}"


def clock_time(time: int | None) -> str:
    """A time of day on the reference clock."""
    if time is None:
        return "?"
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%H:%M:%S.") + f"{time % 1000:03d}"
