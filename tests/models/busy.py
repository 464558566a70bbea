"""Brokers that are busy: several statements a millisecond, requests that queue, answers whose lines are late.

Several threads handle requests and another one writes a line when an answer is sent, so that lines of fetches stand in
another order than that in which the fetches were handled. What a line tells of its times is true.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from auditor.simulation.journal_rows import FIRST_TIMESTAMP, LINES_A_STATEMENT, Recorder
from auditor.simulation.printed_requests import RequestRow
from auditor.simulation.writing_place import Handling, StatementStamp
from parsers.tables.requests import Fetch, Produce
from rules.protocol.offsets import BrokerId
from rules.simulator import notes
from rules.simulator.generation import Generation
from rules.simulator.notes import Note
from rules.simulator.state import Cluster, InFlight
from tests.replaced import replace

QUEUED: Final = (0, 0, 0, 150, 600, 2_500)
"""Microseconds that a request lies in the queue."""
SENT_AFTER: Final = (0, 0, 900, 2_500, 6_000)
"""Microseconds from the reading of an answer until it is sent."""


@dataclass
class _Held:
    """An answer that is not sent yet: its line, when the request came, when it is to go, and where it was handled."""

    row: RequestRow
    arrived: int
    due: int
    handled: int


class Timed(Recorder):
    """Writes down a run, and remembers when each statement was made."""

    def __init__(self, generations: Mapping[BrokerId, Generation], others: Collection[BrokerId] = ()) -> None:
        """Nothing is written yet."""
        super().__init__(generations, others)
        self.times: list[int] = []
        """In milliseconds, one a statement."""

    def tick(self) -> None:
        """Another statement."""
        super().tick()
        self.times.append(self.now // 1000)


class Busy(Timed):
    """Writes down a run as busy brokers do."""

    spacing: ClassVar[int] = 250

    def __init__(
        self, generations: Mapping[BrokerId, Generation], seed: int, others: Collection[BrokerId] = ()
    ) -> None:
        """The same walk is as busy every time."""
        super().__init__(generations, others)
        self.rng = random.Random(seed)  # noqa: S311 - the same walks every time
        self.held: list[_Held] = []
        self.in_flight: dict[int, InFlight | None] = {}
        self.free = dict.fromkeys(generations, FIRST_TIMESTAMP * 1000)
        """Since when a broker has had the answer to its last fetch, or has followed a new leader."""
        self.arrived: dict[tuple[int, int], int] = {}
        self.handled: dict[tuple[str, int], int] = {}
        """Of late lines, by file and place: the statement after which the request had been handled."""

    def record(self, cluster: Cluster) -> None:
        """A follower that has its answer can ask again: the line of that answer was written before."""
        for broker in cluster.brokers:
            if self.in_flight.get(broker.id) not in (None, broker.in_flight):
                self.send(held for held in self.held if asker_of(held.row) == broker.id)
                self.free[broker.id] = self.now
            self.in_flight[broker.id] = broker.in_flight
        super().record(cluster)

    def take_in(self, said: notes.TookFetch) -> None:
        """It may have come some time before."""
        super().take_in(said)
        self.arrived[said.leader, said.follower] = self.arrival(said.follower, self.now)

    def arrival(self, follower: int, handled: int) -> int:
        """When a request came that is handled now."""
        return min(handled, max(self.free[BrokerId(follower)], handled - self.rng.choice(QUEUED)))

    def handling(self, said: Note) -> Handling:
        """With the time in the queue."""
        quick = super().handling(said)
        if not isinstance(said, notes.AnsweredFetch):
            return quick
        came = self.now - quick.total
        pair = (said.leader, said.follower)
        arrived = self.arrived[pair] if said.waited else self.arrival(said.follower, came)
        return replace(quick, total=quick.total + came - arrived, queue=quick.queue + came - arrived)

    def write(self, said: Note) -> None:
        """Whoever takes a role, or cuts its log, asks nobody before that is done."""
        super().write(said)
        if isinstance(said, notes.TookRole | notes.Reconciled | notes.Loaded):
            self.free[said.broker] = self.now

    def keep(self, row: RequestRow) -> None:
        """An answer that nobody has acted on may be on its way for a while."""
        wait = self.rng.choice(SENT_AFTER) if isinstance(row, Fetch | Produce) else 0
        if isinstance(row, Fetch) and self.in_flight.get(row.replica or 0) is None:
            wait = 0
        if wait == 0:
            super().keep(row)
            if isinstance(row, Fetch):
                self.free[BrokerId(row.replica or 0)] = self.now
            return
        arrived = self.now - (row.total_time_us or 0)
        self.held.append(_Held(row, arrived, self.now + wait, self.written))

    def send_what_is_due(self, before: Note) -> None:
        """Answers whose time has come, those of brokers that stop, and of followers that ask anew."""
        asker = before.follower if isinstance(before, notes.AnsweredFetch) else None
        stops = before.broker if isinstance(before, notes.Ended) else None
        self.send(
            held
            for held in self.held
            if held.due <= self.now or held.row.broker == stops or (asker is not None and asker_of(held.row) == asker)
        )

    def send_all(self) -> None:
        """The run is over."""
        self.send(self.held)

    def send(self, answers: Iterable[_Held]) -> None:
        """Answers go out, each with its line, in the order in which they are due."""
        for held in sorted(answers, key=lambda one: one.due):
            self.held.remove(held)
            self.tick()
            place = StatementStamp(
                node=held.row.broker or 0, number=LINES_A_STATEMENT * self.written, ms=self.now // 1000
            )
            total, start = self.now - held.arrived, place.number
            late = replace(
                held.row, time_text=place.time_text, total_time_us=total, span_start=start, span_end=start + 1
            )
            self.handled[late.source, start] = held.handled
            super().keep(late)


def asker_of(row: RequestRow) -> int | None:
    """The follower whose fetch a line tells."""
    return row.replica if isinstance(row, Fetch) else None
