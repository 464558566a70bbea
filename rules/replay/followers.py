"""What a follower's high watermark can be when a lead is over: the answers it was given, and what befell its log."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rules.history.moments import Moment, accepted
from rules.history.statements import LogEvent
from rules.protocol.offsets import Offset
from rules.protocol.watermarks import Bound, ExpectedHighWatermark, expected_interval
from rules.replay.leading.bounds import at_least, at_most
from rules.replay.leading.leader_walk import LeaderRow

UNKNOWN = expected_interval((at_least(0, "no high watermark is below 0"),))
"""What is certain of a high watermark of which nothing is known."""


class LogRules(Struct, frozen=True, kw_only=True):
    """What a version makes of a high watermark beyond its log end."""

    clamps: bool
    """Since 2.4 a truncation takes the high watermark with it; before, it could exceed the log end for a while."""


def capped(expected: ExpectedHighWatermark, end: int | None, because: str) -> ExpectedHighWatermark:
    """The same within a log that ends there."""
    if end is None:
        return expected
    low = expected.low if expected.low is None or expected.low.offset <= end else at_least(end, because)
    high = at_most(end, because) if expected.high is None or expected.high.offset > end else expected.high
    return expected_interval(tuple(bound for bound in (low, high) if bound is not None))


def ranging(low: Bound | None, high: Bound | None) -> ExpectedHighWatermark:
    """An interval of bounds that are known."""
    return expected_interval(tuple(bound for bound in (low, high) if bound is not None))


def either(first: ExpectedHighWatermark, second: ExpectedHighWatermark) -> ExpectedHighWatermark:
    """What holds when one of two is true and nobody knows which."""
    low = high = None
    if first.low is not None and second.low is not None:
        low = min(first.low, second.low, key=_offset)
    if first.high is not None and second.high is not None:
        high = max(first.high, second.high, key=_offset)
    return expected_interval(tuple(bound for bound in (low, high) if bound is not None))


def reopened(before: ExpectedHighWatermark, load: LogEvent) -> ExpectedHighWatermark:
    """After a restart: what the checkpoint held, which may be older than the crash."""
    start = load.log_start_offset or 0
    low = at_least(start, f"broker {load.broker} restarted from a checkpoint of unknown age, its log starts at {start}")
    return expected_interval((low,) if before.high is None else (low, _at_least(before.high, start)))


def restarted(before: ExpectedHighWatermark, load: LogEvent) -> ExpectedHighWatermark:
    """The same, brought into the log as it was loaded."""
    why = f"broker {load.broker} loaded a log that ends at {load.end_offset}"
    return capped(reopened(before, load), load.end_offset, why)


def _at_least(high: Bound, offset: int) -> Bound:
    return high if high.offset >= offset else Bound(side="high", offset=Offset(offset), because="the log starts there")


def after_cuts(
    before: ExpectedHighWatermark, broker: int, own: Sequence[Moment], rules: LogRules
) -> ExpectedHighWatermark:
    """After what a broker cut at the beginning of its new role."""
    expected = before
    for moment in own:
        if moment.kind == "log-reset":
            expected = UNKNOWN
        elif moment.kind == "truncated" and moment.offset is not None:
            why = f"broker {broker} cut its log to {moment.offset}"
            cut = capped(expected, moment.offset, why)
            expected = cut if rules.clamps else either(cut, expected)
    return expected


def perhaps_told(before: ExpectedHighWatermark, leaders: ExpectedHighWatermark) -> ExpectedHighWatermark:
    """After answers that nobody saw: a follower takes what its leader holds, though it is lower than its own."""
    lowest = min(_or_zero(before.low), _or_zero(leaders.low), key=_offset)
    return expected_interval((lowest,) if before.high is None else (lowest, before.high))


def after_answers(
    before: ExpectedHighWatermark,
    broker: int,
    rows: Sequence[LeaderRow],
    final_high: Bound | None,
    epochs: Sequence[int],
) -> ExpectedHighWatermark:
    """After a lead of some epochs: the last answer surely processed at least, the leader's own at most."""
    given = [row for row in rows if row.moment.broker == broker and row.fetch is not None and not row.last]
    taken = [row for row in given if _accepted(row)]
    if not rows:
        return UNKNOWN
    before = _told_beside_a_cut(before, given)
    if not taken:
        return either(before, expected_interval((_or_zero(before.low), *((final_high,) if final_high else ()))))
    surely = _last_processed(given, renewed=len(epochs) > 1)
    if surely is None:
        lows = (row.answer.low for row in taken if row.answer.low is not None)
        low = min((_or_zero(before.low), *lows), key=_offset)
    else:
        low = _or_zero(surely.answer.low)
    held = taken[-1].moment.offset or 0
    low = low if low.offset <= held else at_least(held, f"broker {broker} held all below {held}")
    if surely is None and before.high is not None and final_high is not None:
        final_high = max(before.high, final_high, key=_offset)
    return expected_interval((low,) if final_high is None else (low, final_high))


def _accepted(row: LeaderRow) -> bool:
    return row.fetch is not None and accepted(row.fetch)


def _last_processed(given: Sequence[LeaderRow], *, renewed: bool) -> LeaderRow | None:
    """The last answer that its follower surely worked off: it asked for more, or again in the same epoch.

    What is on its way when a follower hears of a new epoch is dropped.
    """
    for place in range(len(given) - 1, -1, -1):
        this = given[place].moment
        sure = this.epoch is not None or not renewed
        following = given[place + 1].moment if place + 1 < len(given) else None
        again = following is not None and following.epoch == this.epoch and sure
        more = following is not None and (following.offset or 0) > (this.offset or 0)
        if _accepted(given[place]) and (more or again or (this.count > 1 and sure)):
            return given[place]
    return None


def lowered(first: ExpectedHighWatermark, second: ExpectedHighWatermark) -> ExpectedHighWatermark:
    """The first, no lower bound of which is above the second's."""
    low = either(first, second).low
    return expected_interval(tuple(bound for bound in (low, first.high) if bound is not None))


def loosened(after: ExpectedHighWatermark, broker: int, rows: Sequence[LeaderRow]) -> ExpectedHighWatermark:
    """The same at any time of the lead: a high watermark falls to that of each answer that is lower."""
    given = (row for row in rows if row.moment.broker == broker and row.moment.kind == "fetched")
    lows = [row.answer.low for row in given if row.answer.low is not None]
    lowest = min((*lows, *((after.low,) if after.low else ())), key=_offset, default=None)
    return expected_interval(tuple(bound for bound in (lowest, after.high) if bound is not None))


def _told_beside_a_cut(before: ExpectedHighWatermark, given: Sequence[LeaderRow]) -> ExpectedHighWatermark:
    """Up to 3.4.0 a diverging answer's high watermark was taken too, before the cut (KAFKA-14704): it can be lower."""
    diverging = (row for row in given if row.fetch is not None and row.fetch.answered_epoch not in (None, -1))
    lows = [row.answer.low for row in diverging if row.answer.low]
    lowest = min(lows, key=_offset, default=None)
    if lowest is None or before.low is None or lowest.offset >= before.low.offset:
        return before
    return expected_interval((lowest,) if before.high is None else (lowest, before.high))


def _or_zero(low: Bound | None) -> Bound:
    return at_least(0, "no high watermark is below 0") if low is None else low


def _offset(bound: Bound) -> int:
    return bound.offset
