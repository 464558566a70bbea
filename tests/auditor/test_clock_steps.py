"""Wherever clocks of a healthy cluster are set, one broker's, a file's or all: none is accused."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from rules.finding import Severity
from tests.lab.clock_steps import step, times_in
from tests.lab.effort import fast_if, spread
from tests.lab.sample_histories import SAMPLES
from tests.lab.sample_reports import LONG, report_on

CLEAN: Final = ("clean_2_8", "clean_4x")
BACK: Final = (-1, -2, -3, -5, -10, -20, -60, -3600)
FORWARD: Final = (1, 2, 3, 5, 10, 20, 60, 3600)
Draw = tuple[str, str, int]
"""A sample, whose clocks step, and by how many seconds."""
DRAWS: Final[list[Draw]] = [
    (case, who, by)
    for who, steps in (("broker", (*BACK, *FORWARD)), ("every", (*BACK[1::2], *FORWARD[::2])))
    for case, by in spread(CLEAN, steps, 2)
]
FAST: Final[frozenset[Draw]] = frozenset((
    ("clean_4x", "broker", -5),
    ("clean_2_8", "broker", 1),
    ("clean_4x", "every", -5),
    ("clean_2_8", "every", -2),
))


SHIFTS: Final = (-60, -5, -2, 2, 5, 60)
SHIFTED_FILES: Final = ("clean_1_1", "clean_2_8", "clean_4x", "clean_mixed", "tiered_unclean", "lost_pages_hw")
FileDraw = tuple[str, int, int]
"""A sample, how many files of one broker are shifted, each by an amount of its own, and which draw it is."""
FILE_DRAWS: Final[list[FileDraw]] = [
    (case, files, seed) for case, files, seed in product(SHIFTED_FILES, (1, 2), range(2)) if seed or case not in LONG
]
"""Of long recordings the second draws alone; the first of clean_2_8 stays open, one server.log five seconds early.

