"""The last stable offset: how far readers of committed transactions may read, given the high watermark.

It is the high watermark, or the first record of the oldest transaction that is undecided below it: one of which the
marker does not stand below the high watermark too. A log's batch headers tell that, so that it follows from the high
watermark wherever some replica still holds what the leader held.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from rules.facts.producing import Transactions
from rules.protocol.offsets import Offset
from rules.protocol.watermarks import Bound, ExpectedHighWatermark, expected_interval
from rules.replay import Course
from rules.replay.leading.bounds import at_least, at_most
from rules.replicas.markers import oldest_of_later, tells_transactions, undecided_spans
from rules.replicas.replica import Replica


class StableLog(Struct, frozen=True, kw_only=True, dict=True):
    """A log whose transactions are known, as far as it is the one that a leader had."""

    transactions: Transactions
    log_start_offset: int
    shared_until: int
    """From here on the leader may have had other records."""

    @cached_property
    def _spans(self) -> Sequence[tuple[int, int, bool]]:
        """Marker, first record, and whether that is surely the first: the log may begin within the transaction."""
        whole = self.log_start_offset == 0
        return sorted(
            (t.marker_offset, self.log_start_offset if t.start_offset is None else t.start_offset, whole or not t.head)
            for t in undecided_spans(self.transactions)
            if t.start_offset is not None or not whole
        )

    @cached_property
    def _markers(self) -> Sequence[int]:
        return [marker for marker, _, _ in self._spans]

    @cached_property
    def _oldest(self) -> Sequence[int]:
        """For each span, the oldest first record of it and of those that end later."""
        return oldest_of_later([start for _, start, _ in self._spans])

    @cached_property
    def _oldest_possible(self) -> Sequence[int]:
        return oldest_of_later([start if sure else 0 for _, start, sure in self._spans])

    def at(self, expected: ExpectedHighWatermark) -> ExpectedHighWatermark:
        """The last stable offset at a high watermark that is known as an interval."""
        bounds: list[Bound] = []
        if expected.low is not None:
            bounds.append(self._low(expected.low))
        if expected.high is not None:
            bounds.append(self._high(expected.high))
        return expected_interval(bounds)

    def _low(self, bound: Bound) -> Bound:
        reached = min(bound.offset, self.shared_until)
        place = bisect_left(self._markers, reached)
        forgotten = self.transactions.closed_count > len(self.transactions.closed)
        if forgotten and reached <= self.transactions.closed[0].marker_offset:
            return at_least(0, "older transactions are not kept")
        oldest = self._oldest_possible[place] if place < len(self._markers) else reached
        if oldest < reached:
            return at_least(oldest, f"a transaction from offset {oldest} on may be undecided at {reached}")
        other = f"beyond {reached} the leader may have had another log"
        return bound if reached == bound.offset else at_least(reached, other)

    def _high(self, bound: Bound) -> Bound:
        place = bisect_left(self._markers, bound.offset)
        known = bound.offset <= self.shared_until and place < len(self._markers)
        oldest = self._oldest[place] if known else bound.offset
        if oldest >= bound.offset:
            return bound
        return at_most(oldest, f"the transaction from offset {oldest} on is undecided at {bound.offset}")


class StableLogs:
    """For every leader's term the log that tells its transactions, where there is one."""

    def __init__(self, courses: Sequence[Course], replicas: Sequence[Replica]) -> None:
        self._logs = {course.lead.epochs: _stable_log(course, replicas) for course in courses}

    def at(self, course: Course, expected: ExpectedHighWatermark) -> ExpectedHighWatermark:
        """The last stable offset of a leader at a high watermark; at most, where no disk tells its transactions."""
        log = self._logs.get(course.lead.epochs)
        if log is None:
            return expected_interval((expected.high,) if expected.high else ())
        return log.at(expected)


def _stable_log(course: Course, replicas: Sequence[Replica]) -> StableLog | None:
    """What some disk tells of the transactions of a leader's log; of several, the one that shares most with it."""
    found = [log for replica in replicas if (log := _testimony(course, replica)) is not None]
    return max(found, key=lambda log: (log.shared_until, -log.log_start_offset), default=None)


def _testimony(course: Course, replica: Replica) -> StableLog | None:
    if not tells_transactions(replica):
        return None
    return StableLog(
        transactions=replica.log.transactions,
        log_start_offset=replica.log_start_offset,
        shared_until=_shared_until(course, replica),
    )


def _shared_until(course: Course, replica: Replica) -> Offset:
    """Up to where a log has what a leader had: to the end of its own part of those epochs, or to where they began."""
    chain, epochs = replica.log_chain, course.lead.epochs
    ends = {entry.epoch: following.start_offset for entry, following in pairwise(chain)}
    if chain:
        ends[chain[-1].epoch] = Offset(replica.log_end_offset)
    own = [ends[epoch] for epoch in ends if epoch in epochs]
    if own:
        return max(own)
    before = [end for epoch, end in ends.items() if epoch < epochs[0]]
    return Offset(min(course.lead.start_offset or 0, max(before, default=Offset(0))))
