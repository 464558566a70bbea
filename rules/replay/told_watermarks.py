"""What somebody told of a high watermark, beside what it can have been."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from rules.history.statements import Fetched, LogEvent, RoleTaken
from rules.protocol.watermarks import ExpectedHighWatermark

Standing = Literal["inside", "above", "below"]


class ToldWatermark(Struct, frozen=True, kw_only=True):
    """A high watermark that somebody told, beside what it can have been."""

    moment: Fetched | RoleTaken | LogEvent
    by_leader: bool
    expected: ExpectedHighWatermark
    observed: int | None

    @property
    def standing(self) -> Standing | None:
        """Where the told value lies; null when none was told."""
        if self.observed is None:
            return None
        low, high = self.expected.low, self.expected.high
        if high is not None and self.observed > high.offset:
            return "above"
        return "below" if low is not None and self.observed < low.offset else "inside"


def none_told(watermarks: Iterable[int | None]) -> bool:
    """Whether there are words that could tell a high watermark, and not one does: -1 stands for none."""
    found = {*watermarks}
    return bool(found) and found <= {None, -1}


def no_answer(watermarks: Iterable[ToldWatermark]) -> Iterator[tuple[str, str]]:
    """Why nothing that a leader told can be held against what it must have been, and what would tell; once at most."""
    if none_told(each.observed for each in watermarks if each.by_leader):
        missing = "request logs (DEBUG) or followers' logs whose answers tell a high watermark"
        yield "no answer here tells a high watermark to hold against the ISR", missing
