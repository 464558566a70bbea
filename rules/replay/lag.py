"""How long each follower has not been caught up, at every answer of a leader: never more than it truly was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rules.history.statements import Fetched
from rules.history.steady import QUIET_MS, goes_on_until
from rules.replay.course import Course
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leading.tracks import RemoteEndBounds


class Lag(Struct, frozen=True, kw_only=True):
    """A follower that is surely behind its leader's log end."""

    broker: int
    offset: int
    """The furthest that it can have asked for."""
    milliseconds: int
    """Since the latest time at which it can have been caught up."""
    awake_ms: int
    """For how long the leader's log goes on without a silence: a process that stands still drops nobody."""


SILENT_MS: Final = 5000
"""A leader that says nothing for so long may have stood still; followers ask every half second."""


class _Awake:
    """Since when a leader's log goes on; lives only inside `lags`."""

    def __init__(self) -> None:
        self.since: int | None = None
        self.until: int | None = None

    def see(self, row: LeaderRow, time: int) -> int:
        """Take in an answer; returns for how long the log has gone on."""
        if self.until is None or time - self.until > SILENT_MS:
            self.since = time
        self.until = _latest(self.until, time if row.last else goes_on_until(row.moment, SILENT_MS))
        return time - (self.since or 0)


class _Watch:
    """The latest time at which a follower can have been caught up; lives only inside `lags`.

    A fetch is handled after the follower's former answer was logged and before its own is: where it asks for less than
    the leader surely held at the former answer, it was behind when it was handled.
    """

    def __init__(self, began: int | None, log_end: int) -> None:
        self.caught_up = self.answered = began
        self.former_end = self.end = log_end

    def answer(self, m: Fetched, time: int, log_end: int) -> None:
        """Take in an answered fetch."""
        settled = not m.doubtful and m.error in (None, 0) and m.offset is not None
        if not settled or (m.offset or 0) >= self.end:
            self.caught_up = time
        elif (m.offset or 0) >= self.former_end:
            self.caught_up = _latest(self.caught_up, self.answered)
        self.former_end, self.end, self.answered = self.end, log_end, time

    def may_have_caught_up(self, remote: RemoteEndBounds) -> bool:
        """Whether a fetch may have reached the log end among those that are left out before the follower's next one."""
        left_out = remote.last is not None and remote.last.left_out > 0
        return left_out and (remote.high is None or remote.high >= self.former_end)


def lags(course: Course) -> Iterator[tuple[LeaderRow, tuple[Lag, ...]]]:
    """Every answer of the lead with the followers that were surely behind then."""
    watches: dict[int, _Watch] = {}
    isrs: tuple[frozenset[int], ...] = ()
    opening = course.lead.opening
    began = opening.time if opening is not None else None
    held = course.lead.start_offset or 0
    before: int | None = None
    awake = _Awake()
    for row in course.rows:
        time = row.moment.last_time if row.last else row.moment.time
        # That a log's start moved is told by server.log: it does not show that the log of requests goes on.
        if time is None or row.moment.kind == "log-start-moved":
            continue
        began = time if began is None else began
        if before is not None and not row.last and time - before > QUIET_MS:
            for watch in watches.values():
                watch.caught_up = time
        before = time
        awake_ms = awake.see(row, time)
        held = max(held, row.log_end.low.offset if row.log_end.low else 0)
        joined, isrs = _joined(isrs, row.isr), row.isr
        for remote in row.remotes:
            watch = watches.setdefault(remote.broker, _Watch(began, course.lead.start_offset or 0))
            if remote.broker in joined:
                watch.caught_up = time
            if row.moment.kind == "fetched" and row.moment.broker == remote.broker:
                watch.answer(row.moment, time, held)
        behind = [r for r in row.remotes if r.high is not None and r.high < held]
        for remote in behind:
            if watches[remote.broker].may_have_caught_up(remote):
                watches[remote.broker].caught_up = time
        yield (
            row,
            tuple(
                Lag(
                    broker=r.broker,
                    offset=r.high or 0,
                    milliseconds=time - (watches[r.broker].caught_up or time),
                    awake_ms=awake_ms,
                )
                for r in behind
            ),
        )


def _joined(before: tuple[frozenset[int], ...], now: tuple[frozenset[int], ...]) -> frozenset[int]:
    """Who has just joined the ISR, or may have, from ISRs that were possible before to those that are so now."""
    if now == before:
        return frozenset()
    (maybe, surely), (maybe_before, surely_before) = _members(now), _members(before)
    return (maybe - maybe_before) | (surely - surely_before)


def _members(isrs: tuple[frozenset[int], ...]) -> tuple[frozenset[int], frozenset[int]]:
    """Members of any of some ISRs, and of all."""
    return frozenset().union(*isrs), frozenset.intersection(*isrs) if isrs else frozenset()


def _latest(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else max(left, right)
