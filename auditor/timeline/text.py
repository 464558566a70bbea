"""A timeline as a table for people: one row an event, one group of columns a replica."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from auditor.report.layout import table
from auditor.report.plain import plain
from auditor.timeline.document import MEANING
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.replay.leading.tracks import NEVER, RemoteEnd
from rules.timeline.rows import Cell, LastStable, Timeline, TimelineRow


def timeline_text(drawn: Timeline) -> str:
    """The whole timeline; hostile names are escaped by the table."""
    return "\n".join([*_head(drawn), *_body(drawn), *_foot(drawn)]) + "\n"


def _head(drawn: Timeline) -> Iterator[str]:
    yield plain(f"{drawn.topic}-{drawn.partition}")
    yield (
        f"{MEANING}; told: what was said; ! outside what it can have been then; ? not known; * leads; e leader epoch;"
        " LSO: the leader's last stable offset; remote LEO: a follower's log end as its leader knows it, none before it"
        " fetches"
    )
    if any(row.back for row in drawn.rows):
        yield (
            "Rows stand in the order of leader epochs and offsets; ~ before a time: earlier than the row above it, as"
            " clocks err and lines are written late"
        )
    for clock in drawn.clocks:
        if clock.pairs:
            yield f"clock of {clock.clock}: {clock.words}"
    yield ""


def _body(drawn: Timeline) -> Iterator[str]:
    groups = [[f"{b} LEO", "HW", "told", "e"] for b in drawn.brokers]
    heads = ["time", "event", *(head for group in groups for head in group), "LSO", "remote LEO"]
    rows = [_row(row) for row in drawn.rows]
    yield from table(heads, rows)


def _row(row: TimelineRow) -> list[str]:
    cells = [text for cell in row.cells for text in _cell(cell)]
    time = clock_time(row.time)
    remotes = " ".join(remote(end) for end in row.remotes)
    return [f"~{time}" if row.back else time, row.text, *cells, _stable(row.last_stable), remotes]


def _cell(cell: Cell) -> list[str]:
    star = "*" if cell.leads else ""
    told = "" if cell.told_high_watermark is None else f"{cell.told_high_watermark}{'!' if cell.outside else ''}"
    ends = star + (span(cell.log_end) or "?"), span(cell.high_watermark) or "?"
    return [*ends, told, "" if cell.epoch is None else str(cell.epoch)]


def _stable(last: LastStable | None) -> str:
    if last is None:
        return ""
    told = "" if last.told is None else f" told {last.told}{'!' if last.outside else ''}"
    return (span(last.expected) + told).strip()


def span(expected: ExpectedHighWatermark) -> str:
    """An interval as `7`, `7..14`, or open as `7..?`."""
    low, high = expected.interval.low, expected.interval.high
    if low is None and high is None:
        return ""
    if low == high:
        return str(low)
    return f"{'?' if low is None else low}..{'?' if high is None else high}"


def remote(end: RemoteEnd) -> str:
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


def _foot(drawn: Timeline) -> Iterator[str]:
    if drawn.missing:
        yield ""
        yield "missing:"
        for missing in drawn.missing:
            yield plain(f"  {missing.evidence}; it leaves open {missing.leaves_open}")
