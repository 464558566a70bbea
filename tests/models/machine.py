"""The protocol as Hypothesis state machines: every action is one on the model and on the simulator at once.

After every action both must hold the same state, and the published invariants hold that hold of the version in its
world. `Protocol` has a rule an action; `Stretches` has one rule that draws dozens of actions at once, in any world.
"""

from __future__ import annotations

import random
from typing import ClassVar, Final

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.models.oracle import Version
from tests.models.search import WORLDS, Pair, World, choice, shrunk

BROKER = st.integers(0, 2)
SOME = st.integers(0, 7)
STRETCH: Final = 300
"""Bytes; an action takes five or six of them."""


class Broken(AssertionError):
    """An invariant that was looked for is broken."""


class Held(RuleBasedStateMachine):
    """A partition of some version; subclasses say of which, and what may happen to it."""

    version: ClassVar[Version]
    world: ClassVar[World] = WORLDS[1]
    replicas: ClassVar[int] = 3
    wanted: ClassVar[str | None] = None
    """An invariant that is to be broken; where none is, those that hold of the version must."""
    steps: ClassVar[int] = 0
    broken_by: ClassVar[list[str]] = []
    """The script of the last run that broke it."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair.created(self.version, self.replicas, self.world.min_isr, self.world.others)

    def act(self, line: str) -> None:
        """One action on both, and what must hold after it."""
        cls = type(self)
        cls.steps += 1
        broken = self.pair.act(line)
        if self.wanted is not None:
            if self.wanted in broken:
                cls.broken_by = list(self.pair.lines)
                raise Broken(f"{self.wanted} after {self.pair.lines}")
            return
        owed = self.world.must_hold(self.version, forgot_epochs=self.pair.model.forgot_epochs)
        assert not broken & owed, (broken & owed, self.pair.lines)


class Drawn(random.Random):
    """Chance that Hypothesis holds in its hands: every choice is made of bytes that it drew, and can make simpler."""

    def __init__(self, drawn: bytes) -> None:
        super().__init__(0)
        self.left = list(drawn)

    def random(self) -> float:
        """Two bytes."""
        return self.getrandbits(16) / (1 << 16)

    def getrandbits(self, k: int, /) -> int:
        """So many bits; nothing but zeros once the bytes are used up."""
        value = 0
        for _ in range(-(-k // 8)):
            value = value << 8 | (self.left.pop() if self.left else 0)
        return value & ((1 << k) - 1)


class Stretches(Held):
    """Dozens of actions at a time, of all that may happen in the machine's world."""

    @rule(drawn=st.binary(min_size=STRETCH, max_size=STRETCH))
    def time_goes_on(self, drawn: bytes) -> None:
        """A walk over actions that may do something, each chosen by the next bytes."""
        rng = Drawn(drawn)
        while rng.left:
            self.act(choice(self.pair.model, rng, processes=self.world.processes, more=self.world.more))


