"""Walks on which more goes wrong at once: up to five replicas, lost disks, unclean elections, deleted records.

A leader drops a follower as Kafka's do: for its lag alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from tests.models.busy import Busy, Timed
from tests.models.oracle import VERSIONS, Version
from tests.models.search import (
    Chooser,
    Pair,
    choice,
    of_durable_producers,
    of_log_starts,
    of_lost_pages,
    of_several_deaths,
    of_unclean_elections,
)
from tests.models.witnessed import BUSY, MOVING, Witnessed, asks_to_join, note_step, take, truth_of

PERILS: Final[tuple[Chooser, ...]] = (
    of_durable_producers, of_log_starts, of_several_deaths, of_lost_pages, of_unclean_elections,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a seed stands for."""

    version: Version
    busy: bool
    moves: bool
    replicas: int
    min_isr: int
    length: int
    pace: int
    perils: tuple[Chooser, ...]
    lawful: bool
    """Whether leaders drop nobody who does not lag."""


def plan(seed: int) -> Plan:
    """The same for a seed every time."""
    rng = random.Random(seed * 7 + 1)  # noqa: S311 - the same walks every time
    version, busy, moves = rng.choice(VERSIONS), rng.random() < 0.3, rng.random() < 0.15
    replicas, min_isr = rng.choice((2, 2, 3, 3, 4, 5)), rng.choice((1, 1, 2))
    length = rng.choice((30, 60, 120)) * (2 if busy else 1)
    pace = 0 if busy else rng.choice((0, 1, 1, 7))
    perils = tuple(peril for peril in PERILS if rng.random() < 0.35)
    return Plan(
        version=version, busy=busy, moves=moves, replicas=replicas, min_isr=min_isr, length=length, pace=pace,
        perils=perils, lawful=rng.random() < 0.85,
    )  # fmt: skip


class Perilous:
    """A walk while it goes on."""

    def __init__(self, seed: int) -> None:
        self.seed, self.plan = seed, plan(seed)
        made = self.plan
        self.pair = Pair.created(made.version, made.replicas, made.min_isr, others=int(made.moves))
        brokers = self.pair.cluster.brokers
        generations = {broker.id: broker.generation for broker in brokers}
        others = [broker.id for broker in brokers if not broker.holds]
        recorder = Busy(generations, seed, others) if made.busy else Timed(generations, others)
        self.found = Witnessed(made.version, self.pair.lines, recorder)
        self.caught_up: dict[tuple[int, int, int], int] = {}
        """When each leader knew of each follower last, in each epoch, that it lacked nothing."""

    def walk(self) -> Witnessed:
        """From its beginning to its end."""
        rng, made = random.Random(self.seed), self.plan  # noqa: S311 - the same walks every time
        more = (*(BUSY if made.busy else ()), *(MOVING if made.moves else ()), *made.perils)
        note_step(self.found, self.pair)
        for _ in range(made.length):
            line = choice(self.pair.model, rng, processes=self.seed % 3 != 0, more=more)
            if line.startswith("wait"):
                for broker in self.pair.model.replicas:
                    self.take(f"answer {broker}")
            verb, _, rest = line.partition(" ")
            if verb in ("ask", "fetch", "reconcile") and self.pair.model.replicas[int(rest)].awaits is not None:
                line = f"answer {rest}"
            if self.is_lawful(line) and (verb != "expand" or asks_to_join(self.found, self.pair, line)):
                self.take(line)
            self.take(f"wait {made.pace}s")
        recorder = self.found.recorder
        if isinstance(recorder, Busy):
            recorder.send_all()
            self.found.truths += [truth_of(self.pair.model)] * (recorder.written - len(self.found.truths))
        return self.found

    def take(self, line: str) -> None:
        """One action, and who is caught up after it."""
        take(self.found, self.pair, line)
        for leader, replica in self.pair.model.replicas.items():
            if not (replica.alive and replica.presumes and replica.state):
                continue
            for follower, known in replica.followers.items():
                key = (leader, replica.state.leader_epoch, follower)
                if key not in self.caught_up or known.end >= replica.end:
                    self.caught_up[key] = self.found.recorder.now

    def is_lawful(self, line: str) -> bool:
        """Whether it drops nobody, or one who lags."""
        if not self.plan.lawful or not line.startswith("shrink"):
            return True
        follower, leader = int(line.split()[1]), int(line.rpartition("=")[2])
        replica = self.pair.model.replicas[leader]
        known = replica.followers.get(follower)
        if replica.state is None or known is None or known.end == replica.end:
            return False
        now = self.found.recorder.now
        since = self.caught_up.get((leader, replica.state.leader_epoch, follower), now)
        return now - since > (30 if self.plan.version.since(2, 5) else 10) * 1_000_000
