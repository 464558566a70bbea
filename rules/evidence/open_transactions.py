"""Transactions that a leader's log leaves open, and whether their coordinator is still to end them.

A coordinator writes down a partition before its producer may write to it, and forgets it when all markers are written.
So of a transaction that is open in the log and not with its coordinator, no marker will ever come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import Span
from rules.evidence import PartitionEvidence, Replica
from rules.facts.producing import Begun, OpenTransactions
from rules.protocol.topics import TRANSACTIONS_TOPIC
from rules.replicas.coordinators import DECIDED, Coordinated, CoordinatorLog
from rules.thresholds import WEEK_MS, Threshold
from rules.words import numbered

Standing = Literal["young", "overdue", "undelivered", "hanging", "open"]
"""Within its time-out; beyond it by its coordinator's own record; decided, and its marker never written; open though
its coordinator has none of it; open for all that is known."""
UNTIMED: Final = "no broker's time tells how long it has been open"
MAXIMUM: Final = "transaction.max.timeout.ms"
DEFAULT_MAXIMUM_MS: Final = 900_000
SLACK: Final = Threshold(
    name="slack",
    unit="ms",
    default=300_000,
    most=WEEK_MS,
    means="How long a transaction may stay open beyond its time-out, or without its marker once it is decided.",
)
"""Coordinators look for what is overdue every ten seconds, and moves of coordinators and retries take their time."""


class OpenTransaction(Struct, frozen=True, kw_only=True):
    """A transaction without a marker in the log of the partition's leader."""

    broker: int
    producer_id: int
    begun: Begun
    standing: Standing
    coordinated: Coordinated | None = None
    """The last state of its transactional id, where a coordinator's log tells it."""
    age_ms: int | None = None
    """How long it had been open at least when the log ends."""
    timeout_ms: int = DEFAULT_MAXIMUM_MS
    unknown: str = ""
    """Of one that is open for all that is known: what is not known."""
    overlong: bool = False
    """Of such a one: whether it was open for longer than it may be, by any time on the disk of its broker."""
    clock: Span | None = None
    """The batch by whose broker's time that is known."""

    @property
    def held_up(self) -> bool:
        """Whether it ought to have ended."""
        return self.standing in ("overdue", "undelivered", "hanging")


def open_transactions(evidence: PartitionEvidence, slack: int) -> tuple[OpenTransaction, ...]:
    """The open transactions of the log that leads, by their first offsets; each has so long beyond its time-out."""
    leader = evidence.leader_at_the_end
    if leader is None or leader.log.transactions.untold:
        return ()
    unended = [each for each in leader.log.transactions.open if each.begun is not None]
    if not unended:
        return ()
    found = _Coordinators(evidence, leader, slack)
    return tuple(sorted(map(found.judged, unended), key=lambda each: (each.begun.offset, each.producer_id)))


def why_untold(evidence: PartitionEvidence, found: Sequence[OpenTransaction]) -> tuple[str, str] | None:
    """Why nobody can say that readers of committed records wait, and what would tell; null where nothing is open."""
    leader = evidence.leader_at_the_end
    if leader is None:
        transactions = ((replica.broker, replica.log.transactions) for replica in evidence.current)
        brokers = [broker for broker, own in transactions if own.untold or any(each.begun for each in own.open)]
        reason = f"who led last is not known, and transactions are open in the logs of {numbered('broker', brokers)}"
        return (reason, "who led last") if brokers else None
    if leader.log.transactions.untold:
        return f"too many producers wrote transactions into broker {leader.broker}'s log", "a copy with fewer segments"
    watermark, first = leader.high_watermark, next(iter(found), None)
    waits = first is not None and (watermark is None or first.begun.offset + 1 < watermark.offset)
    if first is None or first.standing == "young" or not waits:
        return None
    if first.standing == "open":
        lawful = f"the transaction open from offset {first.begun.offset} on may be lawful"
        return lawful, "what the question of TXN001 on it asks for"
    missing = "its replication-offset-checkpoint"
    return None if watermark else (f"no high watermark of broker {leader.broker} is here", missing)


def _between(since: int | None, until: int | None) -> int | None:
    """The time between two moments; null where one of them is not told, or the later one is the earlier."""
    return None if since is None or until is None or until < since else until - since


