"""A node's journal as its log files: what it printed, and the requests that it answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from auditor.simulation.journal_rows import Journal
from auditor.simulation.writing_place import CONTROLLER, StatementStamp
from parsers.tables import BrokerEvent
from parsers.writers.broker_log import event_line, start_lines
from parsers.writers.request_log import request_line
from rules.simulator.generation import Generation
from rules.simulator.state import Cluster, lag_limit, may_elect_unclean


def write_logs(journal: Journal, folder: Path, generation: Generation, first: Cluster) -> None:
    """Writes the logs; a node's appenders open their files when it starts, whether or not anything comes."""
    folder.mkdir(parents=True)
    release = generation.binary.release
    events = [(_time(row), event_line(row, release)) for row in journal.server]
    starts = [] if journal.node == CONTROLLER else list(_starts(journal, generation, first))
    _write(folder / "server.log", (line for _, line in sorted([*starts, *events], key=lambda pair: pair[0])))
    _write(folder / "state-change.log", (event_line(row, release) for row in journal.state_change))
    requests = groupby(journal.requests, key=lambda row: (type(row), row.correlation_id))
    _write(folder / "kafka-request.log", (request_line(tuple(rows), release) for _, rows in requests))


def _time(row: BrokerEvent) -> str:
    return row.time_text or ""


def _write(path: Path, lines: Iterable[bytes]) -> None:
    path.write_bytes(b"".join(lines))


def _starts(journal: Journal, generation: Generation, first: Cluster) -> Iterator[tuple[str, bytes]]:
    """What the broker's process printed whenever it started: its own settings, which a topic's may differ from."""
    broker = next(found for found in first.brokers if found.id == journal.node)
    identity = "node.id" if generation.kraft else "broker.id"
    settings = {
        identity: str(journal.node),
        "inter.broker.protocol.version": str(generation.spoken),
        "min.insync.replicas": str(first.settings.min_insync_replicas),
        "replica.lag.time.max.ms": str(lag_limit(first, broker)),
        "unclean.leader.election.enable": str(may_elect_unclean(first, broker)).lower(),
    }
    metadata_version = str(generation.spoken) if generation.kraft else None
    for started in journal.starts:
        text = StatementStamp(node=journal.node, number=0, ms=started).time_text
        yield text, start_lines(text, generation.binary.release, settings, metadata_version)
