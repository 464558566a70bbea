"""Who a directory belongs to: meta.properties of a log dir, partition.metadata of a replica, .kafka_cleanshutdown."""

from __future__ import annotations

import base64
import re
from typing import Final

from msgspec import Struct

from parsers.checkpoints.bounded_json import read_object
from parsers.checkpoints.checkpoint_text import split_lines
from parsers.checkpoints.decimals import INT32_MAX, integer
from parsers.checkpoints.properties import PropertiesFile, read_properties
from parsers.provenance import Origin, Span
from parsers.refusal import refuse
from parsers.tables import Refusal, RefusalKind

_ID: Final = re.compile(r"[!-~]{1,64}")
_TOPIC_ID: Final = re.compile(r"([A-Za-z0-9_-]{22})(==)?")
_FIELD: Final = re.compile(r"([^:]*):[ \t\x0b\f]+(.*)", re.DOTALL)
_NO_TOPIC_ID: Final = "A" * 22
_BROKER_KEYS: Final = {0: "broker.id", 1: "node.id"}


class MetaProperties(Struct, frozen=True, kw_only=True):
    """What a log dir's meta.properties says of its broker and cluster."""

    span: Span
    version: int | None = None
    broker: int | None = None
    cluster_id: str | None = None
    directory_id: str | None = None
    refusals: tuple[Refusal, ...] = ()


class PartitionMetadata(Struct, frozen=True, kw_only=True):
    """What a replica's partition.metadata says: the topic id."""

    span: Span
    topic_id: str | None = None
    refusals: tuple[Refusal, ...] = ()


class CleanShutdown(Struct, frozen=True, kw_only=True):
    """A .kafka_cleanshutdown. That it exists says that the broker shut down cleanly, whatever stands in it."""

    span: Span
    broker_epoch: int | None = None
    """Epoch of the broker when it stopped, written since 3.7; null where the file does not tell."""
    refusals: tuple[Refusal, ...] = ()


def read_meta_properties(data: bytes, origin: Origin) -> MetaProperties:
    """meta.properties of version 0 (`broker.id`) and version 1 (`node.id`); what it does not say stays null."""
    properties = read_properties(data, origin)
    refusals = list(properties.refusals)
    version = integer(properties.get("version") or "0")
    if version not in _BROKER_KEYS:
        found = properties.get("version") or ""
        refusals.append(_refuse(origin, properties, "version", "version 0 or 1", found, len(data)))
    broker = _broker(properties, version, origin, refusals, len(data))
    return MetaProperties(
        span=origin.span(0, len(data)),
        version=version,
        broker=broker,
        cluster_id=_identifier(properties, "cluster.id", origin, refusals),
        directory_id=_identifier(properties, "directory.id", origin, refusals),
        refusals=tuple(refusals),
    )


def _broker(
    properties: PropertiesFile, version: int | None, origin: Origin, refusals: list[Refusal], size: int
) -> int | None:
    """The broker id under the key of this version, or under the other one where only that stands."""
    keys = sorted(_BROKER_KEYS.values(), key=lambda key: key != _BROKER_KEYS.get(version or 0))
    key = next((key for key in keys if properties.get(key) is not None), keys[0])
    text = properties.get(key)
    broker = None if text is None else integer(text, low=0, high=INT32_MAX)
    if broker is None:
        refusals.append(_refuse(origin, properties, key, f"{key}, a number", text or "none", size))
    return broker


def _identifier(properties: PropertiesFile, key: str, origin: Origin, refusals: list[Refusal]) -> str | None:
    text = properties.get(key)
    if not text:
        return None
    if _ID.fullmatch(text):
        return text
    refusals.append(_refuse(origin, properties, key, f"{key}, up to 64 letters and digits", text, 0))
    return None


def _refuse(origin: Origin, properties: PropertiesFile, key: str, expected: str, found: str, size: int) -> Refusal:
    span = properties.span(key) or origin.span(0, size)
    kind: RefusalKind = "unknown_version" if key == "version" and integer(found) is not None else "malformed"
    return refuse(origin, kind, span.start, span.end, expected=expected, found=found)


def read_partition_metadata(data: bytes, origin: Origin) -> PartitionMetadata:
    """partition.metadata: `version: 0` and `topic_id: ` with 22 base64url characters."""
    span = origin.span(0, len(data))
    fields: dict[str, str] = {}
    for line in split_lines(data[: 1 << 12]):
        match = _FIELD.fullmatch(line.text)
        if match:
            fields.setdefault(match[1], match[2].strip())
    version, topic_id = integer(fields.get("version", "")), _topic_id(fields.get("topic_id", ""))
    if version is not None and version != 0:
        refusal = refuse(origin, "unknown_version", 0, len(data), expected="version: 0", found=data)
        return PartitionMetadata(span=span, refusals=(refusal,))
    if version is None or topic_id is None:
        expected = "the lines `version: 0` and `topic_id: `, an id of 22 characters"
        refusal = refuse(origin, "malformed", 0, len(data), expected=expected, found=data)
        return PartitionMetadata(span=span, refusals=(refusal,))
    return PartitionMetadata(span=span, topic_id=topic_id)


def _topic_id(text: str) -> str | None:
    """A topic id in its one canonical spelling: 22 characters hold 132 bits, of which an id uses 128."""
    match = _TOPIC_ID.fullmatch(text)
    if not match or match[1] == _NO_TOPIC_ID:
        return None
    return base64.urlsafe_b64encode(base64.urlsafe_b64decode(match[1] + "==")).decode("ascii").rstrip("=")


def read_clean_shutdown(data: bytes, origin: Origin) -> CleanShutdown:
    """.kafka_cleanshutdown: empty up to 3.6, then JSON with the broker's epoch (-1 for unknown)."""
    span = origin.span(0, len(data))
    if not data:
        return CleanShutdown(span=span)
    content = read_object(data)
    epoch = content.get("brokerEpoch") if content is not None else None
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        refusal = refuse(origin, "malformed", 0, len(data), expected="nothing, or JSON with brokerEpoch", found=data)
        return CleanShutdown(span=span, refusals=(refusal,))
    return CleanShutdown(span=span, broker_epoch=epoch if epoch >= 0 else None)
