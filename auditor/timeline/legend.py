"""What the columns and signs of a timeline mean: a short line each, the same in text and page."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rules.timeline.rows import Timeline


class Sign(Struct, frozen=True, kw_only=True):
    """A column or a sign, and what it means."""

    mark: str
    means: str


COLUMNS: Final = (
    Sign(mark="time", means="when, by one common clock, as far as the clocks could be aligned"),
    Sign(mark="as written", means="the same moment as the log of the clock beside it has it"),
    Sign(mark="LEO", means="log end offset after the event, or the bounds it must lie between"),
    Sign(mark="HW", means="high watermark after the event, recomputed from everything but told high watermarks"),
    Sign(mark="told", means="the high watermark that the event tells; an answer tells what was read before it"),
    Sign(mark="e", means="leader epoch that the broker was in"),
    Sign(mark="LSO", means="last stable offset of the leader: how far consumers with read_committed may read"),
    Sign(mark="remote LEO", means="log ends of the followers as their leader knows them; none before a fetch"),
    Sign(mark="*", means="this broker leads; it stands before a log end: *4..? leads and ends at 4 or later"),
    Sign(mark="?", means="not known; 4..6 from 4 to 6, 4..? at least 4"),
    Sign(mark="@5 (x3)", means="offset 5; told three times in these words, and shown once"),
)
IMPOSSIBLE: Final = Sign(mark="!", means="told, but impossible by everything else that is told")
BACK: Final = Sign(mark="~", means="earlier than the row above: rows stand in the order of leader epochs and offsets")


def legend(drawn: Timeline) -> tuple[Sign, ...]:
    """The signs that this timeline has."""
    outside = any(cell.outside for row in drawn.rows for cell in row.cells)
    outside = outside or any(row.last_stable is not None and row.last_stable.outside for row in drawn.rows)
    back = any(row.back for row in drawn.rows)
    return (*COLUMNS, *((IMPOSSIBLE,) if outside else ()), *((BACK,) if back else ()))
