"""The simulator beside a model written after the published ones: equal at every step, its invariants by version."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from tests.models.invariants import INVARIANTS, History, violated
from tests.models.kept import BROKEN, FOUND, path_of, version_named
from tests.models.machine import Processes, find, play
from tests.models.oracle import VERSIONS, Model, Record, Version
from tests.models.search import ALWAYS_HOLD, Disagreement, Pair, Walk, breaks, walk

STEPS = 16_000
"""Of every version: 112 000 together."""
FENCED = [version for version in VERSIONS if version.fenced]


def by_name(version: Version) -> str:
    return version.name


def judge(version: Version, made: Walk) -> None:
    """Since 2.1 nothing breaks; before, never what concerns one decision or one term."""
    if version.fenced:
        assert made.found == {}
    assert not ALWAYS_HOLD & made.found.keys(), made.found


@pytest.mark.parametrize("version", VERSIONS, ids=by_name)
def test_simulator_and_model_agree_and_the_invariants_hold(version: Version) -> None:
    assert play(Processes, version, examples=10, steps=30) > 100


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS, ids=by_name)
def test_simulator_and_model_agree_on_long_walks(version: Version) -> None:
    dying = walk(version, seed=1, steps=STEPS // 2, replicas=3)
    without = [walk(version, seed=2, steps=STEPS // 4, replicas=n, processes=False) for n in (2, 3)]
    assert sum(made.steps for made in (dying, *without)) == STEPS
    for made in (dying, *without):
        judge(version, made)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "invariant"),
    [("0.10.2.2", "WeakIsr"), ("1.1.1", "StrongIsr"), ("2.0.1", "FirstNonMatchingOffsetFromTail")],
)
def test_what_a_generation_without_fencing_breaks_is_found_and_made_short(name: str, invariant: str) -> None:
    lines = find(version_named(name), 2, invariant, examples=300)
    assert 0 < len(lines) <= 12
    assert breaks(version_named(name), 2, lines, invariant)
    assert not breaks(version_named(name), 2, lines[:-1], invariant)


def lines_of(script: Path) -> list[str]:
    """A kept script's events as actions on both."""
    lines = [line.removesuffix(" batches=1") for line in read_script(script).lines]
    return [" ".join(line.split()[:2]) if line.startswith("produce") else line for line in lines]


KEPT = [(name, n, invariant) for (name, n), broken in BROKEN.items() for invariant in broken]


@pytest.mark.parametrize(("name", "replicas", "invariant"), KEPT)
def test_a_kept_script_breaks_its_invariant_with_its_last_event(name: str, replicas: int, invariant: str) -> None:
    pair = Pair.created(version_named(name), replicas)
    lines = lines_of(path_of(name, invariant))
    broken = [invariant in pair.act(line) for line in lines]
    assert broken == [False] * (len(lines) - 1) + [True]


@pytest.mark.parametrize(("name", "replicas", "invariant"), KEPT)
def test_a_kept_script_needs_each_of_its_events(name: str, replicas: int, invariant: str) -> None:
    lines = lines_of(path_of(name, invariant))
    for place in range(len(lines)):
        assert not breaks(version_named(name), replicas, lines[:place] + lines[place + 1 :], invariant), lines[place]


@pytest.mark.parametrize("version", FENCED, ids=by_name)
@pytest.mark.parametrize(("name", "replicas", "invariant"), KEPT)
def test_a_kept_script_breaks_nothing_where_fetches_are_fenced(
    version: Version, name: str, replicas: int, invariant: str
) -> None:
    pair = Pair.created(version, replicas)
    for line in lines_of(path_of(name, invariant)):
        assert pair.act(line) == set()


def test_every_kept_script_is_named_here() -> None:
    assert {path_of(name, invariant) for name, _, invariant in KEPT} == set(FOUND.glob("*.yaml"))


def spoiled(invariant: str) -> tuple[Model, History]:
    """A state that breaks one invariant, made by hand."""
    model, history = Model(VERSIONS[3], 2), History()
    one, other = model.replicas[1], model.replicas[2]
    match invariant:
        case "WeakIsr":
            one.log, one.hw = [Record(0, 0)], 1
            model.requests.append(model.quorum._replace(isr=frozenset({1})))
        case "StrongIsr":
            one.log, one.hw, one.isr = [Record(0, 0)], 1, frozenset({1})
        case "LeaderInIsr":
            model.requests.append(model.quorum._replace(isr=frozenset({2})))
        case "MonotonicHighWatermark":
            history.watermarks[1, 0] = 3
        case "MonotonicEpoch":
            other.log = [Record(0, 1), Record(1, 0)]
        case "LogMatching":
            one.log, other.log, one.hw, other.hw = [Record(0, 0)], [Record(1, 0)], 1, 1
            one.presumes = False
        case "ConsistentCommittedData":
            one.log, other.log, one.hw = [Record(1, 0)], [Record(1, 0)], 1
            history.committed[0] = Record(0, 0)
        case "FirstNonMatchingOffsetFromTail":
            model.cut_elsewhere = True
    return model, history


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_each_invariant_can_be_broken(invariant: str) -> None:
    assert violated(Model(VERSIONS[3], 2), History()) == set()
    assert violated(*spoiled(invariant)) == {invariant}


def test_a_simulator_that_differs_is_caught() -> None:
    pair = Pair.created(VERSIONS[0], 2)
    pair.model.replicas[2].hw = 1
    with pytest.raises(Disagreement, match="broker 2"):
        pair.act("produce 1")
