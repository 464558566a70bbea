"""Logs that lack lines amid them are not whole: what may have stood there keeps a verdict open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from auditor.report.model import AuditReport
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.finding import Finding, Severity
from rules.simulator.run_rows import run
from tests.auditor.dumps_at_hand import audited, copied

Keeps = Callable[[str], bool]
HEAD: Final = """
title: "records of the second of two leads are cut"
brokers: [1, 2]
version: "3.2.0"
inter-broker-protocol: "3.2"
topic: {min.insync.replicas: 1}
events:
"""
LED_TWICE: Final = """
  - produce 1 a acks=1
  - fetch 2
  - fetch 2
  - wait 1s
  - elect 2
  - fetch 1
  - produce 2 b acks=1
  - fetch 1
  - fetch 1
  - wait 1s
  - elect 2
  - fetch 1
  - wait 1s
  - produce 2 c acks=1
  - produce 2 d acks=1
  - wait 1s
  - elect 1
  - fetch 2
  - fetch 2
  - wait 1s
  - produce 1 e acks=1
  - fetch 2
  - fetch 2
  - wait 1s
  - fetch 2
"""
LED_LONG_AGO: Final = """
  - wait 1s
  - elect 2
  - fetch 1
  - produce 2 c acks=1
  - produce 2 d acks=1
  - wait 1s
  - elect 1
  - fetch 2
  - fetch 2
  - wait 3600s
  - elect 1
  - fetch 2
  - produce 1 e acks=1
  - fetch 2
  - fetch 2
  - wait 1s
  - fetch 2
"""
LOST: Final = {2, 3}
LEAD_2_BEGINS, LEAD_2_WRITES, AN_HOUR_LATER = "12:26:42", "12:26:43", "13:26"


def accused(report: AuditReport) -> list[Finding]:
    """What a report holds against replicas; what is information alone accuses nobody."""
    return [finding for finding in report.violations if finding.severity > Severity.INFO]


def written(folder: Path, script: str) -> Path:
    told = folder / "script.yaml"
    told.write_text(HEAD.rstrip() + script)
    write_dump(run(read_script(told)), folder / "dump")
    return folder / "dump"


def without(dump: Path, logs: str, gone: Keeps) -> AuditReport:
    """The audit of what is left where some lines of some logs were not copied."""
    paths = sorted(dump.glob(logs))
    assert paths
    for path in paths:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not gone(line)))
    return audited(dump)


def test_the_whole_tells_what_was_lost(tmp_path: Path) -> None:
    report = audited(written(tmp_path, LED_TWICE))
    found = [set(range(f.start_offset or 0, f.end_offset or 0)) for f in report.violations if f.rule == "ACK001"]
    assert found == [LOST]


def test_a_role_that_others_show_amid_a_log_is_a_hole_in_it(tmp_path: Path) -> None:
    """Broker 1 followed broker 2 in epoch 2, and broker 2 names that epoch as its former one when it follows again."""
    dump = written(tmp_path, LED_TWICE)
    report = without(dump, "broker-2/logs/[ks]*.log", lambda line: LEAD_2_BEGINS in line or LEAD_2_WRITES in line)
    assert (report.verdict, accused(report), report.coverage.scope.holed) == ("unknown", [], (2,))
    partly = audited(dump, partial=True)
    assert partly.verdict == "unknown"  # what broker 2 answered in that lead is asked for


def test_a_role_that_its_broker_alone_names_is_a_hole_in_its_log(tmp_path: Path) -> None:
    dump = written(tmp_path, LED_TWICE)
    report = without(dump, "broker-*/logs/[ks]*.log", lambda line: LEAD_2_BEGINS in line or LEAD_2_WRITES in line)
    assert (report.verdict, accused(report), report.coverage.scope.holed) == ("unknown", [], (1, 2))


def test_records_of_which_their_leaders_log_tells_no_produce_are_asked_for(tmp_path: Path) -> None:
    """All roles are told, and broker 2's log ended at 4: two records of epoch 2 stood there that nobody sent."""
    dump = written(tmp_path, LED_TWICE)
    report = without(dump, "broker-2/logs/kafka-request.log", lambda line: LEAD_2_WRITES in line)
    assert (report.verdict, accused(report)) == ("unknown", [])
    asked = [set(range(f.start_offset or 0, f.end_offset or 0)) for f in report.findings if f.blocking]
    assert asked == [LOST]


def test_a_first_role_that_names_a_former_one_is_not_the_beginning(tmp_path: Path) -> None:
    """All logs begin an hour after two records were lost. No disk and no line tells of them."""
    report = without(written(tmp_path, LED_LONG_AGO), "broker-*/logs/*.log", long_ago)
    assert (report.verdict, report.coverage.scope.before_logs) == ("clean", 1)
    assert "as far as disks tell before broker logs begin (1 partition)" in report.coverage.scope.words


def test_a_broker_whose_logs_begin_later_than_anothers_keeps_the_verdict_open(tmp_path: Path) -> None:
    """Broker 1's logs are whole. Broker 2 names epoch 2, in which it was cut, and tells nothing of it."""
    report = without(written(tmp_path, LED_LONG_AGO), "broker-2/logs/*.log", long_ago)
    assert (report.verdict, accused(report), report.coverage.scope.begun_late) == ("unknown", [], (2,))


def long_ago(line: str) -> bool:
    """A process says at its start alone which release it is."""
    return AN_HOUR_LATER not in line and "Kafka version" not in line


def without_middle(dump: Path, logs: str) -> None:
    """The middle third of some logs is not copied, as a file of several between which they were rotated."""
    for path in dump.glob(logs):
        lines = path.read_bytes().splitlines(keepends=True)
        third = len(lines) // 3
        path.write_bytes(b"".join([*lines[:third], *lines[-third:]]))


@pytest.mark.parametrize(
    ("name", "logs"),
    [
        ("clean_4x", "broker-*/logs/kafka-request.log"),
        pytest.param("clean_2_8", "broker-2/logs/kafka-request.log", marks=pytest.mark.slow),
    ],
)
def test_numbers_of_fetches_prove_that_lines_are_missing_amid_a_request_log(
    name: str, logs: str, tmp_path: Path
) -> None:
    dump = copied(name, tmp_path / "dump", logs=True)
    assert audited(dump, topic=("short",)).verdict == "clean"
    holed = tuple(int(path.parts[-3][-1]) for path in sorted(dump.glob(logs)))
    without_middle(dump, logs)
    report = audited(dump, topic=("short",))
    assert (report.verdict, accused(report), report.coverage.scope.requests_holed) == ("unknown", [], holed)
    partly = audited(dump, topic=("short",), partial=True)
    assert partly.verdict == "clean"
    assert "without all lines of the request logs of broker" in partly.coverage.scope.words