Only a follower that joins before it asks shows that, as one torn line would.
"""
FAST_FILES: Final[frozenset[FileDraw]] = frozenset((("clean_2_8", 1, 1), ("lost_pages_hw", 2, 0)))
BEFORE_ALL: Final = -1
"""No line is older: a whole file is shifted."""
NEITHER_OF_ONE_CLOCK: Final = (
    ("clean_1_1", 2, {"server.log": 60}, "loads logs of which only other partitions show when"),
)


AMID_TAKING_ROLES: Final = 1_795_239_528_500
"""When broker 2 of `clean_2_8` has just begun to lead: a few records later it would seem to have begun without them."""


def logs_that_step(root: Path, who: str, chance: random.Random) -> list[Path]:
    node = chance.choice(sorted(path.name for path in root.glob("broker-*")))
    return sorted(root.glob(f"{'*' if who == 'every' else node}/logs/*.log"))


def accused(report: AuditReport) -> list[str]:
    grave = (finding for finding in report.violations if finding.severity >= Severity.MEDIUM)
    return [f"{found.rule} {found.topic}-{found.partition}: {found.message}" for found in grave]


def stepped(root: Path, logs: Sequence[Path], at: int, by: int) -> AuditReport:
    for log in logs:
        step(log, at, by * 1000)
    return audit(root, AuditConfig(engine="local"))


@pytest.mark.parametrize("draw", fast_if(FAST.__contains__, DRAWS), ids=str)
def test_a_clock_that_steps_accuses_nobody(draw: Draw, tmp_path: Path) -> None:
    case, who, by = draw
    chance, root = random.Random(f"{case}/{who}/{by}/0"), tmp_path / "dump"  # noqa: S311 - a draw, not a secret
    shutil.copytree(SAMPLES / case / "dump", root, symlinks=True)
    logs = logs_that_step(root, who, chance)
    assert accused(stepped(root, logs, chance.choice(times_in(logs)), by)) == []


def shifted(case: str, root: Path, by: Mapping[Path, int]) -> AuditReport:
    """A sample whose files bear times so many seconds later, each of them whole."""
    shutil.copytree(SAMPLES / case / "dump", root, symlinks=True)
    for log, seconds in by.items():
        step(root / log, BEFORE_ALL, seconds * 1000)
    return audit(root, AuditConfig(engine="local"))


def drawn_files(case: str, files: int, chance: random.Random) -> dict[Path, int]:
    node = chance.choice(sorted((SAMPLES / case / "dump").glob("broker-*")))
    logs = sorted(path.relative_to(node.parent) for path in node.glob("logs/*.log"))
    return {log: chance.choice(SHIFTS) for log in chance.sample(logs, min(files, len(logs)))}


@pytest.mark.parametrize("draw", fast_if(FAST_FILES.__contains__, FILE_DRAWS), ids=str)
def test_files_of_a_broker_on_clocks_of_their_own_accuse_nobody(draw: FileDraw, tmp_path: Path) -> None:
    """What the dump says as it is may be said; nothing else is, and it is not called clean where it had a loss."""
    case, files, seed = draw
    chance = random.Random(f"{case}/{files}/{seed}")  # noqa: S311 - a draw, not a secret
    whole = report_on(SAMPLES / case)
    report = shifted(case, tmp_path / "dump", drawn_files(case, files, chance))
    assert charges(report) <= charges(whole)
    assert report.verdict != "clean" or not charges(whole)


@pytest.mark.parametrize("gone", ["broker-2/logs/kafka-request.log", "broker-1/logs/controller.log"])
def test_an_election_by_a_controller_log_of_another_clock_deposes_nobody(gone: str, tmp_path: Path) -> None:
    """Broker 2's controller.log tells its election a minute late. Its orders to itself, if any, come before that."""
    dump = tmp_path / "dump"
    shutil.copytree(SAMPLES / "lost_pages_hw" / "dump", dump, symlinks=True)
    (dump / gone).unlink()
    step(dump / "broker-2/logs/controller.log", BEFORE_ALL, 60_000)
    whole = report_on(SAMPLES / "lost_pages_hw")
    assert charges(audit(dump, AuditConfig(engine="local"))) <= charges(whole)


def charges(report: AuditReport) -> set[tuple[object, ...]]:
    grave = (finding for finding in report.violations if finding.severity >= Severity.MEDIUM)
    return {(found.rule, found.topic, found.partition, found.brokers) for found in grave}


@pytest.mark.parametrize(("case", "broker", "by", "_why"), NEITHER_OF_ONE_CLOCK, ids=str)
def test_what_only_one_cause_shows_is_seen(
    case: str, broker: int, by: Mapping[str, int], _why: str, tmp_path: Path
) -> None:
    files = {Path(f"broker-{broker}/logs") / log: seconds for log, seconds in by.items()}
    report = shifted(case, tmp_path / "dump", files)
    assert accused(report) == []
    told = f"lines of broker {broker}'s logs contradict each other by their times. Broker {broker} says that it "
    assert any(told in line.reason for line in report.coverage.undecided)


def test_a_clock_that_is_set_back_is_named(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    shutil.copytree(SAMPLES / "clean_2_8" / "dump", root, symlinks=True)
    logs = sorted(root.glob("broker-2/logs/*.log"))
    report = stepped(root, logs, AMID_TAKING_ROLES, -5)
    assert accused(report) == []
    assert any("the times in broker 2's log" in line.reason for line in report.coverage.undecided)


def test_clocks_that_contradict_each_other_name_the_two_events() -> None:
    """ZooKeeper was put back: the controllers' record of an epoch is later than the role that a broker took in it."""
    report = audit(SAMPLES / "controller_restored" / "dump", AuditConfig(engine="local"))
    effect = "Broker 3 logged its role in epoch 1 at 2026-11-26 19:23:21 or earlier"
    cause = "The controller gave it that role only at 2026-11-26 19:24:04 or later"
    assert any(f"{effect}. {cause}" in line.reason for line in report.coverage.undecided)
