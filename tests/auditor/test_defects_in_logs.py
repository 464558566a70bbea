"""Known defects as the lines of real releases tell them, from a broker's log to the finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig

FETCHER = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
ROUND = (
    "INFO " + FETCHER + "Based on replica's leader epoch, leader replied with epoch 3 unknown to the replica for t-0."
    " Will truncate to 20 and send another leader epoch request to the leader."
)
EXIT = (
    "FATAL " + FETCHER + "Exiting because log truncation is not allowed for partition t-0, current leader's latest"
    " offset 40 is less than replica's latest offset 60"
)
FOLLOWS = (
    "INFO [Broker id=2] Follower t-0 starts at leader epoch 1 from offset 60 with high watermark 60."
    " Current leader is 1. Previous leader epoch was 0."
)
CUT = "INFO [UnifiedLog partition=t-0, dir=/d] Truncating to offset 40"
WARNING = "WARN [UnifiedLog partition=t-0, dir=/d] Truncating t-0 to offset 40 below high watermark 60"


@pytest.mark.parametrize(
    ("release", "lines", "defects"),
    [
        ("2.6.0", [ROUND] * 3, ["KAFKA-10706"]),
        ("2.6.0", [ROUND] * 2, []),
        ("2.6.1", [ROUND] * 3, []),
        ("1.1.1", [EXIT], ["KAFKA-7414"]),
        ("2.0.1", [EXIT], []),
        ("3.9.1", [FOLLOWS, CUT], ["KAFKA-19474"]),
        ("3.9.1", [FOLLOWS, WARNING, CUT], []),
        ("4.2.0", [FOLLOWS, CUT], []),
    ],
)
def test_lines_tell_a_defect(release: str, lines: list[str], defects: list[str], tmp_path: Path) -> None:
    log = tmp_path / "broker-2" / "logs" / "server.log"
    log.parent.mkdir(parents=True)
    told = [f"INFO Kafka version: {release}", *lines]
    log.write_text("".join(f"[2026-01-02 10:00:0{at},000] {line} (kafka.log.Log)\n" for at, line in enumerate(told)))
    report = audit(tmp_path, AuditConfig(engine="local"))
    found = [finding.values()["defect"] for finding in report.violations if finding.rule == "BUG001"]
    assert found == defects
