"""Scripts of which a cut log, or a whole one, was misread: what their brokers left accuses nobody of that any more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.simulator.run_rows import run
from tests.auditor.dumps_at_hand import audited

WAITED = """
brokers: [1, 2, 3]
version: "2.8.2"
inter-broker-protocol: "2.8"
events: [produce 1 a, fetch 3, fetch 3, produce 1 b(2) acks=0, wait 1s, shutdown 2, crash 1, fence 1, wait 1s,
  restart 1, fetch 1, fetch 1]
"""
"""acks=all is answered when a new epoch begins without broker 2: its batch ended before the next one's."""
SHRUNK = """
brokers: [1, 2, 3]
version: "1.1.1"
inter-broker-protocol: "1.1"
epoch: 5
events: [produce 1 r1(7), fetch 3, fetch 3, shrink 2, wait 31s, fetch 3]
"""
LOST_ITS_PAGES = """
brokers: [1, 2]
version: "2.5.1"
inter-broker-protocol: "2.5"
epoch: 5
events: [produce 1 r4(6), fetch 2, fetch 2, crash 1, lose 1 to 4, restart 1]
"""
LEADS_AGAIN = """
brokers: [1, 2, 3]
version: "1.1.1"
inter-broker-protocol: "1.1"
events: [produce 1 a(5), fetch 2, fetch 3, fetch 2, fetch 3, wait 1s, elect 2, produce 2 b, fetch 3, fetch 1, fetch 3,
  fetch 1, wait 1s, crash 2, restart 2, fetch 1, fetch 3, fetch 1, fetch 3, wait 1s, produce 2 c, fetch 1, fetch 3,
  fetch 1, fetch 3]
"""


@pytest.mark.parametrize(
    ("script", "log", "left", "rule"),
    [
        (WAITED, "", r"", "LEAD001"),
        # A znode tells the ISR of which the leader's log lost the line.
        (SHRUNK, "broker-1/logs/server.log", r"^(?!.*Shrinking).*\n", "ISR001"),
        # Logs that end before a restart: the disk is of another time, and the high watermark may have fallen.
        (LOST_ITS_PAGES, "broker-1/logs/server.log", r"\A(?:.*\n){11}", "HW003"),
        (LEADS_AGAIN, "broker-2/logs/server.log", r"\A(?:.*\n){11}", "HW006"),
    ],
)
def test_it_accuses_nobody(script: str, log: str, left: str, rule: str, tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(f"title: misread\n{script}", encoding="utf-8")
    write_dump(run(read_script(tmp_path / "script.yaml")), tmp_path / "dump")
    if log:
        place = tmp_path / "dump" / log
        place.write_text("".join(re.findall(left, place.read_text(encoding="utf-8"), re.MULTILINE)), encoding="utf-8")
    assert rule not in {finding.rule for finding in audited(tmp_path / "dump").violations}
