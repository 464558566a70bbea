"""What an audit by the Spark engine costs on this machine: wall time, bytes shuffled, memory of the driver.

    python -m tests.benchmarks.spark_audit [--size MIB] [--batch BYTES] [--sample NAME] [--partitions COUNT]
    python -m tests.benchmarks.spark_audit --cluster PARTITIONS

First the whole command on a recorded incident, as a user runs it. Then an audit of a generated dump of three equal
replicas, in a process of its own; Spark's event log says what was shuffled, the system what the driver held. On
one machine the driver's JVM runs the tasks too. A cluster has many small partitions and all the logs of its brokers:
300 partitions are a small one, 1500 a large one. It is audited by both engines, whose reports must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import numpy.typing as npt

from parsers.writers.segments import batch_bytes
from tests.benchmarks.cluster_dump import write_cluster

MIB = 1 << 20
REPLICAS = 3
TEMPLATES = 512
RECORD_BYTES = 160
ROOT = Path(__file__).resolve().parents[2]


def write_dump(folder: Path, size: int, batch_size: int, partitions: int = 1) -> int:
    """Three brokers with the same logs of some partitions, about `size` bytes together; the bytes of segments."""
    written = 0
    for broker in range(1, REPLICAS + 1):
        log_dir = folder / f"broker-{broker}"
        for partition in range(partitions):
            replica = log_dir / f"pay-{partition}"
            replica.mkdir(parents=True)
            written += write_segment(replica / f"{0:020}.log", size // REPLICAS // partitions, batch_size)
            (replica / "leader-epoch-checkpoint").write_text("0\n1\n3 0\n")
        (log_dir / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        marks = "".join(f"pay {partition} 0\n" for partition in range(partitions))
        (log_dir / "replication-offset-checkpoint").write_text(f"0\n{partitions}\n{marks}")
    return written


def write_segment(path: Path, size: int, batch_size: int) -> int:
    """A segment of about `size` bytes, every batch full of records of everyday size; the same bytes each time."""
    records = max(1, batch_size // RECORD_BYTES)
    count = min(TEMPLATES, max(1, size // batch_size))
    block = templates(batch_size, records)[:count].copy()
    written = 0
    with path.open("wb") as file:
        while written < size:
            # The base offset lies outside the checksum, so that one set of batches serves for the whole file.
            first = written // batch_size
            bases = np.arange(first, first + count, dtype=">i8") * records
            block[:, :8] = bases.astype(">i8").view(np.uint8).reshape(count, 8)
            written += file.write(block.tobytes())
    return written


@cache
def templates(batch_size: int, records: int) -> npt.NDArray[np.uint8]:
    """Sound batches, a row each."""
    generator = np.random.default_rng(batch_size)
    batches = [
        batch_bytes(
            base_offset=0,
            leader_epoch=3,
            payload=generator.bytes(batch_size - 61),
            record_count=records,
            last_offset_delta=records - 1,
        )
        for _ in range(TEMPLATES)
    ]
    return np.frombuffer(b"".join(batches), dtype=np.uint8).reshape(TEMPLATES, batch_size)


def whole_command(dump: Path) -> float:
    """Seconds of the default audit of a dump, from the shell's point of view."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "auditor.cli", "audit", str(dump), "-q", "--format", "json", "--exit-zero"]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def audited(dump: Path, events: Path) -> None:
    """Audit in this process with Spark's event log on, and print what it took."""
    from pyspark.sql import SparkSession

    from auditor.audit import audit
    from auditor.config import AuditConfig
    from spark_jobs.session import build_session

    # Read by the JVM when it starts, so that the session is otherwise the tool's own.
    os.environ["SPARK_CONF_DIR"] = str(events)
    build_session("tidemark benchmark", "local[2]")
    begin = time.perf_counter()
    report = audit(dump, AuditConfig(engine="spark"))
    seconds = time.perf_counter() - begin
    session = SparkSession.getActiveSession()
    gateway = session.sparkContext._jvm if session else None
    if session is None or gateway is None:
        raise SystemExit("the engine left no session behind")
    told = {
        "seconds": seconds,
        "verdict": report.verdict,
        "batches": report.coverage.batches,
        "driver": peak_memory(os.getpid()),
        "jvm": peak_memory(gateway.java.lang.ProcessHandle.current().pid()),
    }
    session.stop()
    print(json.dumps(told))


