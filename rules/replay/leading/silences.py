"""Followers that their leader may have taken out of the ISR because they lagged: nobody else takes one out in a term.

A leader looks every half of the limit for followers that were not caught up for longer. Where no change of the ISR is
told, and no later state shows that there was none, the log that tells of it may have a hole.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.history.moments import accepted
from rules.history.statements import Fetched
from rules.replay.leading.counting import Counting
from rules.replay.leading.instants import found_nothing
from rules.replay.leading.tracks import Track
from rules.replay.leads.by_clock_and_epoch import Served


class Silences:
    """Who may have been taken out without a word; lives only inside the walk over one lead."""

    def __init__(self, counting: Counting) -> None:
        self.counting = counting
        self.caught_up: dict[int, int | None] = dict.fromkeys(counting.tracks, counting.opened)
        """Until when each follower was caught up at least: all of them count as such when a lead begins."""
        self.dropped: dict[int, int] = {}
        """Until when those may have lagged that may have been taken out."""

    def see(self, row: Served, time: int | None, log_end: int) -> None:
        """Before an answer is walked over: whoever asks now was silent until now."""
        self.end(time)
        if row.kind != "fetched" or row.broker is None:
            return
        asker = self.counting.tracks.get(row.broker)
        if asker is not None and _keeps_up(row, log_end):
            self.caught_up[asker.broker] = _taken_in(row, asker, time)

    def end(self, time: int | None) -> None:
        """Until a time nobody has asked anew."""
        for broker, track in self.counting.tracks.items():
            if self._may_be_out(track, time):
                self.dropped[broker] = time or 0

    def _may_be_out(self, track: Track, time: int | None) -> bool:
        since = self.caught_up[track.broker]
        if time is None or since is None or track.leaves_out:
            return False
        # In a run of equal fetches a follower finds nothing that it lacks.
        return track.done and time - since > self.counting.limit

    def perhaps_out(self, since: float) -> Iterator[int]:
        """Who may be out, where no change is told that may have come into force since a time."""
        return (broker for broker, until in self.dropped.items() if since < until)


def _keeps_up(row: Fetched, log_end: int) -> bool:
    """Whether a follower asked for no less than its leader was known to hold."""
    return accepted(row) and not row.doubtful and (found_nothing(row) or (row.offset or 0) >= log_end)


def _taken_in(row: Fetched, asker: Track, time: int | None) -> int | None:
    """When its leader counted it at the earliest: when its former answer was written, or the run of fetches goes on."""
    if asker.index < 0:
        return row.time if row.taken_in is None else row.taken_in
    return time if asker.runs[asker.index] is row else asker.answered
