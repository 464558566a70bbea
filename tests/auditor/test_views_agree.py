"""Audit, advice and incident report are views of one judgement: none tells what another denies, whatever is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from dumps_at_hand import SAMPLES, audited

from auditor.advise import run_advise
from auditor.config import AuditConfig
from auditor.report.machines.openmetrics import render as openmetrics
from auditor.report.summary.perhaps import perhaps_lost
from auditor.report.unbilled import unbilled
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.simulator.run_rows import run
from tests.lab.effort import fast_if, spread
from tests.lab.expected_from_truth import cases
from tests.lab.views import contradictions
from tests.replaced import replace

CASES: Final = cases()
QUIET: Final = AuditConfig(engine="local", quiet=True)
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
    "roles": _named("state-change.log"),
    "roles and request logs": _named("state-change.log", "kafka-request.log"),
}


def is_unclean(case: Path) -> bool:
    return case.name == "unclean_rejoined"


def is_fast(pair: tuple[Path, str]) -> bool:
    return is_unclean(pair[0]) and pair[1] in {"disks", "roles and request logs"}


PAIRS: Final = [
    *product(filter(is_unclean, CASES), LEFT_OUT),
    *spread([case for case in CASES if not is_unclean(case)], LEFT_OUT, 4),
]
"""Each recording without two things in turn, and one without each; `tests.ablations` asks the same of what it draws."""


@pytest.mark.parametrize("pair", fast_if(is_fast, PAIRS), ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def test_no_page_denies_what_another_tells(pair: tuple[Path, str], tmp_path: Path) -> None:
    case, missing = pair
    dump = shutil.copytree(case / "dump", tmp_path / "dump", ignore=LEFT_OUT[missing])
    assert [*contradictions(audited(dump))] == []


@pytest.mark.parametrize("case", ["unclean_4x", "unclean_rejoined", "fast_failover_kip279", "tiered_unclean"])
def test_what_was_cut_in_an_unknown_epoch_is_lost_by_every_page(case: str, tmp_path: Path) -> None:
    """Without role and request logs the cut is proved and nothing tells whose records it removed."""
    left_out = LEFT_OUT["roles and request logs"]
    dump = shutil.copytree(SAMPLES / case / "dump", tmp_path / "dump", ignore=left_out)
    report = audited(dump)
    (gone,) = (gone for _, gone in unbilled(report))
    (cut,) = (finding for finding in report.violations if finding.rule == "TRUNC001")
    assert (gone.finding, gone.start_offset, gone.end_offset) == (cut.id, cut.start_offset, cut.end_offset)
    assert [*contradictions(report)] == []
    assert run_advise([dump], QUIET) == report.exit_code == 1


def test_what_a_cut_surely_removed_is_lost_though_the_epoch_of_the_loss_is_open(tmp_path: Path) -> None:
    """Broker 3's log tells the cut, and not by which answer; without broker 2 nobody tells what it followed before."""
    dump = shutil.copytree(SAMPLES / "never_rejoined" / "dump", tmp_path / "dump", ignore=LEFT_OUT["broker 2"])
    log = dump / "broker-3" / "logs" / "server.log"
    lines = log.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b"Truncating partition seen-0 with TruncationState" not in line]
    assert len(kept) == len(lines) - 1
    log.write_bytes(b"".join(kept))
    report = audited(dump)
    assert ("seen", 100, 150) in [(f.topic, f.start_offset, f.end_offset) for f in perhaps_lost(report)]
    (told,) = unbilled(report)
    assert (told[0].topic, told[1].start_offset, told[1].end_offset, told[1].sure) == ("seen", 100, 150, True)
    assert [*contradictions(report)] == []


def test_the_answer_by_which_a_follower_cut_its_log_tells_whose_records_went(tmp_path: Path) -> None:
    dump = shutil.copytree(SAMPLES / "never_rejoined" / "dump", tmp_path / "dump", ignore=LEFT_OUT["broker 2"])
    report = audited(dump)
    (seen,) = (told.losses for told in report.advice if told.topic == "seen")
    assert [(loss.start_offset, loss.end_offset, loss.epoch) for loss in seen] == [(100, 150, 0)]
    assert [*perhaps_lost(report), *unbilled(report), *contradictions(report)] == []


def test_a_loss_that_is_open_is_open_in_the_advice(tmp_path: Path) -> None:
    """The audit proves an election and no loss; whether records are lost is open, so that the advice ends with 3."""
    dump = shutil.copytree(SAMPLES / "fast_failover_kip279" / "dump", tmp_path / "dump", ignore=LEFT_OUT["roles"])
    for log in dump.glob("broker-*/logs/server.log"):
        log.unlink()
    report = audited(dump, partial=True)
    assert perhaps_lost(report)
    assert [*contradictions(report)] == []
    assert not unbilled(report)
    assert run_advise([dump], replace(QUIET, partial=True)) == 3


def test_a_loss_that_logs_alone_prove_is_told_by_the_advice(tmp_path: Path) -> None:
    case = next(filter(is_unclean, CASES))
    report = audited(shutil.copytree(case / "dump", tmp_path / "dump", ignore=LEFT_OUT["disks"]))
    (advised,) = report.advice
    assert [(loss.start_offset, loss.end_offset) for loss in advised.losses] == [(100, 150)]
    assert (advised.advice.absent, advised.advice.candidates) == ((1, 2, 3), ())
    assert {gate.going for gate in advised.advice.gates} == {"unknown"}


SENT_AGAIN: Final = """
title: perhaps sent again
brokers: [1, 2, 3]
version: "0.11.0.3"
topic: {min.insync.replicas: 2, unclean.leader.election.enable: false}
events:
  - produce 1 r0 acks=1
  - elect 3 unclean told=none
  - elect 2 told=none
  - tell 3 epoch=1
  - produce 3 r36 acks=all
  - elect 3 told=none
"""


def test_what_only_a_question_bears_may_be_lost_and_is_in_no_bill(tmp_path: Path) -> None:
    """Broker 1 may have led epoch 2 too, and its answer may be for the record that stands at offset 0 now."""
    script = tmp_path / "script.yaml"
    script.write_text(SENT_AGAIN, encoding="utf-8")
    write_dump(run(read_script(script)), tmp_path / "dump")
    report = audited(tmp_path / "dump")
    (asked,) = perhaps_lost(report)
    assert (asked.rule, asked.start_offset, asked.end_offset) == ("ACK001", 0, 1)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert [loss for history in report.histories for loss in history.losses] == []
    assert "tidemark_lost_offsets{" not in openmetrics(report)
    assert [*contradictions(report)] == []
