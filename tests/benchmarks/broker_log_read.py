"""How fast logs become events, in megabytes a second of one core: `python tests/benchmarks/broker_log_read.py [MB]`.

The recorded logs, joined and repeated, are dense: every broker starts and stops every few seconds, a third of the text
is settings. The log of a broker at work has a line in ten that is an event: the others are rebalances, cleaning,
connections that break with their stack traces, and now and then a block of some client's settings.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

from auditor.engines.uncollected import uncollected
from parsers.broker_log import Reading, read_log
from parsers.provenance import Origin

SAMPLES = Path(__file__).parents[2] / "sample_logs"


def recorded_logs() -> bytes:
    """All recorded server, state-change and controller logs, one behind the other."""
    paths = sorted(path for path in SAMPLES.glob("*/dump/*/logs/*.log") if "request" not in path.name)
    return b"".join(path.read_bytes() for path in paths)


STAMP = b"[2026-11-21 05:25:18,155] "
NOISE = tuple(
    STAMP + b"INFO " + line + b"\n"
    for line in (
        b"[GroupCoordinator 1]: Preparing to rebalance group g in state Stable with old generation 4711 (kafka.Group)",
        b"[GroupCoordinator 1]: Stabilized group g generation 4712 (__consumer_offsets-7) with 3 members (kafka.Group)",
        b"[LocalLog partition=orders-7, dir=/d] Deleting segment files LogSegment(baseOffset=81, size=1048402) (Log)",
        b"Cleaner 0: Cleaning LogSegment(baseOffset=0, size=1048402) in log __consumer_offsets-7 into 0 (Log)",
        b"[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Node 2 disconnected. (org.apache.kafka.NetworkClient)",
        b"[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Connection to node 2 could not be made. (Client)",
        b"[SocketServer listenerType=ZK_BROKER, nodeId=1] Failed authentication with /10.0.0.9 (SSL failed) (Selector)",
        b"[ProducerStateManager partition=orders-7] Cleaned up 4 expired producers (kafka.log.ProducerStateManager)",
    )
)
TRACE = STAMP + b"ERROR [KafkaApi-1] Unexpected error handling request (kafka.server.KafkaApis)\njava.io.IOException\n"
TRACE += b"\tat java.base/sun.nio.ch.SocketDispatcher.write(SocketDispatcher.java:62)\n" * 25
CLIENT = STAMP + b"INFO ProducerConfig values: \n" + b"\tmetric.reporters = []\n" * 60


def at_work(logs: bytes) -> bytes:
    """The entries of logs among what else a broker writes."""
    entries = [line for line in logs.splitlines(keepends=True) if line.startswith(b"[2026")]
    written: list[bytes] = []
    for place, line in enumerate(entries):
        written += [line, *(NOISE[(place + step) % len(NOISE)] for step in range(5))]
        if place % 20 == 0:
            written.append(TRACE)
        if place % 200 == 0:
            written.append(CLIENT)
    return b"".join(written)


def measure(name: str, data: bytes, *, settings: bool) -> None:
    """Reads a log, and prints its size, its events and the speed."""
    megabytes, reading = len(data) / 1e6, Reading(origin=Origin(source="server.log"), settings=settings)
    began = time.process_time()
    # As an audit reads: nothing looks for circles meanwhile.
    with uncollected():
        events = sum(part.events.num_rows for part in read_log(io.BytesIO(data), reading))
    speed = megabytes / (time.process_time() - began)
    print(f"{name:30} {megabytes:6.0f} MB {events / megabytes:6.0f} events/MB {speed:6.1f} MB/s")


if __name__ == "__main__":
    size = int(sys.argv[1] if len(sys.argv) > 1 else "200") * 1_000_000
    logs = recorded_logs()
    dense, working = logs * (size // len(logs) + 1), at_work(logs)
    measure("recorded, events", dense, settings=False)
    measure("recorded, events and settings", dense, settings=True)
    measure("a broker at work", working * (size // len(working) + 1), settings=True)
