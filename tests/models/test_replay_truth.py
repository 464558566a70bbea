"""The replay beside the model: its intervals hold the truth at every statement, and lost evidence only widens them."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from rules.history import Moment
from rules.terms import in_terms
from tests.lab.effort import fast_if
from tests.models.oracle import VERSIONS, Version
from tests.models.witnessed import Witnessed, moments_of, outside, replayed, tightness, without_files, witnessed

pytestmark = pytest.mark.slow

TOLD_OF = [version for version in VERSIONS if version.since(1, 0)]
"""Brokers before 1.0 print no line that tells where an epoch opens."""
LONG = 130
"""Walks of every version: together more than 100 000 steps."""


def by_name(version: Version) -> str:
    return version.name


def walk(version: Version, seed: int) -> Witnessed:
    rng = random.Random(seed)  # noqa: S311 - the same walks every time
    length, replicas, pace = rng.choice((30, 60, 120)), rng.choice((2, 3)), rng.choice((0, 1, 1, 7))
    return witnessed(version, seed, length, replicas, pace=pace, processes=seed % 3 != 0)


def losses(found: Witnessed, moments: tuple[Moment, ...], seed: int) -> Mapping[str, tuple[Moment, ...]]:
    """The evidence without some files, and without what some files held at first."""
    rng = random.Random(seed)  # noqa: S311 - the same losses every time
    files = sorted({moment.span.source for moment in moments})
    times = sorted(moment.time for moment in moments if moment.time is not None)
    gone = set(rng.sample(files, rng.randint(1, max(1, len(files) // 2))))
    from_then_on = rng.choice(times)
    traces = {file for file in rng.sample(files, rng.randint(1, len(files))) if file.endswith("kafka-request.log")}
    late = [m for m in moments if m.span.source not in traces or (m.time or 0) >= from_then_on]
    found.begins = dict.fromkeys(traces, from_then_on)
    return {"files": without_files(moments, gone), "beginnings": in_terms(late)}


def judge(version: Version, seeds: range) -> int:
    steps = 0
    for seed in seeds:
        found = walk(version, seed)
        steps += len(found.lines)
        moments = moments_of(found)
        assert list(outside(found, replayed(found, moments))) == [], f"{version.name}, walk {seed}"
        for name, kept in losses(found, moments, seed).items():
            begins = found.begins if name == "beginnings" else {}
            wrong = list(outside(found, replayed(found, kept, begins)))
            assert wrong == [], f"{version.name}, walk {seed} without {name}"
    return steps


@pytest.mark.parametrize("version", TOLD_OF, ids=by_name)
def test_every_interval_holds_the_truth_on_a_few_walks(version: Version) -> None:
    assert judge(version, range(4)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("version", TOLD_OF, ids=by_name)
def test_every_interval_holds_the_truth_on_many_walks(version: Version) -> None:
    assert judge(version, range(100, 100 + LONG)) * len(TOLD_OF) > 100_000


@pytest.mark.parametrize("version", fast_if((TOLD_OF[0], TOLD_OF[-1]).__contains__, TOLD_OF), ids=by_name)
def test_most_answers_are_known_exactly_when_nothing_is_lost(version: Version) -> None:
    exact, closed, told = tightness([witnessed(version, seed, 60, 3) for seed in range(20)])
    assert told > 50
    assert closed >= told * 0.7 > 0
    assert exact >= closed * 0.4 > 0
