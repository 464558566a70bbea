"""What the coordinators of transactions hold, as the partitions of `__transaction_state` tell when they end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal

from msgspec import Struct

from parsers.provenance import Span

State = Literal[
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"
]
DECIDED: Final[Mapping[State, str]] = {"PrepareCommit": "commit", "PrepareAbort": "abort", "PrepareEpochFence": "abort"}
"""States in which markers are on their way, and what those say."""


class Coordinated(Struct, frozen=True, kw_only=True):
    """The last state of one transactional id."""

    transactional_id: str
    state: State
    producer_ids: tuple[int, ...]
    """Its producer id, with the one before and the one to come where these are told."""
    producer_epoch: int
    timeout_ms: int
    partitions: tuple[str, ...] = ()
    """Those that the transaction has written to, as topic-partition."""
    start_time: int | None = None
    update_time: int | None = None
    """Milliseconds on the coordinator's clock."""
    span: Span


class Reached(Struct, frozen=True, kw_only=True):
    """How late a broker's copy of such a log reaches: the latest time in it, which its leader wrote."""

    broker: int
    time: int


class CoordinatorLog(Struct, frozen=True, kw_only=True):
    """One partition of `__transaction_state`, by the copy that the others would follow."""

    partition: int
    broker: int
    """Whose copy that is."""
    whole: bool
    """Whether all of it could be read and kept."""
    states: tuple[Coordinated, ...] = ()
    reached: tuple[Reached, ...] = ()
    """Of every copy that is here."""

    @property
    def latest(self) -> int | None:
        """How late the copy reaches that was read."""
        return next((each.time for each in self.reached if each.broker == self.broker), None)


class Coordinators(Struct, frozen=True, kw_only=True, dict=True):
    """All partitions of `__transaction_state` that are here."""

    logs: tuple[CoordinatorLog, ...] = ()

    @cached_property
    def _by_producer(self) -> Mapping[int, tuple[CoordinatorLog, Coordinated]]:
        states = ((producer, log, each) for log in self.logs for each in log.states for producer in each.producer_ids)
        found: dict[int, tuple[CoordinatorLog, Coordinated]] = {}
        for producer, log, each in states:
            held = found.get(producer)
            if held is None or (held[1].update_time or 0) <= (each.update_time or 0):
                found[producer] = log, each
        return found

    def of(self, producer_id: int) -> tuple[CoordinatorLog, Coordinated] | None:
        """The state that a producer's transactional id is in, and the log that tells it."""
        return self._by_producer.get(producer_id)

    def tell_all(self, partitions: int | None) -> bool:
        """Whether the topic is here whole, so that a producer of which it says nothing has no transaction."""
        here = {log.partition for log in self.logs if log.whole}
        return partitions is not None and here >= set(range(partitions))

    @cached_property
    def latest(self) -> int | None:
        """The earliest of the times up to which the logs reach; null where one of them is empty."""
        times = [log.latest for log in self.logs]
        return min((time for time in times if time is not None), default=None) if None not in times else None

    def reached_by(self, broker: int) -> int | None:
        """How late any of a broker's own copies reaches."""
        own = (each.time for log in self.logs for each in log.reached if each.broker == broker)
        return max(own, default=None)


NO_COORDINATORS: Final = Coordinators()
