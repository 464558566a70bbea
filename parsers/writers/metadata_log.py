"""Values of KRaft metadata records in Kafka's flexible encoding: the inverse of `parsers.metadata_log`."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Final

FRAME: Final = 1
REGISTER_BROKER, TOPIC, PARTITION, CONFIG, PARTITION_CHANGE, FEATURE_LEVEL = 0, 2, 3, 4, 5, 12
TOPIC_RESOURCE: Final = 2
RECOVERING: Final = 1


def topic_value(name: str, topic_id: str) -> bytes:
    """A topic is created."""
    return _value(TOPIC, 0, _string(name) + _uuid(topic_id))


def partition_value(
    topic_id: str,
    partition: int,
    *,
    replicas: Sequence[int],
    isr: Sequence[int],
    leader: int,
    leader_epoch: int,
    directories: Sequence[str] = (),
) -> bytes:
    """A partition is created, with partition epoch 0; with directory ids it is of version 1."""
    sets = _ids(replicas) + _ids(isr) + _ids(()) + _ids(())
    epochs = struct.pack(">iii", leader, leader_epoch, 0)
    body = struct.pack(">i", partition) + _uuid(topic_id) + sets + epochs
    if not directories:
        return _value(PARTITION, 0, body)
    return _value(PARTITION, 1, body + _uvarint(len(directories) + 1) + b"".join(map(_uuid, directories)))


def partition_change_value(  # noqa: PLR0913 - one a field of the record
    topic_id: str,
    partition: int,
    *,
    isr: Sequence[int] | None = None,
    leader: int | None = None,
    replicas: Sequence[int] | None = None,
    removing: Sequence[int] | None = None,
    adding: Sequence[int] | None = None,
    leader_recovery_state: int | None = None,
    elr: Sequence[int] | None = None,
    last_known_elr: Sequence[int] | None = None,
    version: int = 0,
) -> bytes:
    """A partition changes: its partition epoch rises, its leader epoch where a leader is named."""
    tags: dict[int, bytes] = {}
    if isr is not None:
        tags[0] = _ids(isr)
    if leader is not None:
        tags[1] = struct.pack(">i", leader)
    if replicas is not None:
        tags[2] = _ids(replicas)
    if removing is not None:
        tags[3] = _ids(removing)
    if adding is not None:
        tags[4] = _ids(adding)
    if leader_recovery_state is not None:
        tags[5] = struct.pack(">b", leader_recovery_state)
    if elr is not None:
        tags[6] = _ids(elr)
    if last_known_elr is not None:
        tags[7] = _ids(last_known_elr)
    return _value(PARTITION_CHANGE, version, struct.pack(">i", partition) + _uuid(topic_id), tags)


def topic_config_value(topic: str, name: str, value: str) -> bytes:
    """A setting of a topic."""
    return _value(CONFIG, 0, struct.pack(">b", TOPIC_RESOURCE) + _string(topic) + _string(name) + _string(value))


def feature_level_value(name: str, level: int) -> bytes:
    """A feature is finalized at a level."""
    return _value(FEATURE_LEVEL, 0, _string(name) + struct.pack(">h", level))


def _value(api_key: int, version: int, body: bytes, tags: Mapping[int, bytes] | None = None) -> bytes:
    head = _uvarint(FRAME) + _uvarint(api_key) + _uvarint(version)
    fields = sorted((tags or {}).items())
    tagged = b"".join(_uvarint(tag) + _uvarint(len(data)) + data for tag, data in fields)
    return head + body + _uvarint(len(fields)) + tagged


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _string(text: str) -> bytes:
    data = text.encode()
    return _uvarint(len(data) + 1) + data


def _uuid(text: str) -> bytes:
    return base64.urlsafe_b64decode(f"{text}==")


def _ids(brokers: Sequence[int]) -> bytes:
    return _uvarint(len(brokers) + 1) + struct.pack(f">{len(brokers)}i", *brokers)
