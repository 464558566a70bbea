"""The inverse of the readers of checkpoints and state files, byte for byte as Kafka writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_ESCAPES: Final = {
    "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "=": "\\=", ":": "\\:", "#": "\\#", "!": "\\!",
}  # fmt: skip


def epoch_lines(entries: Iterable[tuple[int, int]]) -> bytes:
    """A leader-epoch-checkpoint of (epoch, start offset) pairs."""
    return _lines([f"{epoch} {start_offset}" for epoch, start_offset in entries])


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
