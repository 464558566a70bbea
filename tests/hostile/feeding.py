"""Inputs for readers: bred from real files and from inputs that reached new lines, fed and judged one by one."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final

from tests.hostile.findings import Fault, fault_of, keep, shrunk
from tests.hostile.laws import fed
from tests.hostile.limits import SECONDS_OF_INPUT, Hung, within
from tests.hostile.mutators import mutated
from tests.hostile.reached import Coverage
from tests.hostile.shared import Shared
from tests.hostile.targets import NARROWED, TARGETS, Target

ALL: Final[Sequence[Target]] = (*TARGETS, *NARROWED)
TRACED: Final = 24
"""One in so many inputs is fed with its lines watched, which costs ten times the time."""
KEPT: Final = 300
"""Inputs of a target that are bred from beside the real files."""


class Feeding:
    """A run over numbered inputs: the same numbers give the same inputs, as long as the readers are the same."""

    def __init__(self, seed: int, state: Path, work: Path, shared: Shared) -> None:
        self._seed, self._state, self._work, self._shared = seed, state, work, shared
        self._weights = list(accumulate(target.share for target in ALL))
        self._bred: dict[str, list[bytes]] = {target.name: self._remembered(target) for target in ALL}
        self._coverage = Coverage()

    def _remembered(self, target: Target) -> list[bytes]:
        folder = self._state / "bred" / target.name
        return [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []

    def warm(self) -> None:
        """Feed every reader once, so that what it loads is not counted as an input's memory."""
        for target in ALL:
            for content in (*target.seeds()[:3], *self._bred[target.name]):
                self._coverage.watched(lambda target=target, content=content: self._try(target, content))  # type: ignore[misc]

    def step(self, number: int) -> None:
        """Feed the input of a number."""
        random = Random(f"{self._seed}/{number}")
        place = random.choices(range(len(ALL)), cum_weights=self._weights)[0]
        target = ALL[place]
        content = self._input(random, target)
        self._shared.begin(place, number, content, time.monotonic())
        if random.randrange(TRACED):
            fault = self._try(target, content)
        else:
            faults: list[Fault | None] = []
            fresh = self._coverage.watched(lambda: faults.append(self._try(target, content)))
            fault = faults[0]
            self._shared.counts["traced"] += 1
            self._shared.counts["lines"] = self._coverage.lines
            if fresh and fault is None:
                self._breed(random, target, content)
        self._shared.counts["inputs"] += 1
        if fault is not None:
            self._tell(target, fault, content)

    def _input(self, random: Random, target: Target) -> bytes:
        seeds, bred = target.seeds(), self._bred[target.name]
        chosen = random.choice(bred) if bred and random.randrange(2) else random.choice(seeds)
        return mutated(random, chosen, target.grammar, seeds)

    def _try(self, target: Target, content: bytes) -> Fault | None:
        try:
            with within(SECONDS_OF_INPUT):
                fed(target, content, self._work)
        except Hung:
            return Fault(kind="hangs", subject=target.name, place=f"{SECONDS_OF_INPUT} s", words="took too long")
        except Exception as error:  # noqa: BLE001 - whatever it is, the reader must not raise it
            return fault_of(error, target.name)
        return None

    def _breed(self, random: Random, target: Target, content: bytes) -> None:
        bred = self._bred[target.name]
        folder = self._state / "bred" / target.name
        folder.mkdir(parents=True, exist_ok=True)
        if len(bred) >= KEPT:
            gone = bred.pop(random.randrange(len(bred)))
            (folder / hashlib.sha256(gone).hexdigest()[:16]).unlink(missing_ok=True)
        bred.append(content)
        (folder / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
        self._shared.counts["kept"] += 1

    def _tell(self, target: Target, fault: Fault, content: bytes) -> None:
        self._shared.counts[fault.kind] += 1
        folder = self._state / "found"
        if not (folder / fault.name).exists():

            def breaks(shorter: bytes) -> bool:
                again = self._try(target, shorter)
                return again is not None and again.name == fault.name

            smaller = content if fault.kind == "hangs" else shrunk(content, breaks)
            keep(folder, fault, smaller)
