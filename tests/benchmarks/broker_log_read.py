"""How fast logs become events, in megabytes a second of one core: `python tests/benchmarks/broker_log_read.py [MB]`.

The recorded logs, joined and repeated, are dense: every broker starts and stops every few seconds, a third of the text
is settings. The thinned log is one of a broker at work: ten lines of another kind behind each of theirs.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

from parsers.broker_log import Reading, read_log
from parsers.provenance import Origin

SAMPLES = Path(__file__).parents[2] / "sample_logs"


def recorded_logs() -> bytes:
    """All recorded server, state-change and controller logs, one behind the other."""
    paths = sorted(path for path in SAMPLES.glob("*/dump/*/logs/*.log") if "request" not in path.name)
    return b"".join(path.read_bytes() for path in paths)


def thinned(logs: bytes, others: int) -> bytes:
    """The entries of logs with so many lines of a group coordinator between them."""
    other = b"[2026-11-21 05:25:18,155] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state Stable with "
    other += b"old generation 4711 (__consumer_offsets-7) (reason: Adding new member) (kafka.coordinator.group.Group)\n"
    entries = [line for line in logs.splitlines(keepends=True) if line.startswith(b"[2026")]
    return b"".join(line + other * others for line in entries)


def measure(name: str, data: bytes, *, settings: bool) -> None:
    """Reads a log once and prints its size, its events and the speed."""
    reading = Reading(origin=Origin(source="server.log"), settings=settings)
    began = time.process_time()
    events = sum(part.events.num_rows for part in read_log(io.BytesIO(data), reading))
    took = time.process_time() - began
    megabytes = len(data) / 1e6
    print(f"{name:30} {megabytes:6.0f} MB {events / megabytes:6.0f} events/MB {megabytes / took:6.1f} MB/s")


if __name__ == "__main__":
    size = int(sys.argv[1] if len(sys.argv) > 1 else "200") * 1_000_000
    logs = recorded_logs()
    dense, sparse = logs * (size // len(logs) + 1), thinned(logs, 10)
    measure("recorded, events", dense, settings=False)
    measure("recorded, events and settings", dense, settings=True)
    measure("one event line in some thirty", sparse * (size // len(sparse) + 1), settings=False)