class _Coordinators:
    """What tells the time, and what coordinators know; lives only inside `open_transactions`."""

    def __init__(self, evidence: PartitionEvidence, leader: Replica, slack: int) -> None:
        self._evidence, self._leader = evidence, leader
        self._place = f"{evidence.topic}-{evidence.partition}"
        self._reached_here = evidence.coordinators.reached_by(leader.broker)
        self._final = leader.clean_shutdown is not None or evidence.copied in ("stopped", "crashed")
        self._now = max(self._times(), default=None)
        self._slack = slack

    def _times(self) -> Iterator[int]:
        """Brokers' times at which the log still ended as it does."""
        clock = self._leader.log.last_clock
        if clock is not None:
            yield clock.time
        if self._reached_here is not None and self._final and self._leads_surely():
            yield self._reached_here

    def _leads_surely(self) -> bool:
        """Whether no replica that is not here can have led on."""
        assigned = self._evidence.assignment
        here = {replica.broker for replica in self._evidence.current}
        return bool(assigned) and here.issuperset(assigned)

    def judged(self, own: OpenTransactions) -> OpenTransaction:
        """One of them, as far as it is known."""
        begun = own.begun
        if begun is None:
            message = f"producer {own.producer_id} has nothing open"
            raise ValueError(message)
        found = self._evidence.coordinators.of(own.producer_id)
        if found is not None and found[1].producer_epoch >= begun.producer_epoch and self._place in found[1].partitions:
            surely = found[0].latest if found[0].whole else None
            return self._with_its_coordinator(own.producer_id, begun, found[1], surely)
        return self._without(own.producer_id, begun, found)

    def _with_its_coordinator(
        self, producer: int, begun: Begun, state: Coordinated, surely: int | None
    ) -> OpenTransaction:
        """One that its coordinator has: it counts from when that says, and was so when that log ended."""
        decided = state.state in DECIDED
        since = state.update_time if decided else state.start_time
        allowed = (0 if decided else state.timeout_ms) + self._slack
        age = _between(since, max((time for time in (self._now, surely) if time is not None), default=None))
        if age is not None and age > allowed:
            return self._transaction(producer, begun, "undelivered" if decided else "overdue", state, age)
        return self._young_or_open(producer, begun, state, age, since=since, allowed=allowed)

    def _without(
        self, producer: int, begun: Begun, found: tuple[CoordinatorLog, Coordinated] | None
    ) -> OpenTransaction:
        """One that its coordinator has not, or of which nobody knows who that is."""
        state = None if found is None else found[1]
        since = self._since(begun)
        age = _between(since, self._now)
        allowed = self._timeout(state) + self._slack
        unknown = self._unknown(begun, since, age, found)
        if age is None or age <= allowed:
            return self._young_or_open(producer, begun, state, age, since=since, allowed=allowed, unknown=unknown)
        if not unknown:
            return self._transaction(producer, begun, "hanging", state, age)
        return replace(self._transaction(producer, begun, "open", state, age), unknown=unknown, overlong=True)

    def _young_or_open(
        self,
        producer: int,
        begun: Begun,
        state: Coordinated | None,
        age: int | None,
        *,
        since: int | None,
        allowed: int,
        unknown: str = "",
    ) -> OpenTransaction:
        """One that nothing proves to be late: young where a time behind its beginning is told, and none is too late.

        Producers' clocks may be wrong, and another log a later copy. What this broker's disk tells counts for more: all
        of its logs were copied alike.
        """
        own = begun.time.time
        first = own if since is None else since
        on_disk = _between(own, self._leader.log.max_timestamp), _between(first, self._reached_here)
        overlong = any(each is not None and each > allowed for each in on_disk)
        elsewhere = (_between(first, each.time) for log in self._evidence.coordinators.logs for each in log.reached)
        later = overlong or any(each is not None and each > allowed for each in elsewhere)
        if age is not None and not later:
            return self._transaction(producer, begun, "young", state, age)
        transaction = self._transaction(producer, begun, "open", state, age)
        return replace(transaction, unknown=unknown or UNTIMED, overlong=overlong)

    def _since(self, begun: Begun) -> int | None:
        """When it surely had begun, by a broker's clock; of a log that has ended its producer's clock will do.

        Whatever it says, no marker comes any more there.
        """
        by_broker = None if begun.clock is None else begun.clock.time
        own = begun.time.time
        if not self._final or own is None:
            return by_broker
        return own if by_broker is None else min(own, by_broker)

    def _unknown(
        self, begun: Begun, since: int | None, age: int | None, found: tuple[CoordinatorLog, Coordinated] | None
    ) -> str:
        """Why it cannot be said that no marker will come; empty where it can."""
        coordinators = self._evidence.coordinators
        if not coordinators.logs:
            return "no copy of __transaction_state is here that could tell whether it is ongoing"
        count = self._evidence.placing.counts.last(TRANSACTIONS_TOPIC)
        if found is None and not coordinators.tell_all(None if count is None else count.count):
            return "the partitions of __transaction_state that are here do not name its producer"
        if found is not None and (not found[0].whole or found[1].producer_epoch < begun.producer_epoch):
            return "its coordinator's log is not known up to the transaction's beginning"
        if since is None or age is None:
            return UNTIMED
        reach = coordinators.latest if found is None else self._reach(found[0])
        if reach is None or reach < since:
            return "its coordinator's log ends before the transaction began"
        return ""

    def _reach(self, log: CoordinatorLog) -> int | None:
        """How late a coordinator's log surely tells: its broker copied all partitions alike."""
        times = (log.latest, self._evidence.coordinators.reached_by(log.broker))
        return max((time for time in times if time is not None), default=None)

    def _timeout(self, state: Coordinated | None) -> int:
        if state is not None:
            return state.timeout_ms
        values = (s.value for s in self._evidence.settings.statements if s.name == MAXIMUM and s.value is not None)
        return max((int(value) for value in values if value.isdecimal()), default=DEFAULT_MAXIMUM_MS)

    def _transaction(
        self,
        producer: int,
        begun: Begun,
        standing: Standing,
        state: Coordinated | None,
        age: int | None,
    ) -> OpenTransaction:
        clock = self._leader.log.last_clock
        return OpenTransaction(
            broker=self._leader.broker,
            producer_id=producer,
            begun=begun,
            standing=standing,
            coordinated=state,
            age_ms=age,
            timeout_ms=self._timeout(state),
            clock=None if clock is None else clock.span,
        )
