"""How long a computation may go on: a loop is bounded by its input, and all that is done for a partition by a budget.

What exceeds its bound has not judged anything: whoever asked for it is left undecided, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TooManySteps(Exception):
    """A loop went on for longer than its input can ask for, or a partition for longer than all its rules may."""


class Budget:
    """The steps that all loops together may take for one partition."""

    __slots__ = ("_left", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._left = most

    def spend(self, work: str, steps: int = 1) -> None:
        """Count steps; refuses those beyond what there is."""
        self._left -= steps
        if self._left < 0:
            message = f"{work} went beyond the {self.most} steps that the partition's evidence allows"
            raise TooManySteps(message)


class StepLimit:
    """The most steps that one loop can take by its input. They are counted against the partition's budget too."""

    __slots__ = ("_budget", "_left", "most", "work")

    def __init__(self, most: int, work: str) -> None:
        self.most = most
        self.work = work
        self._left = most
        self._budget = _budget.get()

    def step(self) -> None:
        """Said at the beginning of every turn of the loop."""
        self._left -= 1
        if self._left < 0:
            message = f"{self.work} did not end within the {self.most} steps that its input allows"
            raise TooManySteps(message)
        if self._budget is not None:
            self._budget.spend(self.work)


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budgeted(budget: Budget) -> Iterator[None]:
    """Within, every bound counts against this budget."""
    before = _budget.set(budget)
    try:
        yield
    finally:
        _budget.reset(before)
