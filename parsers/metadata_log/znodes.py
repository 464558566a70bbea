"""ZooKeeper's znodes as files, `/brokers/topics/<t>` and `…/partitions/<p>/state`, and their join with KRaft."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import Refusal, RefusalKind
from parsers.tables.metadata import MetadataChange, join_ids

# A znode that holds something and has children is no file: copies add a suffix, or a file in the folder of its name.
_SAVED: Final = r"(?:\.json|/data|/data\.json)?"
_TOPIC_PATH: Final = re.compile(rf"(?:.*/)?brokers/topics/([a-zA-Z0-9._-]{{1,249}}?){_SAVED}")
_STATE_PATH: Final = re.compile(
    rf"(?:.*/)?brokers/topics/([a-zA-Z0-9._-]{{1,249}})/partitions/([0-9]{{1,9}})/state{_SAVED}"
)
_SETTINGS_PATH: Final = re.compile(rf"(?:.*/)?config/(topic|broker)s/([a-zA-Z0-9._-]{{1,249}}?|<default>){_SAVED}")
_TOPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]{22}")
# ZooKeeper itself refuses a znode above 1 MiB unless told otherwise.
SIZE_LIMIT: Final = 4 << 20
_SET_LIMIT: Final = 1000
_INT_LIMIT: Final = 1 << 31


class Znode(Struct, frozen=True, kw_only=True):
    """A znode as a file or as the shell printed it; `version` and `time` are its Stat's dataVersion and mtime."""

    origin: Origin
    path: str
    content: bytes
    start: int = 0
    """Where the content begins in its source."""
    version: int | None = None
    time: int | None = None


class _Assignment(Struct, frozen=True, kw_only=True):
    """What a topic's znode says of one partition."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    topic_id: str | None = None


class Unreadable(Exception):
    """A znode that does not hold what its path promises; caught where its address is known."""

    def __init__(self, expected: str, found: str, kind: RefusalKind = "malformed") -> None:
        super().__init__(expected, found)
        self.expected, self.found, self.kind = expected, found, kind


def znode_place(path: str) -> tuple[str, int | None] | None:
    """Topic and partition of a partition's state, topic and None of a topic's znode; None for any other path."""
    if match := _STATE_PATH.fullmatch(path):
        return match[1], int(match[2])
    match = _TOPIC_PATH.fullmatch(path)
    return (match[1], None) if match else None


def setting_place(path: str) -> tuple[str, str] | None:
    """Kind of resource and its name, for a znode that keeps settings; None for any other path."""
    match = _SETTINGS_PATH.fullmatch(path)
    return (match[1], match[2]) if match else None


def znode_states(znodes: Iterable[Znode]) -> Parsed[MetadataChange]:
    """One row a partition whose state is among the znodes, with its assignment where the topic's znode is there too."""
    refusals: list[Refusal] = []
    assignments: dict[tuple[str, int], _Assignment] = {}
    states: list[tuple[str, int, Znode, dict[str, object]]] = []
    for znode in znodes:
        try:
            topic, partition = _topic_and_partition(znode)
            content = json_object(znode.content)
            if partition is None:
                assignments |= _assignments(topic, content)
            else:
                states.append((topic, partition, znode, content))
        except Unreadable as error:
            refusals.append(unreadable(znode, error))
    rows: list[MetadataChange] = []
    for topic, partition, znode, content in states:
        try:
            rows.append(_row(znode, topic, partition, content, assignments.get((topic, partition))))
        except Unreadable as error:
            refusals.append(unreadable(znode, error))
    return Parsed(rows=tuple(rows), refusals=tuple(refusals))


def _topic_and_partition(znode: Znode) -> tuple[str, int | None]:
    place = znode_place(znode.path)
    if place is None:
        raise Unreadable("a path below /brokers/topics", znode.path)
    return place


def json_object(content: bytes) -> dict[str, object]:
    """The object that a znode holds."""
    if len(content) > SIZE_LIMIT:
        raise Unreadable(f"at most {SIZE_LIMIT} bytes", f"{len(content)} bytes", "too_large")
    try:
        value = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Unreadable("a JSON object", content[:80].decode("utf-8", "replace")) from error
    if not isinstance(value, dict):
        raise Unreadable("a JSON object", content[:80].decode("utf-8", "replace"))
    return value


def _assignments(topic: str, content: dict[str, object]) -> dict[tuple[str, int], _Assignment]:
    partitions = object_of(content, "partitions")
    adding, removing = object_of(content, "adding_replicas"), object_of(content, "removing_replicas")
    topic_id = _topic_id(content.get("topic_id"))
    assigned: dict[tuple[str, int], _Assignment] = {}
    for text, replicas in partitions.items():
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise Unreadable("a partition number", text)
        assigned[topic, int(text)] = _Assignment(
            replicas=_ids(replicas, "replicas"),
            adding=_ids(adding.get(text, []), "adding_replicas"),
            removing=_ids(removing.get(text, []), "removing_replicas"),
            topic_id=topic_id,
        )
    return assigned


def _topic_id(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _TOPIC_ID.fullmatch(value):
        raise Unreadable("a topic_id of 22 base64url characters", str(value))
    return value


def object_of(content: dict[str, object], name: str) -> dict[str, object]:
    """An object within it, empty where there is none."""
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise Unreadable(f"an object {name}", str(type(value).__name__))
    return value


def _ids(value: object, name: str) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > _SET_LIMIT:
        raise Unreadable(f"a list {name} of at most {_SET_LIMIT} broker ids", type(value).__name__)
    return tuple(_integer(item, name) for item in value)


def _integer(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < _INT_LIMIT:
        raise Unreadable(f"an int32 {name} of -1 or more", type(value).__name__)
    return value


def unreadable(znode: Znode, error: Unreadable) -> Refusal:
    """What a znode was refused for, as a row."""
    end = znode.start + len(znode.content)
    return refuse(znode.origin, error.kind, znode.start, end, expected=error.expected, found=error.found)


def _row(
    znode: Znode, topic: str, partition: int, content: dict[str, object], assigned: _Assignment | None
) -> MetadataChange:
    return MetadataChange(
        cluster_id=znode.origin.cluster_id,
        broker=znode.origin.broker,
        log_dir=znode.origin.log_dir,
        topic=topic,
        topic_id=assigned.topic_id if assigned else None,
        partition=partition,
        kind="snapshot",
        offset=None,
        controller_epoch=_integer(content.get("controller_epoch"), "controller_epoch"),
        time=znode.time,
        leader=_integer(content.get("leader"), "leader"),
        leader_epoch=_integer(content.get("leader_epoch"), "leader_epoch"),
        partition_epoch=znode.version,
        isr=join_ids(_ids(content.get("isr"), "isr")),
        replicas=join_ids(assigned.replicas) if assigned else None,
        adding_replicas=join_ids(assigned.adding) if assigned else None,
        removing_replicas=join_ids(assigned.removing) if assigned else None,
        elr=None,
        last_known_elr=None,
        leader_recovery_state=_recovery(content),
        directories=None,
        previous_leader=None,
        previous_isr=None,
        unclean=False,
        source=znode.origin.source,
        span_start=znode.start,
        span_end=znode.start + len(znode.content),
    )


def _recovery(content: dict[str, object]) -> int | None:
    state = content.get("leader_recovery_state")
    if state not in (None, 0, 1):
        raise Unreadable("a leader_recovery_state of 0 or 1", str(state))
    return None if state is None else int(bool(state))
