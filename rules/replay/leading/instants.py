"""What surely happened before what: fetches that a leader had taken in before it made an answer.

A line of a request log is written when the answer has been sent. Its times tell for how long the request was under way,
and not when the line was written after that: a time reckoned back from a line is never too early, but may be too late.
A time reckoned onward from the asker's former line is never too late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from rules.history.moments import accepted
from rules.history.statements import Fetched
from rules.replay.leading.tracks import Track

ROUNDED_MS: Final = 2
"""A time is told in whole milliseconds, and so is that of the line from which it was reckoned."""
READING_MS: Final = 100
"""So long before an answer was made its high watermark may have been read, where the reader had to wait."""

InSync = Callable[[int, int | None, int | None], bool]
"""Whether a broker was surely in the ISR all the time between two."""


class Instant(Struct, frozen=True, kw_only=True):
    """A moment in a lead, by what is certain of it."""

    log_end: int
    """The leader's log had surely come so far."""
    time: int | None
    """It was no earlier on the leader's clock."""


def found_nothing(row: Fetched) -> bool:
    """Whether every fetch of a run waited for the first record beyond its offset.

    It was looked at, counted, and looked at again: the leader's log ended at its offset all the while. That holds of a
    follower in sync: one that is not may wait because of its quota (KIP-73).
    """
    return row.waited and row.min_bytes == 1


def taken_in_before(track: Track, place: int, instant: Instant, in_sync: InSync) -> bool:
    """Whether the leader had surely taken in a follower's fetch before an instant, and in this lead."""
    run, former = track.runs[place], track.runs[place - 1] if place else None
    if run.doubtful or not accepted(run) or (former is None and run.epoch is None):
        return False
    until = run.time if run.taken_in is None else run.taken_in + ROUNDED_MS
    if run.taken_in is not None and instant.time is not None and until is not None and until <= instant.time:
        return True
    since = None if former is None else former.time
    return found_nothing(run) and (run.offset or 0) < instant.log_end and in_sync(track.broker, since, until)


def overtaken(row: Fetched, logged: int | None) -> bool:
    """Whether a fetch had come in before its asker's former line was written, so on another connection.

    A broker logs an answer that nobody took when it sees that the connection is gone, behind later answers.
    """
    return row.arrived is not None and logged is not None and row.arrived + ROUNDED_MS < logged


def read_since(row: Fetched, former: Fetched, logged: int | None) -> int | None:
    """The earliest time at which an answer's high watermark was read; `logged` is when its asker's former line was."""
    same = row.session == former.session and row.client_id == former.client_id
    if logged is None or not same or not row.waited or row.arrived is None or row.answered is None:
        return logged
    return max(logged, logged + row.answered - row.arrived - 1 - READING_MS)
