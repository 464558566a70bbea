"""The inverse of the readers of checkpoints, snapshots, state files and indexes, byte for byte as Kafka writes them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import google_crc32c

from parsers.tables import EpochEntry, IndexEntry, IndexKind, OffsetCheckpoint, ProducerState

_SNAPSHOT_VERSION: Final = 1
_SNAPSHOT_HEAD: Final = struct.Struct(">hI")
_PRODUCER: Final = struct.Struct(">qhiqiqiq")
_SLOTS: Final[dict[IndexKind, struct.Struct]] = {
    "offset": struct.Struct(">ii"),
    "time": struct.Struct(">qi"),
    "transaction": struct.Struct(">hqqqq"),
}
_ESCAPES: Final = {
    "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "=": "\\=", ":": "\\:", "#": "\\#", "!": "\\!",
}  # fmt: skip


def write_leader_epoch_checkpoint(entries: Iterable[EpochEntry]) -> bytes:
    """A leader-epoch-checkpoint; with no entries its two header lines. The file of no bytes is `b""`."""
    return epoch_lines((entry.epoch, entry.start_offset) for entry in entries)


def epoch_lines(entries: Iterable[tuple[int, int]]) -> bytes:
    """A leader-epoch-checkpoint of (epoch, start offset) pairs."""
    return _lines([f"{epoch} {start_offset}" for epoch, start_offset in entries])


def write_offset_checkpoint(rows: Iterable[OffsetCheckpoint]) -> bytes:
    """An offset checkpoint of a log dir, lines in the order given."""
    return offset_lines((row.topic or "", row.partition or 0, row.offset) for row in rows)


def offset_lines(entries: Iterable[tuple[str, int, int]]) -> bytes:
    """An offset checkpoint of (topic, partition, offset) triples."""
    return _lines([f"{topic} {partition} {offset}" for topic, partition, offset in entries])


def _lines(entries: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in ("0", str(len(entries)), *entries)).encode("utf-8")


def write_partition_metadata(topic_id: str) -> bytes:
    """partition.metadata; Kafka ends it without a newline."""
    return f"version: 0\ntopic_id: {topic_id}".encode("ascii")


def write_clean_shutdown(broker_epoch: int | None = None) -> bytes:
    """.kafka_cleanshutdown: empty as up to 3.6, or with the broker's epoch."""
    return b"" if broker_epoch is None else f'{{"version":0,"brokerEpoch":{broker_epoch}}}'.encode("ascii")


def write_properties(entries: Iterable[tuple[str, str]] | Mapping[str, str], *, comments: Sequence[str] = ()) -> bytes:
    """A properties file as Java stores it: comment lines, then the entries in the order given."""
    pairs = entries.items() if isinstance(entries, Mapping) else entries
    head = [f"#{comment}\n" for comment in comments]
    body = [f"{_escape(key, blanks=True)}={_escape(value, blanks=False)}\n" for key, value in pairs]
    return "".join(head + body).encode("latin-1")


def write_meta_properties(
    *,
    broker: int,
    version: int = 1,
    cluster_id: str | None = None,
    directory_id: str | None = None,
    date: str | None = None,
) -> bytes:
    """meta.properties of version 0 or 1; `date` is the text of the second comment line."""
    entries = {"node.id" if version else "broker.id": str(broker)}
    if directory_id is not None:
        entries["directory.id"] = directory_id
    entries["version"] = str(version)
    if cluster_id is not None:
        entries["cluster.id"] = cluster_id
    return write_properties(entries, comments=("",) if date is None else ("", date))


def _escape(text: str, *, blanks: bool) -> str:
    """Text as Java stores it: every blank of a key and the first of a value escaped, what is not ASCII by its code."""
    pieces: list[str] = []
    for place, character in enumerate(text):
        if character in _ESCAPES:
            pieces.append(_ESCAPES[character])
        elif character == " ":
            pieces.append("\\ " if blanks or place == 0 else " ")
        elif " " < character <= "~":
            pieces.append(character)
        else:
            units = character.encode("utf-16-be", "surrogatepass")
            pieces += [f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2)]
    return "".join(pieces)


def write_static_quorum_state(
    *,
    leader_id: int,
    leader_epoch: int,
    voted_id: int = -1,
    applied_offset: int = 0,
    current_voters: Sequence[int] = (),
    cluster_id: str = "",
) -> bytes:
    """quorum-state of version 0, as a quorum of static voters keeps it."""
    content: dict[str, object] = {
        "clusterId": cluster_id,
        "leaderId": leader_id,
        "leaderEpoch": leader_epoch,
        "votedId": voted_id,
        "appliedOffset": applied_offset,
        "currentVoters": [{"voterId": voter} for voter in current_voters],
        "data_version": 0,
    }
    return json.dumps(content, separators=(",", ":")).encode("utf-8")


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
