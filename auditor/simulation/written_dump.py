"""A simulated run as what its brokers left: log dirs as they are at the end, and everything written on the way.

Byte by byte as Kafka writes it, in the wording of each broker's release: something for `audit` and `timeline` to read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from auditor.config import ConfigError
from auditor.simulation.decisions import directory_id, write_metadata_log
from auditor.simulation.journal_rows import FIRST_TIMESTAMP, Journal, Recorder, recorded
from auditor.simulation.writing_place import CLUSTER, CONTROLLER, TOPIC, TOPIC_ID, StatementStamp
from auditor.whole_files import whole_folder
from parsers.writers.broker_log import event_line, start_lines
from parsers.writers.checkpoints import (
    epoch_lines,
    offset_lines,
    write_clean_shutdown,
    write_meta_properties,
    write_partition_metadata,
)
from parsers.writers.request_log import request_line
from parsers.writers.segments import Record, batch_bytes, legacy_bytes, write_segment
from rules.simulator.generation import Generation
from rules.simulator.run_rows import Run
from rules.simulator.state import Batch, Broker, Cluster, lag_limit, may_elect_unclean

DATE: Final = "Sun Sep 13 12:26:40 UTC 2020"


def write_dump(run: Run, folder: Path) -> None:
    """Writes every node's folder: brokers that run as if they shut down cleanly now, the others as they stopped."""
    try:
        with whole_folder(folder) as draft:
            _write_nodes(run, draft)
    except FileExistsError as error:
        raise ConfigError(f"--dump: {folder}: expected a folder that is empty or does not exist yet") from error
    except OSError as error:
        raise ConfigError(f"--dump: cannot write {folder}: {error.strerror}") from error


def _write_nodes(run: Run, folder: Path) -> None:
    recorder = recorded(run)
    for broker in run.end.brokers:
        home = folder / f"broker-{broker.id}"
        _write_log_dir(broker, home / "data", in_order=recorder.journals[broker.id].in_order)
        write_logs(recorder.journals[broker.id], home / "logs", broker.generation, run.states[0])
    _write_controller(recorder, folder, run)


def _write_controller(recorder: Recorder, folder: Path, run: Run) -> None:
    """The controller's own node: its metadata log, or what ZooKeeper holds in the end."""
    first, end = run.states[0], run.end
    generation = end.brokers[0].generation
    home = folder / f"controller-{CONTROLLER}"
    (home / "data").mkdir(parents=True)
    (home / "data" / "meta.properties").write_bytes(_meta_properties(CONTROLLER, generation))
    write_logs(recorder.journals[CONTROLLER], home / "logs", generation, first)
    if generation.kraft:
        write_metadata_log(recorder, home / "data", generation, first.settings)
        return
    held = end.in_force
    state = {
        "controller_epoch": 1,
        "leader": -1 if held.leader is None else held.leader,
        "version": 1,
        "leader_epoch": held.epoch,
        "isr": sorted(held.isr),
    }
    znode = folder / "zookeeper" / "brokers" / "topics" / TOPIC / "partitions" / "0" / "state"
    znode.parent.mkdir(parents=True)
    znode.write_bytes(json.dumps(state, separators=(",", ":")).encode())


def _meta_properties(node: int, generation: Generation) -> bytes:
    if not generation.kraft:
        return write_meta_properties(broker=node, version=0, cluster_id=CLUSTER, date=DATE)
    return write_meta_properties(
        broker=node, version=1, cluster_id=CLUSTER, date=DATE, directory_id=directory_id(node, generation)
    )


def _write_log_dir(broker: Broker, log_dir: Path, *, in_order: bool) -> None:
    log_dir.mkdir(parents=True)
    shut_down_cleanly = broker.alive or in_order
    (log_dir / "meta.properties").write_bytes(_meta_properties(broker.id, broker.generation))
    if broker.holds:
        _write_replica(broker, log_dir / f"{TOPIC}-0")
    end = broker.log.end_offset if shut_down_cleanly else broker.log.base_offset
    start = broker.log.start_offset if shut_down_cleanly else broker.start_checkpoint
    high_watermark = broker.high_watermark if broker.alive else broker.checkpoint
    _checkpoint(log_dir / "replication-offset-checkpoint", high_watermark, broker)
    _checkpoint(log_dir / "recovery-point-offset-checkpoint", end, broker)
    _checkpoint(log_dir / "log-start-offset-checkpoint", start if start > broker.log.base_offset else None, broker)
    _checkpoint(log_dir / "cleaner-offset-checkpoint", None, broker)
    if shut_down_cleanly:
        (log_dir / ".kafka_cleanshutdown").write_bytes(write_clean_shutdown())


def _write_replica(broker: Broker, replica: Path) -> None:
    replica.mkdir()
    write_segment(replica / f"{broker.log.base_offset:020d}.log", _stored(broker))
    if broker.generation.binary.at_least(2, 8):
        (replica / "partition.metadata").write_bytes(write_partition_metadata(TOPIC_ID))
    if broker.generation.keeps_epochs:
        entries = ((entry.epoch, entry.start_offset) for entry in broker.epochs)
        (replica / "leader-epoch-checkpoint").write_bytes(epoch_lines(entries))


def _checkpoint(path: Path, offset: int | None, broker: Broker) -> None:
    path.write_bytes(offset_lines([(TOPIC, 0, offset)] if broker.holds and offset is not None else []))


def _stored(broker: Broker) -> Iterator[bytes]:
    for batch in broker.log.batches:
        yield from (_batch(batch),) if broker.generation.keeps_epochs else _messages(batch)


def _batch(batch: Batch) -> bytes:
    records = tuple(Record(offset_delta=place, value=value) for place, value in enumerate(_values(batch)))
    return batch_bytes(
        base_offset=batch.base_offset,
        leader_epoch=batch.epoch,
        records=records,
        base_timestamp=FIRST_TIMESTAMP + batch.base_offset,
    )


def _messages(batch: Batch) -> Iterator[bytes]:
    """Where no epoch is spoken of, messages are of the format that has none."""
    for offset, value in enumerate(_values(batch), start=batch.base_offset):
        yield legacy_bytes(magic=1, offset=offset, value=value, timestamp=FIRST_TIMESTAMP + offset)


def _values(batch: Batch) -> Iterable[bytes]:
    return (f"{batch.name}.{place}".encode() for place in range(batch.count))


def write_logs(journal: Journal, folder: Path, generation: Generation, first: Cluster) -> None:
    """Writes the logs; a node's appenders open their files when it starts, whether or not anything comes."""
    folder.mkdir(parents=True)
    release = generation.binary.release
    events = [(row.time_text or "", event_line(row, release)) for row in journal.server]
    starts = [] if journal.node == CONTROLLER else list(_starts(journal, generation, first))
    _write(folder / "server.log", (line for _, line in sorted([*starts, *events], key=lambda pair: pair[0])))
    _write(folder / "state-change.log", (event_line(row, release) for row in journal.state_change))
    requests = groupby(journal.requests, key=lambda row: (type(row), row.correlation_id))
    _write(folder / "kafka-request.log", (request_line(tuple(rows), release) for _, rows in requests))


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
