"""A run that is stopped tells what it knew by then, and says that it is not all."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dumps_at_hand import ROOT, SAMPLES

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.engines.progress import Progress
from auditor.report.model import AuditReport
from auditor.report.terminal import render
from auditor.stopping import listen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEGMENT = SAMPLES / "fast_failover_kip101/dump/broker-1/data/ff-0/00000000000000000000.log"
PARTITIONS = 1200


def many_partitions(to: Path, count: int) -> Path:
    content = SEGMENT.read_bytes()
    for number in range(count):
        folder = to / f"broker-1/data/t-{number}"
        folder.mkdir(parents=True)
        (folder / SEGMENT.name).write_bytes(content)
    return to


class StoppedAfter(Progress):
    def __init__(self, partitions: int) -> None:
        self.left = partitions

    def partition(self, topic: str | None, partition: int | None) -> None:
        super().partition(topic, partition)
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1


@pytest.mark.parametrize("partitions", [0, 1, 5])
def test_a_stopped_audit_reports_what_it_judged(tmp_path: Path, partitions: int) -> None:
    dump = many_partitions(tmp_path, 8)
    report = audit(dump, AuditConfig(engine="local"), StoppedAfter(partitions))
    assert (report.interrupted, report.exit_code, report.verdict) == (True, 130, "unknown")
    assert len(report.replicas) == partitions
    assert report.coverage.ratio == partitions / 8
    text = render(report)
    assert text.startswith("UNKNOWN")
    assert "what was known by then" in text


def test_a_whole_audit_of_the_same_is_not_interrupted(tmp_path: Path) -> None:
    report = audit(many_partitions(tmp_path, 8), AuditConfig(engine="local"), StoppedAfter(8))
    assert not report.interrupted
    assert len(report.replicas) == 8


@pytest.mark.slow
def test_ctrl_c_prints_what_is_known_and_ends_with_130(tmp_path: Path) -> None:
    dump = many_partitions(tmp_path / "dump", PARTITIONS)
    # Whoever runs the tests may ignore the signal, as in the background.
    heeding = ("env", "--default-signal=INT", sys.executable)
    command = [*heeding, "-m", "auditor.cli", "audit", str(dump), "--engine", "local", "--format", "json"]
    watched, shown = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "120"}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=shown, env=environment) as process:
        os.close(shown)
        wait_for(watched, rf"[1-9]\d* of {PARTITIONS} replicas")
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        report = json.loads(process.stdout.read())
    os.close(watched)
    assert process.returncode == 130
    assert report["exitCode"] == 130
    assert report["interrupted"] is True
    assert 0 < len(report["replicas"]) < PARTITIONS


def test_a_stopped_spark_job_reports_what_its_tasks_judged(tmp_path: Path, spark: SparkSession) -> None:
    from auditor.engines.spark.engine import JUDGES_A_CORE

    dump = many_partitions(tmp_path, 500)
    judges = JUDGES_A_CORE * spark.sparkContext.defaultParallelism
    tracker = spark.sparkContext.statusTracker()

    def stop_when_some_tasks_have_judged(over: threading.Event) -> None:
        while not over.is_set():
            stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
            if any(info and info.numTasks == judges and 0 < info.numCompletedTasks < judges - 1 for info in stages):
                os.kill(os.getpid(), signal.SIGINT)
                return
            time.sleep(0.002)

    def stopped_audit() -> AuditReport:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # Ignored where the tests run in the background.
        listen()  # As the command line does: the run before has told its report, and a stop would wait for that.
        over = threading.Event()
        watcher = threading.Thread(target=stop_when_some_tasks_have_judged, args=(over,), daemon=True)
        watcher.start()
        try:
            return audit(dump, AuditConfig(engine="spark"))
        finally:
            over.set()
            watcher.join(timeout=10)

    # On a busy machine all tasks may end between two looks at them; then the run is whole, and is tried again.
    tries = (stopped_audit() for _ in range(4))
    report = next((told for told in tries if told.interrupted), None)
    assert report is not None
    assert (report.interrupted, report.exit_code) == (True, 130)
    assert 0 < len(report.replicas) < 500
    whole = {placed.partition: placed for placed in audit(dump, AuditConfig(engine="local")).replicas}
    assert all(placed == whole[placed.partition] for placed in report.replicas)


def wait_for(terminal: int, pattern: str) -> None:
    """Until the progress shows it."""
    seen = b""
    while not re.search(pattern.encode(), seen):
        seen += os.read(terminal, 1024)
