"""The audit by spark-submit on a real standalone cluster: a master, a worker, an executor, all on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.java import use_java
from auditor.report.json import render

ROOT = Path(__file__).resolve().parents[2]
JOB = ROOT / "spark_jobs" / "audit_job.py"
SPARK_BIN = Path(pyspark.__file__).parent / "bin"
PATIENCE = 600
"""Seconds in which a daemon or a job that is starved of processors is still believed to come."""
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master with one worker."""
    use_java()
    folder = tmp_path_factory.mktemp("cluster")
    with daemon(folder, "Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0") as master:
        address = wait_for(*master, r"spark://127\.0\.0\.1:[1-9]\d*(?=\s)")
        wait_for(*master, "I have been elected leader")
        worker_options = ("--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "1g", "-d", str(folder / "work"))
        with daemon(folder, "Worker", *worker_options, address) as worker:
            wait_for(*worker, "Successfully registered with master")
            yield address


@contextmanager
def daemon(folder: Path, name: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """One daemon of Spark with its log; it and its executors are gone afterwards."""
    log = folder / f"{name}.log"
    command = [str(SPARK_BIN / "spark-class"), f"org.apache.spark.deploy.{name.lower()}.{name}", *arguments]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment(), start_new_session=True)
    try:
        yield process, log
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def environment() -> dict[str, str]:
    """A shell's environment on a node: no session of this test run shines through, and nothing finds our packages."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK", "PYTHONPATH"))
    }
    ours = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_JAVA_OPTS": QUICK_START}
    return inherited | ours


def wait_for(daemon: subprocess.Popen[bytes], log: Path, words: str) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and daemon.poll() is None:
        if told := re.search(words, log.read_text(errors="replace")):
            return told[0]
        time.sleep(0.1)
    pytest.fail(f"{log.name} did not say {words!r}:\n{log.read_text(errors='replace')[-2000:]}")


def submit(address: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the job from a folder that is not the repository."""
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": QUICK_START,
    }
    command = [str(SPARK_BIN / "spark-submit"), "--master", address, "--driver-java-options", QUICK_START]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += [str(JOB), *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.spark
def test_the_report_of_a_cluster_is_the_report_of_the_command_line(
    cluster: str, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    dump = sample("fast_failover_kip101")
    output = tmp_path / "report.json"
    done = submit(cluster, tmp_path, str(dump), "--format", "json", "--output", str(output))
    expected = render(audit(dump, AuditConfig(engine="local")))
    assert output.exists(), done.stderr[-3000:]
    assert output.read_text() == expected
    assert done.returncode == json.loads(expected)["exitCode"]


@pytest.mark.spark
def test_what_cannot_run_ends_with_one_sentence_and_its_code(cluster: str, tmp_path: Path) -> None:
    done = submit(cluster, tmp_path, str(tmp_path / "nothing"))
    # spark-submit prints what a Python job says on stderr to its own stdout.
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("tidemark:")]
    assert done.returncode == 2
    assert len(said) == 1
    assert "found nothing" in said[0]


def test_the_engine_cannot_be_chosen_where_spark_runs_already(tmp_path: Path) -> None:
    command = [sys.executable, str(JOB), str(tmp_path), "--engine=local"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--engine" in done.stderr
