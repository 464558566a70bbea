"""Where an ISR was not what the lag makes of it: members kept that were behind, and dropped that were not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from rules.history.moments import Moment
from rules.history.statements import Fetched, PartitionState
from rules.history.steady import QUIET_MS, Times, joined, pauses
from rules.replay.course import Course
from rules.replay.lag import SILENT_MS, Lag, lags
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leading.tracks import IN_FLIGHT_MS
from rules.thresholds import WEEK_MS, Threshold

SLACK: Final = Threshold(
    name="slack",
    unit="ms",
    default=5000,
    most=WEEK_MS,
    means="How much longer than one and a half times replica.lag.time.max.ms a member may lag and stay in the ISR.",
)
"""For the time that a change of the ISR takes to come into force."""


class TakenOut(Struct, frozen=True, kw_only=True):
    """A member that was taken out of the ISR although it had asked for all that the leader held."""

    broker: int
    shrinking: PartitionState
    asked: Fetched
    """Its last fetch before that."""


def kept_behind(
    moments: Sequence[Moment], course: Course, limit: int, slack: int, steady: Sequence[Times]
) -> Iterator[tuple[LeaderRow, Lag]]:
    """Members that lagged for too long while nobody asked to take them out, each where it is seen first.

    `steady` is when the leader's lines follow closely, whatever partition they are of: in between it may have stood
    still, however many equal answers are told from before to after.
    """
    brokers: set[int] = set()
    woke = [again for _, again in pauses(joined(steady, SILENT_MS))]
    for row, followers in lags(course):
        for lag in followers:
            awake = min(lag.awake_ms, _since_last(woke, row))
            late = lag.milliseconds > limit + limit // 2 + slack and awake > limit // 2 + slack
            if late and lag.broker not in brokers and _surely_member(row, lag) and _changes_told(moments, course, row):
                brokers.add(lag.broker)
                if not _proposed(moments, course, lag, row):
                    yield row, lag


def _since_last(times: Sequence[int], row: LeaderRow) -> int:
    """How long before an answer the last of some times was; without one, since ever."""
    at = (row.moment.last_time if row.last else row.moment.time) or 0
    place = bisect_right(times, at)
    return at - (times[place - 1] if place else 0)


def _surely_member(row: LeaderRow, lag: Lag) -> bool:
    return bool(row.isr) and all(lag.broker in isr for isr in row.isr)


def _changes_told(moments: Sequence[Moment], course: Course, row: LeaderRow) -> bool:
    """Whether a change of the ISR by then would be known: from the controller, or from a leader's log that goes on."""
    if any(m.clock == "controller" and m.epoch in course.lead.epochs for m in moments):
        return True
    own = (m for m in moments if m.clock == course.lead.clock and m.kind in ("isr", "isr-shrinking"))
    return any((m.time or 0) >= (row.moment.time or 0) for m in own)


def _proposed(moments: Sequence[Moment], course: Course, lag: Lag, row: LeaderRow) -> bool:
    """Whether the leader had asked for it: then the controller let it wait."""
    return any(
        m.kind == "isr-shrinking" and m.clock == course.lead.clock and m.term in course.lead.epochs
        and lag.broker not in (m.isr or ()) and (m.time or 0) <= (row.moment.time or 0)
        for m in moments
    )  # fmt: skip


def dropped_caught_up(
    course: Course, shrinking: Iterable[PartitionState], steady: Sequence[Times]
) -> Iterator[TakenOut]:
    """Members that a leader proposed to drop although they had asked for its log end.

    Where its log falls silent behind that, or ends soon, the line of their next fetch may be missing.
    """
    version = course.rank.version
    if version is None or not version.at_least(2, 4):
        # Up to 2.0 a member at the log end is dropped too; up to 2.3 a failed read makes its leader forget it.
        return
    stretches = joined(steady, QUIET_MS)
    silences = [since for since, _ in pauses(stretches)]
    ended = stretches[-1][1] if stretches else None
    for m in shrinking:
        if m.end_offset is None or m.time is None:
            continue
        soon = ended if ended is not None and m.time <= ended <= m.time + IN_FLIGHT_MS else None
        silent = next((since for since in silences if since >= m.time), soon)
        for broker in sorted(set(m.previous_isr or ()) - set(m.isr or ())):
            asked = _around(course, broker, m.time, silent)
            if asked and all(fetch.offset is not None and fetch.offset >= m.end_offset for fetch in asked):
                yield TakenOut(broker=broker, shrinking=m, asked=asked[0])


def _around(course: Course, broker: int, time: int, silent: int | None) -> list[Fetched]:
    """A follower's last accepted fetch before a time, and the next one, which may have been applied by then.

    None where the leader's log falls silent before the next one.
    """
    own = [fetch for row in course.rows if (fetch := row.fetch) is not None and fetch.broker == broker]
    before = [fetch for fetch in own if (fetch.time or 0) <= time]
    after = [fetch for fetch in own if (fetch.time or 0) > time]
    asked = [*before[-1:], *after[:1]]
    unheard = silent is not None and not any((fetch.time or 0) <= silent for fetch in after[:1])
    unusable = any(m.doubtful or m.error not in (None, 0) or m.answered_epoch is not None for m in asked)
    return [] if unusable or unheard or not before else asked
