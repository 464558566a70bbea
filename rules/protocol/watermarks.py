"""High watermarks: who is counted by which version, what a leader and a follower hold, and what is certain of it.

A high watermark is the exclusive end of what consumers may read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from rules.protocol.isr import Brokers, LeaderView, RemoteReplica, is_caught_up, maximal_isr
from rules.protocol.offsets import Offset
from rules.protocol.versions import KafkaVersion

CountedSet = Callable[[LeaderView], Brokers]
Gate = Callable[[LeaderView, int, int], bool]


def leader_high_watermark(current: Offset, log_end_offset: Offset, counted_leos: Iterable[Offset]) -> Offset:
    """The smallest log end of the leader and its counted followers, never lower than it was in this leader's term.

    A follower that has not fetched yet counts with -1, which holds the high watermark where it is.
    """
    return max(current, min((log_end_offset, *counted_leos)))


def follower_high_watermark(leader_high_watermark: Offset, log_start_offset: Offset, log_end_offset: Offset) -> Offset:
    """What a follower holds after an append: the leader's answer brought into its own log; it may fall."""
    return _clamp(leader_high_watermark, log_start_offset, log_end_offset)


def high_watermark_at_start(checkpoint: Offset | None, log_start_offset: Offset, log_end_offset: Offset) -> Offset:
    """What a restarted broker begins with: its checkpoint brought into its log, or the log start where it has none."""
    return log_start_offset if checkpoint is None else _clamp(checkpoint, log_start_offset, log_end_offset)


def high_watermark_after_truncation(current: Offset, offset: Offset) -> Offset:
    """The high watermark after a cut, since 2.4."""
    return min(current, offset)


def high_watermark_after_truncation_before_2_4(current: Offset, _cut_to: Offset) -> Offset:
    """The same up to 2.3: the field was left alone, and could exceed the log end until the next answer."""
    return current


def counted_through_2_6(leader: LeaderView) -> Brokers:
    """0.10.2 to 2.6: the ISR, and whoever caught up recently."""
    return leader.committed_isr | _caught_up(leader, by_log_end=False)


def counted_2_7_to_3_2(leader: LeaderView) -> Brokers:
    """2.7 to 3.2: a change in flight counts too (KIP-497)."""
    return maximal_isr(leader.committed_isr, leader.proposed_isr) | _caught_up(leader, by_log_end=False)


def counted_3_3_to_3_5(leader: LeaderView) -> Brokers:
    """3.3 to 3.5: a follower at the leader's log end is caught up whenever that was."""
    return maximal_isr(leader.committed_isr, leader.proposed_isr) | _caught_up(leader, by_log_end=True)


def counted_since_3_6(leader: LeaderView) -> Brokers:
    """Since 3.6: outside the ISR only those count that could enter it (KAFKA-15021)."""
    awaited = _caught_up(leader, by_log_end=True) & leader.eligible
    return maximal_isr(leader.committed_isr, leader.proposed_isr) | awaited


def always_advances(_leader: LeaderView, _min_insync_replicas: int, _replication_factor: int) -> bool:
    """Up to 3.6 nothing but the counted logs holds a high watermark back."""
    return True


def advances_at_min_isr(leader: LeaderView, min_insync_replicas: int, replication_factor: int) -> bool:
    """Since 3.7 it rests while the committed ISR is below min.insync.replicas (KAFKA-15583): lawful, not stuck."""
    return len(leader.committed_isr) >= min(min_insync_replicas, replication_factor)


class HighWatermarkRule(Struct, frozen=True, kw_only=True):
    """How brokers of some versions advance a high watermark: whom they count, and what else they wait for."""

    versions: str
    counted: CountedSet
    may_advance: Gate


