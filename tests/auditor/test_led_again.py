"""Who wrote what another leader left out leads again, with it or cut before: a log that is gone leaves it open."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from auditor.report.model import AuditReport, Loss
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.simulator.run_outcome import outcome
from rules.simulator.run_rows import run
from tests.auditor.dumps_at_hand import audited

SCRIPT = """
title: "led again after a cut"
about: "broker 1 is cut to 10, takes over what broker 2 wrote there, and leads again"
brokers: [1, 2, 3]
version: "3.9.1"
topic: {min.insync.replicas: 1}
events:
  - produce 1 a(10)
  - fetch 2
  - fetch 3
  - fetch 2
  - fetch 3
  - produce 1 b(10) acks=1
  - crash 1
  - fence 1
  - produce 2 c(15) acks=1
  - restart 1
  - fetch 1
  - fetch 1
  - fetch 1
  - fetch 3
  - fetch 1
  - fetch 3
  - fetch 1
  - expand 1
  - elect 1
  - produce 1 d(5) acks=1
  - fetch 3
  - fetch 3
"""
LED_BY_ANOTHER = """
  - fetch 2
  - fetch 2
  - elect 3
  - produce 3 e(5) acks=1
"""


def audit_without(gone: Sequence[str], folder: Path, script: str = SCRIPT) -> AuditReport:
    told = folder / "script.yaml"
    told.write_text(script.rstrip() + "\n")
    write_dump(outcome(run(read_script(told))).run, folder / "dump")
    for path in [path for pattern in gone for path in sorted((folder / "dump").glob(pattern))]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return audited(folder / "dump")


def lost(report: AuditReport) -> Loss:
    (loss,) = [loss for history in report.histories for loss in history.losses]
    assert (loss.epoch, loss.start_offset, loss.end_offset) == (0, 10, 20)
    return loss


@pytest.mark.parametrize(
    "gone",
    [
        ("broker-*/data", "broker-1/logs/server.log"),
    ],
)
def test_without_the_log_that_tells_cuts_nothing_is_said_to_be_held_still(gone: Sequence[str], tmp_path: Path) -> None:
    report = audit_without(gone, tmp_path)
    assert not lost(report).restored


def test_what_no_rule_proves_stands_in_no_bill_and_is_named(tmp_path: Path) -> None:
    gone = ("broker-*/data", "broker-1/logs/server.log", "broker-2/logs/kafka-request.log")
    report = audit_without(gone, tmp_path)
    assert [loss for history in report.histories for loss in history.losses if loss.matters] == []
    points = [point.reason for point in report.coverage.undecided if point.rule == "the bill"]
    assert points == [
        "it is not known whether the leader of epoch 1 (broker 2) had records 10–19 of epoch 0 when it began to lead"
    ]


def test_the_line_of_the_cut_decides(tmp_path: Path) -> None:
    loss = lost(audit_without(("broker-*/data",), tmp_path))
    assert (loss.restored, loss.unread) == (False, ())


def test_disks_that_hold_other_records_there_refute_it(tmp_path: Path) -> None:
    gone = ("broker-3", "broker-1/logs/server.log")
    loss = lost(audit_without(gone, tmp_path, SCRIPT.rstrip() + LED_BY_ANOTHER))
    assert (loss.restored, loss.unread) == (False, ())


def test_a_disk_of_a_follower_of_its_later_reign_refutes_it(tmp_path: Path) -> None:
    gone = ("broker-3", "broker-1/data", "broker-1/logs/server.log")
    loss = lost(audit_without(gone, tmp_path, SCRIPT.rstrip() + LED_BY_ANOTHER))
    assert (loss.restored, loss.unread) == (False, ())
