"""A client has records deleted, and an unclean election loses more: what was deleted is lost by nobody's word."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.simulation.run_simulate import simulate
from rules.finding import Severity
from tests.auditor.dumps_at_hand import audited

SCRIPT = """
title: A client has records deleted before an unclean election
about: Records below 10 are deleted. Broker 1 dies before its log start is on its disk. Broker 3 lacks all from 4 on.
brokers: [1, 2, 3]
version: "3.9.1"
topic: {unclean.leader.election.enable: true}
events:
  - produce 1 a x4
  - fetch 2
  - fetch 3
  - fetch 2
  - fetch 3
  - produce 1 b x8
  - fetch 2
  - wait 40s
  - fetch 2
  - shrink 3 by=1
  - fetch 2
  - delete 1 below 10
  - fetch 2
  - checkpoint 2
  - crash 1
  - crash 2
  - elect 3 unclean
  - produce 3 c x2
  - restart 2
  - fetch 2
  - fetch 2
"""
SINCE = """
title: delall
brokers: [1, 2]
version: "3.9.1"
topic: {min.insync.replicas: 1}
events:
  - produce 1 a x8
  - fetch 2
  - fetch 2
  - fetch 2
  - checkpoint 1
  - checkpoint 2
  - delete 1 below 6
  - fetch 2
  - crash 2
  - lose 2 to 4
  - produce 1 b acks=1
  - produce 1 c acks=1
  - fence 2
  - shutdown 1
  - restart 2
  - elect 2 unclean
  - produce 2 d x2
"""
ALL_OF_THEM = {"LEAD001": (10, 12), "TRUNC001": (10, 12), "TRUNC004": (10, 12)}
NEVER_DELETED = {"LEAD001": (4, 12), "TRUNC001": (4, 12), "TRUNC004": (4, 12), "LOG001": (4, 6)}


@pytest.mark.parametrize(
    ("deleted", "gone", "ranges"),
    [
        (True, (), ALL_OF_THEM),
        (True, ("broker-1/logs",), ALL_OF_THEM),
        (True, ("broker-1/logs/server.log", "broker-1/logs/kafka-request.log"), ALL_OF_THEM),
        (True, ("broker-1",), {"LEAD001": (10, 12), "TRUNC001": (10, 12)}),
        (False, (), NEVER_DELETED),
    ],
    ids=["all is here", "no logs of the leader", "only its roles", "nothing of the leader", "nothing was deleted"],
)
def test_what_a_client_had_deleted_is_no_part_of_what_is_lost(
    deleted: bool, gone: tuple[str, ...], ranges: dict[str, tuple[int, int]], tmp_path: Path
) -> None:
    """A follower takes its leader's log start over, and tells it."""
    script = SCRIPT if deleted else SCRIPT.replace("  - delete 1 below 10\n", "")
    (tmp_path / "script.yaml").write_text(script, encoding="utf-8")
    simulate(tmp_path / "script.yaml", dump=tmp_path / "dump")
    for name in gone:
        path = tmp_path / "dump" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    report = audited(tmp_path / "dump")
    grave = [f for f in report.violations if f.severity == Severity.CRITICAL and f.rule != "ACK001"]
    assert {f.rule: (f.start_offset, f.end_offset) for f in grave} == ranges
    (placed,) = [one for one in report.histories if one.losses]
    assert [(loss.start_offset, loss.end_offset) for loss in placed.losses] == [ranges["LEAD001"]]
    (advice,) = [one.advice for one in report.advice if one.topic == "simulated"]
    doomed = [(one.stretch.start_offset, one.stretch.end_offset) for one in advice.doomed]
    assert doomed == [ranges[rule] for rule in ("TRUNC004",) if rule in ranges]


@pytest.mark.parametrize("left", ["half of every log", "no request logs and no controller's disk"])
def test_what_an_older_epoch_had_deleted_is_not_missing_from_a_later_one(left: str, tmp_path: Path) -> None:
    """Broker 2 opened its epoch below the log start that it had, and acknowledged records there."""
    (tmp_path / "script.yaml").write_text(SINCE, encoding="utf-8")
    simulate(tmp_path / "script.yaml", dump=tmp_path / "dump")
    for log in (tmp_path / "dump").glob("*/logs/*.log"):
        data = log.read_bytes()
        if left.startswith("half"):
            log.write_bytes(data[: len(data) // 2])
        elif log.name == "kafka-request.log":
            log.unlink()
    if not left.startswith("half"):
        shutil.rmtree(tmp_path / "dump" / "controller-100" / "data")
    (advice,) = [one.advice for one in audited(tmp_path / "dump").advice if one.topic == "simulated"]
    assert [gate.action for gate in advice.gates if gate.going == "go" and "elect" in gate.action] == []
    lacked = {c.broker: [(s.start_offset, s.end_offset) for s in c.lacks] for c in advice.candidates}
    assert (4, 6) in lacked[1]
