"""Memory that runs out has a code and a sentence of its own, in this process and in an executor."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.engines import reading
from auditor.engines.spark.job import explained
from auditor.exit_codes import ExitCode
from auditor.floors import LEAST_ADDRESS_SPACE
from tests.auditor.command import run
from tests.auditor.dumps_at_hand import ROOT, SAMPLES

DUMP = SAMPLES / "lost_pages_hw" / "dump"
MIB = 1 << 20


@pytest.mark.parametrize("limit", [300, 400, 1000])
def test_a_limit_that_libraries_would_abort_at_is_told_before(limit: int) -> None:
    command = [sys.executable, "-m", "auditor.cli", "audit", str(DUMP), "--engine", "local"]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * MIB, limit * MIB)),
    )
    assert (ended.returncode, ended.stdout) == (ExitCode.OUT_OF_MEMORY, "")
    needs = f"tidemark: out of memory: this process may take {limit} MiB of address space, and needs"
    assert ended.stderr.startswith(f"{needs} {LEAST_ADDRESS_SPACE // MIB}; raise its limit (ulimit -v")


def test_memory_that_ends_amid_an_audit_is_no_file_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_given: object, **_named: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reading, "fold", exhausted)
    ended = run("audit", str(DUMP), "--engine", "local")
    assert (ended.code, ended.out) == (ExitCode.OUT_OF_MEMORY, "")
    assert ended.err.startswith("tidemark: out of memory: none was left; raise its limit")


@pytest.mark.parametrize(
    "told",
    [
        "Traceback (most recent call last):\n  File x\nMemoryError: this process may take 400 MiB",
        "Traceback (most recent call last):\n  File x\npyarrow.lib.ArrowMemoryError: malloc of size 64 failed",
        "Job aborted: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
        "java.lang.OutOfMemoryError: Java heap space",
    ],
)
def test_a_task_that_ran_out_of_memory_says_so(told: str) -> None:
    error = explained(RuntimeError(told), "dump")
    assert isinstance(error, MemoryError)
    assert str(error).startswith("in a Spark task: ")


@pytest.mark.slow
@pytest.mark.spark
def test_an_executor_of_too_little_memory_is_told(tmp_path: Path) -> None:
    job = ["spark_jobs/audit_job.py", str(DUMP), "--output", str(tmp_path / "report.txt")]
    limited = {"PYSPARK_SUBMIT_ARGS": "--conf spark.executor.pyspark.memory=400m pyspark-shell"}
    import os

    ended = subprocess.run(
        [sys.executable, *job],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **limited, "PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode == ExitCode.OUT_OF_MEMORY, ended.stderr[-2000:]
    assert "tidemark: out of memory: in a Spark task: this process may take 400 MiB" in ended.stderr
