"""The simulator beside a model written after the published ones: equal at every step, its invariants by version."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from tests.lab.effort import cases, fast_if
from tests.models.invariants import INVARIANTS, History, violated
from tests.models.kept import BROKEN, FOUND, path_of, version_named
from tests.models.machine import find, live_on, play
from tests.models.oracle import VERSIONS, Model, Record, Version
from tests.models.search import WORLDS, Disagreement, Pair, World, breaks, walk

STEPS = 24_000
"""Of every version: more than 200 000 together; half of them in CI, where they are the same in every run."""
ENOUGH = 8_000
"""Steps in which a search finds what its world breaks."""
STRETCHES, STRETCH_STEPS = 6, 40
FENCED = [version for version in VERSIONS if version.fenced]


def by_name(version: Version) -> str:
    return version.name


def named(name: str) -> World:
    return next(world for world in WORLDS if world.name == name)


@pytest.mark.parametrize("version", VERSIONS, ids=by_name)
def test_simulator_and_model_agree_and_the_invariants_hold(version: Version) -> None:
    assert play(version, examples=10, steps=30) > 100


@pytest.mark.parametrize("version", fast_if((VERSIONS[0], VERSIONS[-1]).__contains__, VERSIONS), ids=by_name)
def test_simulator_and_model_agree_in_every_world(version: Version) -> None:
    for world in WORLDS:
        made = walk(version, world, seed=3, steps=400)
        assert made.wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS, ids=by_name)
def test_simulator_and_model_agree_on_long_walks_that_hypothesis_draws(version: Version) -> None:
    """Other walks every time but in CI: of one example some hundreds of actions, in each of the worlds."""
    assert STEPS * len(VERSIONS) >= 200_000
    share = cases(STEPS) // len(WORLDS)
    examples = -(-share // (STRETCHES * STRETCH_STEPS))
    made = 0
    for place, world in enumerate(WORLDS, start=1):
        while made < share * place:
            made += live_on(version, world, examples=examples, stretches=STRETCHES, after=made)
    assert made >= share * len(WORLDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "world", "invariants"),
    [
        ("3.9.1", "lost pages", {"LeaderCompleteness", "LeaderCandidateCompleteness"}),
        ("2.6.3", "unclean", {"ConsistentCommittedData", "LogMatching", "StrongIsr"}),
        ("4.3.0", "perils", {"ConsistentCommittedData", "LogMatching", "StrongIsr"}),
    ],
)
def test_what_lost_pages_and_unclean_elections_break_is_found(name: str, world: str, invariants: set[str]) -> None:
    """Eligible leader replicas keep a clean election whole where pages are lost; nothing keeps an unclean one whole."""
    assert invariants <= walk(version_named(name), named(world), seed=12, steps=ENOUGH).found.keys()


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


@pytest.mark.parametrize(("name", "replicas", "invariant"), KEPT)
@pytest.mark.parametrize("version", FENCED, ids=by_name)
def test_a_kept_script_breaks_nothing_in_any_other_fenced_release(
    version: Version, name: str, replicas: int, invariant: str
) -> None:
    assert version.fenced
    if version == version_named(name):
        return
    pair = Pair.created(version, replicas)
    for line in lines_of(path_of(name, invariant)):
        assert pair.act(line) == set()


@pytest.mark.parametrize("version", FENCED, ids=by_name)
def test_a_log_start_that_falls_back_lets_a_follower_keep_what_differs(version: Version) -> None:
    """Records were deleted and the log start was not on disk when the leader died: it forgot the epochs below it."""
    lines = lines_of(FOUND.parent / "log-start-falls-back.yaml")
    assert breaks(version, 3, lines, "MonotonicEpoch")
    kept = [*lines[:-3], "checkpoint 1", *lines[-3:]]
    assert not breaks(version, 3, kept, "MonotonicEpoch")


def test_every_kept_script_is_named_here() -> None:
    assert {path_of(name, invariant) for name, _, invariant in KEPT} == set(FOUND.glob("*.yaml"))


IMPLIED = {
    "LeaderCompleteness": {"LeaderCandidateCompleteness"},
    "LeaderInIsr": {"ReplicationQuorumSuperset"},
    "StrongIsr": {"ReplicationQuorumSuperset", "LeaderCandidateCompleteness"},
}
"""A true leader is a candidate, waits for itself, and should wait for all of the quorum's ISR."""


def spoiled(invariant: str) -> tuple[Model, History]:  # noqa: C901 - one branch an invariant
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
        case "ValidControllerIsrAndElr":
            model.requests.append(model.quorum._replace(elr=frozenset({2})))
        case "LeaderCandidateCompleteness":
            history.truth[0], one.log = Record(0, 0), [Record(0, 0)]
        case "LeaderCompleteness":
            history.truth[0], other.log = Record(0, 0), [Record(0, 0)]
            model.requests.append(model.quorum._replace(isr=frozenset({1})))
        case "ReplicationQuorumSuperset":
            one.isr = frozenset({1})
    return model, history


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_each_invariant_can_be_broken(invariant: str) -> None:
    assert violated(Model(VERSIONS[3], 2), History()) == set()
    assert invariant in violated(*spoiled(invariant)) <= {invariant, *IMPLIED.get(invariant, ())}


def test_a_simulator_that_differs_is_caught() -> None:
    pair = Pair.created(VERSIONS[0], 2)
    pair.model.replicas[2].hw = 1
    with pytest.raises(Disagreement, match="broker 2"):
        pair.act("produce 1")
