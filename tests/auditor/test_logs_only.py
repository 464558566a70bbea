"""What brokers' logs alone tell, where no disk was brought along."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES, audited, told, violations

from auditor.config import ConfigError
from auditor.report.postmortem.document import render


def logs_of(sample: str, home: Path) -> Path:
    """The log folders of a recorded incident, without a byte of its disks."""
    for folder in (SAMPLES / sample / "dump").glob("broker-*/logs"):
        shutil.copytree(folder, home / folder.parent.name / "logs")
    return home


def test_an_unclean_election_and_its_loss_are_told_by_logs_alone(tmp_path: Path) -> None:
    report = told(logs_of("unclean_rejoined", tmp_path / "dump"))
    found = {(rule, start, end) for rule, _, _, _, start, end in violations(report)}
    assert {("LEAD001", 100, 150), ("ACK001", 100, 150), ("TRUNC001", 100, 150)} <= found
    assert report["replicas"] == []
    coverage = report["coverage"]
    assert (coverage["brokers"], coverage["partitions"], coverage["bytesSeen"]) == (3, 1, 0)


def test_where_no_disk_is_here_nobody_says_what_the_disks_hold(tmp_path: Path) -> None:
    page = render(audited(logs_of("unclean_rejoined", tmp_path / "dump")))
    (billed,) = (line for line in page.splitlines() if line.startswith("| pay-0 | 100–149"))
    assert billed.endswith("| not known | not known |")


def test_logs_of_a_healthy_cluster_alone_give_no_verdict_of_soundness(tmp_path: Path) -> None:
    report = told(logs_of("bit_rot_payload", tmp_path / "dump"))
    assert {finding["severity"] for finding in report["findings"]} <= {"info", "low"}
    assert (report["verdict"], report["exitCode"]) == ("unknown", 3)


def test_a_topic_that_no_log_names_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nosuch"):
        told(logs_of("unclean_rejoined", tmp_path / "dump"), topic=("nosuch",))


def test_logs_of_nobody_are_no_dump(tmp_path: Path) -> None:
    dump = logs_of("unclean_rejoined", tmp_path / "dump")
    shutil.move(dump / "broker-1" / "logs" / "kafka-request.log", dump / "kafka-request.log")
    for folder in dump.glob("broker-*"):
        shutil.rmtree(folder)
    with pytest.raises(ConfigError, match="names its broker"):
        told(dump)
