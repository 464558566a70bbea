"""Followers that were silent and behind for so long that their leader must have taken them out of the ISR.

It looks for such ones every half of the limit. Where no change of the ISR is told, the log that tells of them has a
hole.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.history.moments import Moment
from rules.replay.leading.counting import Counting
from rules.replay.leading.tracks import NEVER, Track, accepted
from rules.replay.reign.in_sync import InForce


class Silences:
    """Who may have been taken out without a word; lives only inside the walk over one reign."""

    def __init__(self, counting: Counting) -> None:
        self.counting = counting
        self.before = counting.opened
        """When the last answer was logged."""
        self.behind: dict[int, int | None] = {}
        """Since when each follower may have been short of its leader's log end."""
        self.dropped: dict[int, int] = {}
        """Until when those were silent that may have been taken out."""

    def see(self, row: Moment, time: int | None, log_end: int) -> None:
        """Before an answer is walked over: whoever asks now was silent until now."""
        there = _end_before(row, log_end)
        for broker, track in self.counting.tracks.items():
            if track.high is None or track.high >= there:
                self.behind.pop(broker, None)
                continue
            since = self.behind.setdefault(broker, self.before)
            if self._must_be_out(track, since, time):
                self.dropped[broker] = time or 0
        self.before = time

    def _must_be_out(self, track: Track, since: int | None, time: int | None) -> bool:
        if time is None or since is None or track.leaves_out:
            return False
        limit = self.counting.limit
        return time - since > limit and 2 * self.counting.silent_for(track, time) > 3 * limit

    def perhaps_out(self, oldest: InForce | None) -> Iterator[int]:
        """Who may be out, by the oldest statement that may hold: a later one than the silence says who is in."""
        told = None if oldest is None else oldest.earliest
        return (broker for broker, until in self.dropped.items() if told is None or told < until)


def _end_before(row: Moment, log_end: int) -> int:
    """How far the log had surely come before an answer's own records were appended."""
    told = row.kind == "produced" and row.error in (None, 0) and not row.doubtful
    asked = row.kind == "fetched" and accepted(row) and not row.doubtful
    return max(log_end, row.offset or NEVER) if told or asked else log_end
