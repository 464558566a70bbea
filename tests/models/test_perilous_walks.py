"""The replay's intervals hold the truth on walks on which more goes wrong at once, whatever of the evidence is lost."""

from __future__ import annotations

import pytest

from tests.lab.effort import cases
from tests.models.losses import losses
from tests.models.perilous import Perilous, plan
from tests.models.witnessed import moments_of, outside, replayed


def judge(seed: int) -> None:
    found = Perilous(seed).walk()
    moments = moments_of(found)
    kept = {"all": moments, **losses(found, moments, seed)}
    for name, told in kept.items():
        begins = found.begins if name == "beginnings" else {}
        wrong = list(outside(found, replayed(found, told, begins)))
        assert wrong == [], f"{plan(seed).version.name}, walk {seed}, {name}"


@pytest.mark.parametrize("seed", [500059, 500227, 510261, 510658, 510736])
def test_once_these_did_not(seed: int) -> None:
    """An order answered in the millisecond of its role, a log start of an untold role, and fetches in a hole."""
    judge(seed)


def test_every_interval_holds_the_truth_whatever_goes_wrong() -> None:
    for seed in range(600_000, 600_000 + cases(40)):
        judge(seed)
