"""Wherever clocks of a healthy cluster are set, one broker's or all: none is accused."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from rules.finding import Severity
from tests.lab.clock_steps import step, times_in
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES

CLEAN: Final = ("clean_2_8", "clean_4x")
BACK: Final = (-1, -2, -3, -5, -10, -20, -60, -3600)
FORWARD: Final = (1, 2, 3, 5, 10, 20, 60, 3600)
Draw = tuple[str, str, int, int]
"""A sample, whose clocks step, by how many seconds, and which draw of the place it is."""
DRAWS: Final[list[Draw]] = [
    *product(CLEAN, ("broker",), (*BACK, *FORWARD), range(2)),
    *product(CLEAN, ("every",), (*BACK, *FORWARD[::2]), range(2)),
]
FAST: Final[frozenset[Draw]] = frozenset((
    *(("clean_2_8", who, by, 0) for who, by in (("broker", -5), ("broker", 2))),
    *(("clean_4x", "every", -20, 0), ("clean_2_8", "every", -2, 0)),
))


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
    case, who, by, seed = draw
    chance, root = random.Random(f"{case}/{who}/{by}/{seed}"), tmp_path / "dump"  # noqa: S311 - a draw, not a secret
    shutil.copytree(SAMPLES / case / "dump", root, symlinks=True)
    logs = logs_that_step(root, who, chance)
    assert accused(stepped(root, logs, chance.choice(times_in(logs)), by)) == []


def test_a_clock_that_is_set_back_is_named(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    shutil.copytree(SAMPLES / "clean_2_8" / "dump", root, symlinks=True)
    logs = sorted(root.glob("broker-2/logs/*.log"))
    report = stepped(root, logs, AMID_TAKING_ROLES, -5)
    assert accused(report) == []
    assert any("broker 2's clock was set back by" in line.reason for line in report.coverage.undecided)
