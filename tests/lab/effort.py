"""How much is tried where only the fast tests run, and how much in the whole suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

WHOLE: Final = 100
"""The cases of a law that asks for no number of its own, where nothing is left out; Hypothesis' own choice."""
FEWEST: Final = 5

Case = TypeVar("Case")
Way = TypeVar("Way")


def cases(number: int) -> int:
    """As many as a law asks for in the whole suite; in the same proportion fewer where only the fast tests run."""
    return max(FEWEST, number * settings().max_examples // WHOLE)


def fast_if(chosen: Callable[[Case], bool], among: Iterable[Case]) -> list[ParameterSet]:
    """Every case for `parametrize`; one that is not chosen repeats what another shows and waits for the whole suite."""
    return [pytest.param(case, marks=() if chosen(case) else pytest.mark.slow) for case in among]


def spread(cases: Sequence[Case], ways: Iterable[Way], share: int) -> list[tuple[Case, Way]]:
    """Each case in one of so many ways, in turn: every way meets as many cases, and no case meets all ways."""
    return [
        (case, way) for turn, case in enumerate(cases) for place, way in enumerate(ways) if (place - turn) % share == 0
    ]