_RULES_NEWEST_FIRST: tuple[tuple[tuple[int, ...], HighWatermarkRule], ...] = (
    ((3, 7), HighWatermarkRule(versions="3.7+", counted=counted_since_3_6, may_advance=advances_at_min_isr)),
    ((3, 6), HighWatermarkRule(versions="3.6", counted=counted_since_3_6, may_advance=always_advances)),
    ((3, 3), HighWatermarkRule(versions="3.3-3.5", counted=counted_3_3_to_3_5, may_advance=always_advances)),
    ((2, 7), HighWatermarkRule(versions="2.7-3.2", counted=counted_2_7_to_3_2, may_advance=always_advances)),
    ((0, 10, 2), HighWatermarkRule(versions="0.10.2-2.6", counted=counted_through_2_6, may_advance=always_advances)),
)


def high_watermark_rule(version: KafkaVersion) -> HighWatermarkRule | None:
    """The rule of a broker of this version; None before 0.10.2, which is not described here.

    Below inter-broker protocol 2.7-IV2 no change is ever in flight: such a view has no `proposed_isr`.
    """
    return next((rule for since, rule in _RULES_NEWEST_FIRST if version.at_least(*since)), None)


def next_high_watermark(
    rule: HighWatermarkRule, leader: LeaderView, *, min_insync_replicas: int, replication_factor: int
) -> Offset:
    """The leader's high watermark after its next evaluation."""
    if not rule.may_advance(leader, min_insync_replicas, replication_factor):
        return leader.high_watermark
    counted = rule.counted(leader)
    counted_leos = (remote.log_end_offset for remote in leader.followers if remote.broker in counted)
    return leader_high_watermark(leader.high_watermark, leader.log_end_offset, counted_leos)


class WatermarkInterval(Struct, frozen=True, kw_only=True):
    """Every value from low to high, both possible; a side that no fact sets is None."""

    low: Offset | None
    high: Offset | None

    @property
    def width(self) -> int | None:
        """High minus low: 0 is certainty; None where a side is open."""
        return None if self.low is None or self.high is None else max(0, self.high - self.low)

    def contains(self, high_watermark: Offset) -> bool:
        """Whether a high watermark is possible."""
        above = self.low is None or self.low <= high_watermark
        return above and (self.high is None or high_watermark <= self.high)

    def covers(self, other: WatermarkInterval) -> bool:
        """Whether this interval is at least as wide as the other on both sides."""
        below = self.low is None or (other.low is not None and self.low <= other.low)
        return below and (self.high is None or (other.high is not None and other.high <= self.high))


class Bound(Struct, frozen=True, kw_only=True):
    """One fact about a high watermark: it is at least (low) or at most (high) this offset, and why."""

    side: Literal["low", "high"]
    offset: Offset
    because: str


class ExpectedHighWatermark(Struct, frozen=True, kw_only=True):
    """The tightest interval that the facts allow, with the fact that sets each side."""

    low: Bound | None
    high: Bound | None

    @property
    def interval(self) -> WatermarkInterval:
        """The offsets of both sides."""
        low, high = self.low, self.high
        return WatermarkInterval(low=None if low is None else low.offset, high=None if high is None else high.offset)

    @property
    def because(self) -> tuple[str, ...]:
        """The reasons of the low and the high side, in this order."""
        return tuple(bound.because for bound in (self.low, self.high) if bound is not None)


def expected_interval(bounds: Iterable[Bound]) -> ExpectedHighWatermark:
    """Combines facts: the highest low and the lowest high; of equals the first given names the side."""
    low: Bound | None = None
    high: Bound | None = None
    for bound in bounds:
        if bound.side == "low":
            low = bound if low is None or bound.offset > low.offset else low
        else:
            high = bound if high is None or bound.offset < high.offset else high
    return ExpectedHighWatermark(low=low, high=high)


def _caught_up(leader: LeaderView, *, by_log_end: bool) -> Brokers:
    def counts(remote: RemoteReplica) -> bool:
        if by_log_end and remote.log_end_offset == leader.log_end_offset:
            return True
        return is_caught_up(remote, time_ms=leader.time_ms, lag_time_max_ms=leader.lag_time_max_ms)

    return frozenset(remote.broker for remote in leader.followers if counts(remote))


def _clamp(offset: Offset, low: Offset, high: Offset) -> Offset:
    return max(low, min(offset, high))
