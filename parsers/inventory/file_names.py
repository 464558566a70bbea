"""What the name of a file or directory says, by Kafka's own naming."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from parsers.provenance import FileKind, ReplicaState, broker_id

_INT32_MAX: Final = 2**31 - 1
_INT64_MAX: Final = 2**63 - 1
"""Kafka cuts the topic in the name of a directory on its way out so that the name is no longer than this."""

_REPLICA: Final = re.compile(
    r"(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>[0-9]{1,10})(?:\.(?P<unique>[^\s.]+)-(?P<state>delete|future|stray))?"
)
_STATES: Final[dict[str | None, ReplicaState]] = {
    None: "current", "delete": "deleted", "future": "future", "stray": "stray",
}  # fmt: skip

# Digits of any script: Kafka pads offsets with the digits of the machine's locale.
_OFFSET_FILE: Final = re.compile(
    r"(?P<offset>\d{20})\.(?P<what>log|index|timeindex|txnindex|snapshot)(?P<suffix>(?:\.(?:deleted|cleaned|swap|tmp))*)"
)
_KRAFT_SNAPSHOT: Final = re.compile(
    r"(?P<offset>\d{20})-\d{10}(?:-[^./]*(?=\.checkpoint\.part))?\.checkpoint(?P<suffix>(?:\.(?:deleted|part|tmp))*)"
)
_REMNANT: Final = re.compile(r"(?P<base>.+?)(?P<suffix>(?:\.(?:tmp|deleted))+)")
_OFFSET_KINDS: Final[dict[str, FileKind]] = {
    "log": "segment",
    "index": "offset-index",
    "timeindex": "time-index",
    "txnindex": "transaction-index",
    "snapshot": "producer-snapshot",
}
_NAMED: Final[dict[str, FileKind]] = {
    "leader-epoch-checkpoint": "leader-epoch-checkpoint",
    "replication-offset-checkpoint": "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint": "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint": "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint": "cleaner-offset-checkpoint",
    "partition.metadata": "partition-metadata",
    "meta.properties": "meta-properties",
    ".kafka_cleanshutdown": "clean-shutdown",
    "quorum-state": "quorum-state",
    "bootstrap.checkpoint": "kraft-snapshot",
    ".lock": "leftover",
}
_LOG4J: Final[tuple[tuple[re.Pattern[str], FileKind], ...]] = (
    (re.compile(r"kafka-request\.log.*", re.DOTALL), "request-log"),
    (re.compile(r"(?:server|controller|state-change)\.log.*", re.DOTALL), "broker-log"),
    (re.compile(r"(?:server|broker|controller)(?:[-_.]?\d+)?\.properties"), "server-properties"),
)
LOG_DIR_MARKS: Final[frozenset[FileKind]] = frozenset({
    "meta-properties", "replication-offset-checkpoint", "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint", "cleaner-offset-checkpoint", "clean-shutdown",
})  # fmt: skip
"""Files that stand only in the root of a log dir."""

IN_REPLICAS: Final[frozenset[FileKind]] = frozenset({
    "segment", "offset-index", "time-index", "transaction-index", "producer-snapshot", "leader-epoch-checkpoint",
    "partition-metadata", "quorum-state", "kraft-snapshot",
})  # fmt: skip
"""Files that stand only in a replica's directory, the KRaft bootstrap snapshot apart."""
WRITTEN_BY_KAFKA: Final = LOG_DIR_MARKS | IN_REPLICAS
"""Files of a log dir and of its replicas, none of which is ever a folder."""
WRITTEN_BY_BROKERS: Final[frozenset[FileKind]] = frozenset({"broker-log", "request-log"})
"""Logs in words: what stands in their place and cannot be read may have told of anything."""

_WORDED_BROKER: Final = re.compile(
    r"(?:.*[-_.])?(?:broker|kafka|node|server|controller)[-_.]?(\d{1,10})", re.IGNORECASE
)
_ARCHIVE: Final = re.compile(r".*\.(?:tar(?:\.(?:gz|bz2|xz|zst|lz4|z))?|tgz|tbz2?|txz|tzst|zip|7z|rar)", re.DOTALL)
_BARE_BROKER: Final = re.compile(r"\d{1,10}")


class ReplicaName(Struct, frozen=True, kw_only=True):
    """What a replica directory's name says."""

    topic: str
    partition: int
    state: ReplicaState = "current"


class FileName(Struct, frozen=True, kw_only=True):
    """What a file's name says."""

    kind: FileKind
    base_offset: int | None = None
    suffix: str = ""


def parse_replica_name(name: str) -> ReplicaName | None:
    """Topic, partition and state of a replica directory.

    A suffix begins at the last dot, the partition behind the last dash before it.
    """
    match = _REPLICA.fullmatch(name)
    if not match or int(match["partition"]) > _INT32_MAX:
        return None
    state = _STATES[match["state"]]
    return ReplicaName(
        topic=match["topic"],
        partition=int(match["partition"]),
        state=state,
    )


def parse_file_name(name: str) -> FileName:
    """Kind, base offset and suffix of a file; well-known names in any case, as some copies change it."""
    lower = name.lower()
    match = _OFFSET_FILE.fullmatch(lower)
    if match:
        return _offset_file(match)
    kind = _NAMED.get(lower)
    if kind is not None:
        return FileName(kind=kind)
    match = _KRAFT_SNAPSHOT.fullmatch(lower)
    if match:
        return _kraft_snapshot(match)
    match = _REMNANT.fullmatch(lower)
    if match and match["base"] in _NAMED:
        return FileName(kind="leftover", suffix=match["suffix"])
    return FileName(kind=next((kind for pattern, kind in _LOG4J if pattern.fullmatch(lower)), "unknown"))


def _offset_file(match: re.Match[str]) -> FileName:
    offset = int(match["offset"])
    if offset > _INT64_MAX:
        return FileName(kind="unknown")
    suffix = match["suffix"]
    # A .swap file is complete and may be the truth; every other suffix marks a file that no broker reads again.
    kind: FileKind = _OFFSET_KINDS[match["what"]] if suffix in ("", ".swap") else "leftover"
    return FileName(kind=kind, base_offset=offset, suffix=suffix)


def _kraft_snapshot(match: re.Match[str]) -> FileName:
    kind: FileKind = "leftover" if match["suffix"] else "kraft-snapshot"
    offset = int(match["offset"])
    return FileName(kind=kind, base_offset=offset if offset <= _INT64_MAX else None, suffix=match["suffix"])


def is_archive(name: str) -> bool:
    """Whether a file holds other files, by its name."""
    return _ARCHIVE.fullmatch(name.lower()) is not None


def broker_of_word(name: str) -> int | None:
    """The broker that a folder named like `broker-1`, `kafka-1` or `node1` speaks of."""
    match = _WORDED_BROKER.fullmatch(name)
    return broker_id(match[1]) if match else None


def broker_of_number(name: str) -> int | None:
    """The broker that a folder named by a bare number may speak of; a disk may be numbered so too."""
    return broker_id(name) if _BARE_BROKER.fullmatch(name) else None