class Protocol(Held):
    """A rule an action, of those that the oldest published models have."""

    def one(self, broker: int) -> int:
        """A broker's id."""
        return broker % self.replicas + 1

    def leaders(self) -> list[int]:
        """Whoever believes to lead."""
        return [b for b, replica in self.pair.model.replicas.items() if replica.alive and replica.presumes]

    @rule(broker=BROKER, how=st.sampled_from(("fetch", "fetch", "fetch", "ask", "answer", "reconcile")))
    def fetches(self, broker: int, how: str) -> None:
        """A follower asks, or is answered."""
        self.act(f"{how} {self.one(broker)}")

    @rule(pick=SOME)
    def produces(self, pick: int) -> None:
        """A record reaches somebody who believes to lead."""
        leaders = self.leaders() or [1]
        self.act(f"produce {leaders[pick % len(leaders)]}")

    @rule(broker=BROKER, pick=SOME)
    def hears(self, broker: int, pick: int) -> None:
        """A broker hears of a decision that it did not know."""
        replica = self.pair.model.replicas[self.one(broker)]
        known = replica.state.leader_epoch if replica.state else replica.started_in - 1
        news = [request.leader_epoch for request in self.pair.model.requests if request.leader_epoch > known]
        if news:
            self.act(f"tell {self.one(broker)} epoch={news[-1 - pick % len(news)]}")

    @rule(pick=SOME)
    def is_elected(self, pick: int) -> None:
        """A living member of the ISR leads a new epoch; nobody has heard of it yet."""
        able = [b for b in sorted(self.pair.model.quorum.isr) if self.pair.model.replicas[b].alive]
        if able:
            self.act(f"elect {able[pick % len(able)]} told=none")

    @precondition(lambda self: self.leaders())
    @rule(broker=BROKER, pick=SOME, how=st.sampled_from(("shrink", "expand", "commit")), proposed=st.booleans())
    def changes_the_isr(self, broker: int, pick: int, how: str, proposed: bool) -> None:
        """Somebody who believes to lead changes its ISR."""
        leaders = self.leaders()
        leader = leaders[pick % len(leaders)]
        only = " proposed" if proposed and self.version.controller_owns_isr else ""
        self.act(f"commit by={leader}" if how == "commit" else f"{how} {self.one(broker)}{only} by={leader}")

    @rule(seconds=st.sampled_from((5, 12, 40)))
    def time_passes(self, seconds: int) -> None:
        """Less than any limit of lag, or more."""
        self.act(f"wait {seconds}s")


class Processes(Protocol):
    """The same, with processes that die and come back, which the published models leave out."""

    @rule(broker=BROKER)
    def writes_its_high_watermark(self, broker: int) -> None:
        """To disk."""
        self.act(f"checkpoint {self.one(broker)}")

    @rule(broker=BROKER)
    def dies(self, broker: int) -> None:
        """One broker at a time."""
        if all(replica.alive for replica in self.pair.model.replicas.values()):
            self.act(f"crash {self.one(broker)}")

    @rule(noticed=st.booleans())
    def comes_back(self, noticed: bool) -> None:
        """The dead broker starts, or the controller notices that it is gone."""
        dead = [b for b, replica in self.pair.model.replicas.items() if not replica.alive]
        if dead:
            self.act(f"fence {dead[0]} told=none" if noticed else f"restart {dead[0]} untold")


def play(version: Version, *, examples: int, steps: int) -> int:
    """Runs the machine with a rule an action; how many actions it took."""
    machine = type("Machine", (Processes,), {"version": version, "steps": 0})
    run_state_machine_as_test(machine, settings=_settings(examples, steps))
    return int(machine.steps)


def live_on(version: Version, world: World, *, examples: int, stretches: int, after: int, replicas: int = 3) -> int:
    """Runs the machine of long walks, on other ones every time; how many actions it took.

    In CI the walks are the same in every run, and others `after` other actions.
    """
    given = {"version": version, "world": world, "replicas": replicas, "steps": 0}
    machine = type("Machine", (Stretches,), given)
    if settings().derandomize:
        seed(after)(machine)
    run_state_machine_as_test(machine, settings=_settings(examples, stretches, fresh=True))
    return int(machine.steps)


def find(version: Version, replicas: int, invariant: str, *, examples: int, steps: int = 60) -> list[str]:
    """A script that breaks an invariant, made short; empty where none was found.

    Hypothesis draws it. `shrunk` leaves lines out, which takes a tenth of the time that Hypothesis takes to draw less.
    """
    machine = type("Search", (Protocol,), {"version": version, "replicas": replicas, "wanted": invariant})
    try:
        run_state_machine_as_test(machine, settings=settings(_settings(examples, steps), phases=(Phase.generate,)))
    except Broken:
        return shrunk(version, replicas, machine.broken_by, invariant)
    return []


def _settings(examples: int, steps: int, *, fresh: bool = False) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=not fresh,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
