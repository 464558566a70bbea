"""An unclean election of a partition that never held a record gives nothing up, as far as its witnesses tell."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.finding import Severity
from rules.simulator.run_rows import run
from tests.auditor.dumps_at_hand import audited

SCRIPT = """
title: An unclean election
about: Broker 2 left the ISR before.
brokers: [1, 2]
version: "3.9.1"
topic: {min.insync.replicas: 1, unclean.leader.election.enable: true}
events:
  - fetch 2
  - crash 2
  - fence 2
  - PRODUCE
  - crash 1
  - fence 1
  - restart 2
  - elect 2 unclean
  - restart 1
  - fetch 1
  - fetch 1
"""


@pytest.mark.parametrize(
    ("produced", "gone", "severity"),
    [
        ("fetch 2", (), Severity.LOW),
        ("produce 1 a acks=1", (), Severity.HIGH),
        ("fetch 2", ("broker-1/data",), Severity.LOW),
        ("fetch 2", ("broker-1/logs", "broker-2/logs"), Severity.LOW),
    ],
)
def test_it_weighs_little_where_nothing_names_a_record_and_is_called_empty_where_all_tell_so(
    produced: str, gone: tuple[str, ...], severity: Severity, tmp_path: Path
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT.replace("PRODUCE", produced), encoding="utf-8")
    write_dump(run(read_script(script)), tmp_path / "dump")
    for folder in gone:
        shutil.rmtree(tmp_path / "dump" / folder)
    (found,) = [f for f in audited(tmp_path / "dump").violations if f.rule == "LEAD002"]
    assert found.severity == severity
    whole = severity == Severity.LOW and not gone
    assert ("No record is known to have been written" in found.message) == whole
