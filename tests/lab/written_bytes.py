"""Bytes as Kafka writes them, of files and batches that no simulated cluster leaves."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import google_crc32c

from parsers.tables import EpochEntry, IndexEntry, IndexKind, OffsetCheckpoint, ProducerState
from parsers.writers.checkpoints import epoch_lines, offset_lines
from parsers.writers.segments import (
    CODECS,
    CONTROL,
    LZ4_OLD_HEADER,
    TRANSACTIONAL,
    Codec,
    Record,
    batch_bytes,
    compress,
    legacy_bytes,
    lz4_frame,
)

_MARKER_KEY: Final = struct.Struct(">hh")
_MARKER_VALUE: Final = struct.Struct(">hi")
_SNAPSHOT_VERSION: Final = 1
_SNAPSHOT_HEAD: Final = struct.Struct(">hI")
_PRODUCER: Final = struct.Struct(">qhiqiqiq")
_SLOTS: Final[dict[IndexKind, struct.Struct]] = {
    "offset": struct.Struct(">ii"),
    "time": struct.Struct(">qi"),
    "transaction": struct.Struct(">hqqqq"),
}


def marker_bytes(
    *,
    offset: int,
    leader_epoch: int,
    producer_id: int,
    producer_epoch: int,
    commit: bool,
    coordinator_epoch: int = 0,
    timestamp: int = 0,
) -> bytes:
    """The control batch that ends a transaction."""
    marker = Record(key=_MARKER_KEY.pack(0, int(commit)), value=_MARKER_VALUE.pack(0, coordinator_epoch))
    return batch_bytes(
        base_offset=offset,
        leader_epoch=leader_epoch,
        records=(marker,),
        attributes=TRANSACTIONAL | CONTROL,
        base_timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def legacy_set_bytes(
    *, magic: Literal[0, 1], base_offset: int, values: Sequence[bytes], codec: Codec, timestamp: int = -1
) -> bytes:
    """A compressed set of messages without keys: offsets inside are absolute in magic 0, counted from 0 in magic 1."""
    first = base_offset if magic == 0 else 0
    inner = b"".join(
        legacy_bytes(magic=magic, offset=first + index, value=value, timestamp=timestamp)
        for index, value in enumerate(values)
    )
    packed = lz4_frame(inner, LZ4_OLD_HEADER) if codec == "lz4" and magic == 0 else compress(inner, codec)
    last, number = base_offset + len(values) - 1, CODECS.index(codec)
    return legacy_bytes(magic=magic, offset=last, value=packed, timestamp=timestamp, attributes=number)


def write_leader_epoch_checkpoint(entries: Iterable[EpochEntry]) -> bytes:
    """A leader-epoch-checkpoint; with no entries its two header lines. The file of no bytes is `b""`."""
    return epoch_lines((entry.epoch, entry.start_offset) for entry in entries)


def write_offset_checkpoint(rows: Iterable[OffsetCheckpoint]) -> bytes:
    """An offset checkpoint of a log dir, lines in the order given."""
    return offset_lines((row.topic or "", row.partition or 0, row.offset) for row in rows)


def write_quorum_state(*, leader_id: int, leader_epoch: int, voted_id: int, voted_directory_id: str) -> bytes:
    """quorum-state of version 1, as a quorum whose voters may change keeps it."""
    content: dict[str, object] = {
        "leaderId": leader_id,
        "leaderEpoch": leader_epoch,
        "votedId": voted_id,
        "votedDirectoryId": voted_directory_id,
        "data_version": 1,
    }
    return json.dumps(content, separators=(",", ":")).encode("utf-8")


def write_producer_snapshot(rows: Sequence[ProducerState]) -> bytes:
    """A producer snapshot, entries in the order given, with its checksum."""
    entries = b"".join(
        _PRODUCER.pack(
            row.producer_id, row.producer_epoch, row.last_sequence, row.last_offset, row.offset_delta, row.timestamp,
            row.coordinator_epoch, row.current_txn_first_offset,
        )
        for row in rows
    )  # fmt: skip
    checked = struct.pack(">i", len(rows)) + entries
    return _SNAPSHOT_HEAD.pack(_SNAPSHOT_VERSION, google_crc32c.value(checked)) + checked


def write_index(rows: Iterable[IndexEntry], kind: IndexKind, *, size: int = 0) -> bytes:
    """An index of one segment; filled up with zeros to `size`, as a running broker's preallocated file is."""
    layout = _SLOTS[kind]
    return b"".join(layout.pack(*_slot(row)) for row in rows).ljust(size, b"\0")


def _slot(row: IndexEntry) -> tuple[int, ...]:
    relative = row.offset - row.segment_base_offset
    if row.kind == "offset":
        return relative, row.position or 0
    if row.kind == "time":
        return row.timestamp or 0, relative
    return 0, row.producer_id or 0, row.first_offset or 0, row.offset, row.last_stable_offset or 0
