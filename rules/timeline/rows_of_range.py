"""The rows of a timeline that concern a range of offsets: those that name one, or move a log end or a watermark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rules.history.moments import Moment
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.timeline.rows import Cell, Timeline, TimelineRow, with_steps_back


def touching(drawn: Timeline, first: int, last: int) -> Timeline:
    """Only rows about offsets from the first to the last, and those that name no offset: leaders, ISRs, whole logs."""
    return replace(drawn, rows=tuple(with_steps_back(_touching(drawn.rows, first, last + 1))))


def _touching(rows: Sequence[TimelineRow], start: int, end: int) -> Iterator[TimelineRow]:
    before: dict[int, Cell] = {}
    for row in rows:
        offsets = list(_offsets(row.moment))
        moved = any(_moves(before.get(cell.broker), cell, start, end) for cell in row.cells)
        if not offsets or moved or any(start <= offset <= end for offset in offsets):
            yield row
        before = {cell.broker: cell for cell in row.cells}


_OFFSETS: Final = (
    "offset", "end_offset", "high_watermark", "answer_offset", "log_start_offset", "last_stable_offset",
)  # fmt: skip
"""Fields that are offsets, in whatever statement has them."""


def _offsets(moment: Moment) -> Iterator[int]:
    """What a statement names; an end stands one behind the last offset that it holds."""
    named = (getattr(moment, name, None) for name in _OFFSETS)
    yield from (offset for offset in named if offset is not None and offset >= 0)


def _moves(before: Cell | None, now: Cell, start: int, end: int) -> bool:
    """Whether a bound of the replica's log end or high watermark passes through the range."""
    if before is None:
        return False
    pairs = ((before.log_end, now.log_end), (before.high_watermark, now.high_watermark))
    return any(_passes(former, latter, start, end) for former, latter in pairs)


def _passes(former: ExpectedHighWatermark, latter: ExpectedHighWatermark, start: int, end: int) -> bool:
    bounds = ((former.interval.low, latter.interval.low), (former.interval.high, latter.interval.high))
    pairs = [(one, other) for one, other in bounds if one is not None and other is not None and one != other]
    return any(min(pair) <= end and max(pair) >= start for pair in pairs)