def peak_memory(process: int) -> int:
    """The most bytes that a process has held at once."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this system does not tell VmHWM")


def shuffled(events: Path) -> tuple[int, int, int]:
    """Bytes written to shuffles, jobs and tasks run, from Spark's event log."""
    written = jobs = tasks = 0
    for path in sorted(events.rglob("*")):
        if not path.is_file() or path.suffix == ".conf":
            continue
        for line in path.read_text(errors="replace").splitlines():
            jobs += line.startswith('{"Event":"SparkListenerJobStart"')
            if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                metrics = json.loads(line).get("Task Metrics") or {}
                written += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                tasks += 1
    return written, jobs, tasks


def on_spark(dump: Path, events: Path, written: int) -> None:
    """Audit a dump of so many bytes by Spark, in a process of its own, and print what it took."""
    events.mkdir()
    settings = f"spark.eventLog.enabled true\nspark.eventLog.compress false\nspark.eventLog.dir {events.as_uri()}\n"
    (events / "spark-defaults.conf").write_text(settings)
    command = [sys.executable, "-m", "tests.benchmarks.spark_audit", "--inside", str(dump), str(events)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    shuffle, jobs, tasks = shuffled(events)
    print(f"  verdict {told['verdict']} on {told['batches']}")
    print(f"  audit {told['seconds']:.1f} s beside the session's start, {jobs} jobs, {tasks} tasks")
    print(f"  shuffled {shuffle} B, {shuffle / written:.4%} of the logs")
    print(f"  driver peak {told['driver'] / MIB:.0f} MiB in Python, {told['jvm'] / MIB:.0f} MiB in the JVM")


def generated(size: int, batch_size: int, partitions: int) -> None:
    """Audit a generated dump and print what it took."""
    with tempfile.TemporaryDirectory(prefix="tidemark-benchmark-") as folder:
        written = write_dump(Path(folder, "dump"), size, batch_size, partitions)
        print(f"{written / MIB:.0f} MiB of {partitions} partitions in {batch_size} B batches")
        on_spark(Path(folder, "dump"), Path(folder, "events"), written)


def of_a_cluster(partitions: int) -> None:
    """Audit a cluster by both engines, and print what it took."""
    with tempfile.TemporaryDirectory(prefix="tidemark-benchmark-") as folder:
        dump = Path(folder, "dump")
        written = write_cluster(dump, partitions)
        print(f"a cluster of {partitions} partitions, {written / MIB:.0f} MiB of logs")
        on_spark(dump, Path(folder, "events"), written)
        begin, used = time.perf_counter(), getrusage(RUSAGE_CHILDREN).ru_utime
        local = report_of(dump, "local")
        cores = getrusage(RUSAGE_CHILDREN).ru_utime - used
        print(f"  local engine: {time.perf_counter() - begin:.1f} s, {cores:.1f} s of the processor")
        print(f"  reports {'are the same' if local == report_of(dump, 'spark') else 'DIFFER'}")


def report_of(dump: Path, engine: str) -> str:
    """The document that the command writes; it does not name the engine."""
    command = [sys.executable, "-m", "auditor.cli", "audit", str(dump), "-q", "--format", "json", "--exit-zero"]
    done = subprocess.run([*command, "--engine", engine], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout


def main() -> None:
    """Parse the options and measure."""
    parser = argparse.ArgumentParser(description="Measure audits by the Spark engine.")
    parser.add_argument("--size", type=int, default=1024, help="MiB of segments")
    parser.add_argument("--batch", type=int, default=16 * 1024, help="bytes a batch")
    parser.add_argument("--partitions", type=int, default=1, help="among which the segments are divided")
    parser.add_argument("--cluster", type=int, metavar="PARTITIONS", help="a cluster with all its logs instead")
    parser.add_argument("--sample", default="fast_failover_kip101")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        audited(*options.inside)
    elif options.cluster:
        of_a_cluster(options.cluster)
    else:
        print(f"{options.sample}: {whole_command(ROOT / 'sample_logs' / options.sample / 'dump'):.1f} s whole process")
        generated(options.size * MIB, options.batch, options.partitions)


if __name__ == "__main__":
    main()
