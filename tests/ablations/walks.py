"""Random walks of the simulator as recordings of which parts are left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.models.lived import Account, Lived, written
from tests.models.perilous import Perilous
from tests.models.search import World, of_durable_producers, of_settings


class _Accounted(Perilous):
    """A perilous walk of which the model keeps account."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.plan = replace(self.plan, perils=(*self.plan.perils, of_settings, of_durable_producers))
        self.account = Account()

    def take(self, line: str) -> None:
        """One event more."""
        super().take(line)
        self.account.note(self.pair.model)


def walked(seed: int, recordings: Path) -> str:
    """The name of a new recording: what the brokers of a walk left."""
    walk = _Accounted(seed)
    assignment = walk.pair.model.quorum.replicas
    walk.walk()
    world = World(name=f"walk {seed}", min_isr=walk.plan.min_isr, others=int(walk.plan.moves))
    lived = Lived(walk.plan.version, world, walk.pair.lines, walk.pair.model, walk.account, assignment)
    name = f"walk-{seed}"
    (recordings / name / "dump").mkdir(parents=True)
    written(lived, recordings / name / "dump")
    return name
