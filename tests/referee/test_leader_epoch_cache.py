"""Kafka's own LeaderEpochFileCache as referee of `rules.protocol.epochs`, release by release."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rules.protocol.epochs import (
    EndOffsetRule,
    EpochChain,
    EpochEnd,
    EpochStart,
    assign,
    assign_before_kafka_7415,
    end_offset_for,
    end_offset_for_before_kafka_7415,
    epoch_at,
    offset_only,
    truncate_from_end,
    truncate_from_start,
)
from rules.protocol.offsets import Epoch, Offset
from tests.referee.maven import compiled, missing_tools, run_java

SEED = 7415
REQUESTS = 10_000
EDITS = ("assign", "from-end", "from-start")

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(bool(missing_tools()), reason=f"needs {', '.join(missing_tools())} on the PATH"),
]

Case = tuple[EpochChain, str, tuple[int, ...]]
Assign = Callable[[EpochChain, Epoch, Offset], EpochChain]

RELEASES: tuple[tuple[str, str, EndOffsetRule, Assign], ...] = (
    ("1.1.1", "OldEpochCache", end_offset_for_before_kafka_7415, assign_before_kafka_7415),
    ("2.0.0", "OldEpochCache", end_offset_for_before_kafka_7415, assign_before_kafka_7415),
    ("2.8.2", "ScalaEpochCache", end_offset_for, assign),
    ("3.9.1", "ModernEpochCache", end_offset_for, assign),
    ("4.3.0", "ModernEpochCache", end_offset_for, assign),
)


def random_chain(dice: random.Random) -> EpochChain:
    """Rising in both columns; an empty one now and then, and values beyond 32 bits."""
    count = dice.choice((0, 1, 1, 2, 3, 5, 8))
    scale = dice.choice((1, 1, 1, 1 << 33))
    epochs = sorted(dice.sample(range(16), count))
    offsets = sorted(dice.sample(range(40), count))
    return tuple(
        EpochStart(epoch=Epoch(epoch), start_offset=Offset(offset * scale))
        for epoch, offset in zip(epochs, offsets, strict=True)
    )


def random_offset(dice: random.Random, entries: EpochChain) -> int:
    """Often at an entry or right beside it, where rules differ."""
    near = dice.choice(entries).start_offset + dice.randint(-1, 1) if entries else dice.randint(0, 45)
    return max(0, near if dice.random() < 0.6 else dice.randint(0, 45))


def random_case(dice: random.Random, actions: tuple[str, ...]) -> Case:
    """A cache, what is done to it or asked of it, and the numbers that go with it."""
    entries, action = random_chain(dice), dice.choice(actions)
    if action == "end":
        log_end_offset = (entries[-1].start_offset if entries else 0) + dice.randint(0, 9)
        return entries, action, (dice.randint(-1, 17), log_end_offset)
    offset = random_offset(dice, entries)
    return entries, action, (dice.randint(0, 17), offset) if action == "assign" else (offset,)


def shown(entries: EpochChain) -> str:
    return ",".join(f"{entry.epoch}:{entry.start_offset}" for entry in entries) or "-"


def shown_end(answer: EpochEnd | None) -> str:
    return "-1:-1" if answer is None else f"{answer.epoch}:{answer.end_offset}"


def ours(case: Case, release: str, end_rule: EndOffsetRule, assign_rule: Assign) -> str:
    """What this project answers, in the driver's notation."""
    entries, action, numbers = case
    if action == "end":
        answer = end_rule(entries, Epoch(numbers[0]), Offset(numbers[1]))
        return shown_end(offset_only(answer) if release == "1.1.1" else answer)
    if action == "at":
        epoch = epoch_at(entries, Offset(numbers[0]))
        return "-" if epoch is None else str(epoch)
    if action == "assign":
        return shown(assign_rule(entries, Epoch(numbers[0]), Offset(numbers[1])))
    cut = truncate_from_end if action == "from-end" else truncate_from_start
    return shown(cut(entries, Offset(numbers[0])))


def kafkas(cases: list[Case], release: str, driver: str) -> list[str]:
    """What the published class answers to the same cases."""
    source = Path(__file__).parent / "java" / f"{driver}.java"
    lines = (f"{shown(entries)} {action} {' '.join(map(str, numbers))}" for entries, action, numbers in cases)
    return run_java(compiled(source, release), driver, stdin="\n".join(lines) + "\n").splitlines()


@pytest.mark.parametrize(("release", "driver", "end_rule", "assign_rule"), RELEASES, ids=[one[0] for one in RELEASES])
def test_epoch_arithmetic_equals_kafkas_own(
    release: str, driver: str, end_rule: EndOffsetRule, assign_rule: Assign
) -> None:
    dice = random.Random(SEED)  # noqa: S311 - a fixed seed, so that a failure comes again
    edits = (*EDITS, "at") if driver == "ModernEpochCache" else EDITS
    cases = [random_case(dice, ("end",)) for _ in range(REQUESTS)]
    cases += [random_case(dice, edits) for _ in range(REQUESTS)]
    answers = kafkas(cases, release, driver)
    assert len(answers) == len(cases)
    for case, answer in zip(cases, answers, strict=True):
        assert ours(case, release, end_rule, assign_rule) == answer, f"Kafka {release}, seed {SEED}: {case}"
    asked = Counter("undefined" if answer == "-1:-1" else "defined" for answer in answers[:REQUESTS])
    assert min(asked.values()) > REQUESTS // 10
