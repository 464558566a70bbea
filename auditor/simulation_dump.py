"""The end of a simulated run as brokers' log dirs, byte by byte as Kafka writes them: something for `audit` to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from auditor.config import ConfigError
from parsers.writers.checkpoints import (
    epoch_lines,
    offset_lines,
    write_clean_shutdown,
    write_meta_properties,
)
from parsers.writers.segments import Record, batch_bytes, legacy_bytes, write_segment
from rules.simulator.state import Batch, Broker, Cluster

TOPIC: Final = "simulated"
CLUSTER: Final = "simulated-cluster-0000"
FIRST_TIMESTAMP: Final = 1_600_000_000_000


def write_dump(cluster: Cluster, folder: Path) -> None:
    """Writes every broker's log dir: those that run as if they stopped in order now, the others as they crashed."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: expected a folder that is empty or does not exist yet")
    for broker in cluster.brokers:
        _write_broker(broker, folder / f"broker-{broker.id}")


def _write_broker(broker: Broker, log_dir: Path) -> None:
    replica = log_dir / f"{TOPIC}-0"
    replica.mkdir(parents=True)
    (log_dir / "meta.properties").write_bytes(
        write_meta_properties(broker=broker.id, version=0, cluster_id=CLUSTER, date="Sun Sep 13 12:26:40 UTC 2020")
    )
    write_segment(replica / f"{broker.log.start_offset:020d}.log", _stored(broker))
    if broker.generation.keeps_epochs:
        entries = ((entry.epoch, entry.start_offset) for entry in broker.epochs)
        (replica / "leader-epoch-checkpoint").write_bytes(epoch_lines(entries))
    high_watermark = broker.high_watermark if broker.alive else broker.checkpoint
    recovery_point = broker.log.end_offset if broker.alive else broker.log.start_offset
    _checkpoint(log_dir / "replication-offset-checkpoint", high_watermark)
    _checkpoint(log_dir / "recovery-point-offset-checkpoint", recovery_point)
    _checkpoint(log_dir / "log-start-offset-checkpoint", broker.log.start_offset or None)
    _checkpoint(log_dir / "cleaner-offset-checkpoint", None)
    if broker.alive:
        (log_dir / ".kafka_cleanshutdown").write_bytes(write_clean_shutdown())


def _checkpoint(path: Path, offset: int | None) -> None:
    path.write_bytes(offset_lines([] if offset is None else [(TOPIC, 0, offset)]))


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
