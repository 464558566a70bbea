"""Audit, advice and incident report are views of one judgement: none tells what another denies, whatever is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from dumps_at_hand import audited

from tests.lab.effort import fast_if
from tests.lab.expected_from_truth import cases
from tests.lab.views import contradictions

CASES: Final = cases()
Leaves = Callable[[str, list[str]], list[str]]


def _named(*names: str) -> Leaves:
    return lambda _, files: [name for name in files if name in names]


def _brokers_own(kind: str) -> Leaves:
    return lambda folder, files: [n for n in files if n == kind and Path(folder).name.startswith("broker-")]


LEFT_OUT: Final[dict[str, Leaves]] = {
    "nothing": _named(),
    "disks": _brokers_own("data"),
    "logs": _named("logs"),
    "broker 1": _named("broker-1"),
    "broker 2": _named("broker-2"),
    "request logs": _named("kafka-request.log"),
}


def is_unclean(case: Path) -> bool:
    return case.name == "unclean_rejoined"


@pytest.mark.parametrize("missing", fast_if("disks".__eq__, LEFT_OUT))
@pytest.mark.parametrize("case", fast_if(is_unclean, CASES), ids=lambda case: case.name)
def test_no_page_denies_what_another_tells(case: Path, missing: str, tmp_path: Path) -> None:
    dump = shutil.copytree(case / "dump", tmp_path / "dump", ignore=LEFT_OUT[missing])
    assert [*contradictions(audited(dump))] == []


def test_a_loss_that_logs_alone_prove_is_told_by_the_advice(tmp_path: Path) -> None:
    case = next(filter(is_unclean, CASES))
    report = audited(shutil.copytree(case / "dump", tmp_path / "dump", ignore=LEFT_OUT["disks"]))
    (advised,) = report.advice
    assert [(loss.start_offset, loss.end_offset) for loss in advised.losses] == [(100, 150)]
    assert (advised.advice.absent, advised.advice.candidates) == ((1, 2, 3), ())
    assert {gate.going for gate in advised.advice.gates} == {"unknown"}
