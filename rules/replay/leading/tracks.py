"""A leader's memory of its followers, as far as the order of its answers tells: what was asked, and what may have been.

A request log tells of a fetch when it is answered. It was applied before that, and after the fetcher's former answer:
so at any place in the log a follower stands between its last answered fetch and its next one.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rules.history.moments import accepted
from rules.history.statements import Fetched

NEVER: Final = -1
"""What a new leader holds for a follower that has not fetched: it keeps the high watermark where it is."""
IN_FLIGHT_MS: Final = 30_000
"""A fetch that was not answered for this long has been given up by its follower (replica.socket.timeout.ms)."""

_FEW: Final = 64
"""So many fetches are looked back on for the one that reached an acknowledged record."""


class RemoteEndBounds(Struct, frozen=True, kw_only=True):
    """A follower's log end offset in the leader's memory, from low to high; a null high is open."""

    broker: int
    low: int
    high: int | None
    last: Fetched | None
    """The last answered fetch."""
    following: Fetched | None
    """The next fetch, which may have been applied by now."""

    def reached_by(self, time: int | None) -> int | None:
        """The highest end by a time: a next fetch that had not come in by then has changed nothing."""
        came = None if self.following is None else self.following.arrived
        if self.high is None or came is None or time is None or came <= time:
            return self.high
        if self.last is None:
            return NEVER
        return self.last.offset if accepted(self.last) and not self.last.left_out else self.high


class Track:
    """One follower's fetches, walked along the leader's log; lives only inside the walk over one lead."""

    def __init__(
        self,
        broker: int,
        runs: tuple[Fetched, ...],
        log_end: int | None = None,
        *,
        begun_unseen: bool = False,
        holed: bool = False,
    ) -> None:
        self.broker = broker
        self.log_end = log_end
        """Its log end when it took its next role: it never asked for more."""
        self.runs = runs
        self.places = {id(run): place for place, run in enumerate(runs)}
        self.index = -1
        self.done = True
        self.low = NEVER
        self.high: int | None = None if begun_unseen else NEVER
        self.holed = holed

    @property
    def last(self) -> Fetched | None:
        """The last answered fetch."""
        return self.runs[self.index] if self.index >= 0 else None

    @property
    def following(self) -> Fetched | None:
        """The fetch that the trace tells of next, once the run of the last one is over."""
        place = self.index + 1
        return self.runs[place] if self.done and place < len(self.runs) else None

    @property
    def exhausted(self) -> bool:
        """Whether the trace tells of no further fetch."""
        return self.done and self.index + 1 >= len(self.runs)

    @property
    def leaves_out(self) -> bool:
        """Whether it was answered since, by lines that are not here."""
        return self.index >= 0 and self.runs[self.index].left_out > 0

    @property
    def answered(self) -> int | None:
        """When its last answer was logged: whatever it asks next came later."""
        last = self.last
        return None if last is None else last.last_time if last.last_time is not None and self.done else last.time

    def moves(self, run: Fetched) -> bool:
        """Whether a fetch surely tells the leader another log end than it held."""
        offset = NEVER if run.offset is None else run.offset
        return self.high is not None and not self.low <= offset <= self.high

    def answer(self, run: Fetched, *, last: bool) -> None:
        """Walk over an answer: the first of a run of equal ones, or the last."""
        offset = run.offset if run.offset is not None else NEVER
        self.done = last or run.count == 1
        place = self.places.get(id(run), -1)
        # Of runs that overlap, as in two copies of one log, the earlier one is behind us when it ends.
        if place <= self.index:
            return
        self.index = place
        if run.doubtful:
            self.low, self.high = NEVER, None
        elif accepted(run):
            self.low = self.high = offset
        else:
            # A fetch can be applied, wait, and be answered with an error when the leadership is over.
            self.low = min(self.low, offset)
            self.high = None if self.high is None else max(self.high, offset)

    def acknowledged(self, end: int) -> int:
        """What the leader held for it at least when a record that ends there was acknowledged, if it was counted then.

        That is the first offset at or beyond the record that it ever asked for: by now, or by its next fetch, if its
        last one falls short. Where others may lie between two fetches it is the record's end.
        """
        reached = self.index >= 0 and _reaches(self.runs[self.index], end)
        if self.holed or self.high is None or not (self.done or reached):
            return end
        place = self.index if reached else self.index + 1
        for _ in range(_FEW):
            if place <= 0 or not _reaches(self.runs[place - 1], end):
                break
            place -= 1
        else:
            return end
        if place > 0 and self.runs[place - 1].left_out:
            return end
        trusted = 0 <= place < len(self.runs) and accepted(self.runs[place]) and not self.runs[place].doubtful
        return max(end, self.runs[place].offset or 0) if trusted else end

    def take_acknowledged(self, end: int) -> None:
        """Take in that such a record was acknowledged while it was in sync."""
        self.low = max(self.low, self.acknowledged(end))
        self.high = None if self.high is None else max(self.high, self.low)

    def asking(self) -> RemoteEndBounds:
        """Where the follower stands in the leader's memory while it is answered: its next fetch has not been sent."""
        high = None if self.holed else self.high
        return RemoteEndBounds(broker=self.broker, low=self.low, high=high, last=self.last, following=None)

    def now(self, *, in_flight_at_end: bool, applied: bool = False) -> RemoteEndBounds:
        """Where it may stand at this place of the log: its next fetch surely is `applied`, or may be.

        One that is in flight when the trace ends may have been applied though its answer was never logged.
        """
        following, low, high = self.following, self.low, self.high
        if following is not None and following.offset is not None:
            low = NEVER if following.doubtful else following.offset if applied else min(low, following.offset)
            high = None if following.doubtful or high is None else max(high, following.offset)
        elif self.done and in_flight_at_end:
            high = None if self.log_end is None or high is None else max(high, self.log_end)
        if self.holed:
            high = None
        return RemoteEndBounds(broker=self.broker, low=low, high=high, last=self.last, following=following)


def _reaches(run: Fetched, end: int) -> bool:
    return run.offset is not None and run.offset >= end


