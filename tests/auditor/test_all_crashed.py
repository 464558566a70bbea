"""All replicas lost the same records: no copy is left to show it, and the verdict is never clean."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from auditor.simulation.run_simulate import simulate
from tests.auditor.dumps_at_hand import SAMPLES, audited
from tests.auditor.dumps_at_hand import copied as samples_copy

SCRIPT = """
title: Both brokers lose their last pages
about: Nobody holds the last four records any more.
brokers: [1, 2]
version: "2.8.2"
events:
  - produce 1 m x10
  - fetch 2
  - fetch 2
  - checkpoint 1
  - checkpoint 2
  - crash 1
  - crash 2
  - lose 1 to 6
  - lose 2 to 6
"""


HOW = ("stopped", "crashed")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    simulate(tmp_path / "script.yaml", dump=tmp_path / "dump")
    return tmp_path / "dump"


@pytest.mark.parametrize("logs", [True, False])
def test_what_all_lost_leaves_the_verdict_open(dump: Path, logs: bool) -> None:
    if not logs:
        for folder in dump.rglob("logs"):
            shutil.rmtree(folder)
    report = audited(dump)
    assert report.verdict != "clean"
    assert {f.rule for f in report.findings if f.blocking} >= {"HW001"}


def test_what_producers_were_told_is_enough(dump: Path) -> None:
    for checkpoint in dump.rglob("*offset-checkpoint"):
        checkpoint.unlink()
    report = audited(dump)
    assert report.verdict == "unknown"
    assert {f.rule for f in report.findings if f.blocking} == {"ISR001", "LOG008"}


def test_how_it_was_copied_settles_it(dump: Path) -> None:
    assert "HW001" in {f.rule for f in audited(dump, copied="crashed").violations if f.severity >= 2}
    assert "HW001" in {f.rule for f in audited(dump, copied="stopped").violations if f.severity >= 2}
    assert not any(f.blocking and f.rule == "HW001" for f in audited(dump, copied="live").findings)


def test_nobody_says_of_a_broker_that_stopped_that_it_crashed(dump: Path) -> None:
    """It wrote its checkpoints when it stopped; a crash is told where somebody says that there was one."""
    told = {how: {f.message for f in audited(dump, copied=how).violations if f.rule == "HW001"} for how in HOW}
    assert all("went missing after it had shut down cleanly" in message for message in told["stopped"])
    assert all("lost in a crash" in message for message in told["crashed"])


@pytest.mark.parametrize(("copied", "going"), [(None, "unknown"), ("crashed", "unknown"), ("live", "go")])
def test_where_no_high_watermark_tells_what_a_crash_took_no_start_is_free(
    copied: str | None, going: str, tmp_path: Path
) -> None:
    """Another broker's log is damaged, so that there is something to decide; these two are whole, as far as seen."""
    dump = samples_copy("power_cut", tmp_path / "dump", logs=True)
    said = {"topic": ("zeros",), "copied": copied}
    assert set(_starts(audited(dump, **said)).values()) == {"go"}
    for checkpoint in dump.rglob("replication-offset-checkpoint"):
        checkpoint.unlink()
    assert _starts(audited(dump, **said)) == {1: going, 3: going}


def _starts(report: AuditReport) -> dict[int, str]:
    gates = {gate.action: gate.going for placed in report.advice for gate in placed.advice.gates}
    return {broker: gates[f"restart broker {broker}"] for broker in (1, 3)}


def test_no_controller_writes_a_checkpoint_of_high_watermarks() -> None:
    report = audited(SAMPLES / "controller_restored" / "dump")
    gates = [gate.because for p in report.advice if p.topic == "__cluster_metadata" for gate in p.advice.gates]
    assert gates
    assert not any("replication-offset-checkpoint" in because for because in gates)


def test_where_no_high_watermark_tells_what_a_crash_took_there_is_something_to_decide(tmp_path: Path) -> None:
    """By its high watermark this partition lost its end: without any, nobody knows that it kept it."""
    dump = samples_copy("power_cut", tmp_path / "dump", logs=True)
    for checkpoint in dump.rglob("replication-offset-checkpoint"):
        checkpoint.unlink()
    gates = {g.action: g.going for p in audited(dump, topic=("gone",)).advice for g in p.advice.gates}
    assert set(gates.values()) == {"unknown"}
    assert {f"{act} broker {broker}" for act in ("restart", "elect") for broker in (1, 2, 3)} <= gates.keys()
    assert audited(dump, topic=("gone",), copied="live").advice == ()
