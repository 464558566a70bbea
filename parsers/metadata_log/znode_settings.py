"""Settings that ZooKeeper keeps of topics and brokers: `/config/topics/<topic>` and `/config/brokers/<id>`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from parsers.metadata_log.znodes import Unreadable, Znode, json_object, object_of, setting_place, unreadable
from parsers.refusal import Parsed
from parsers.tables import ConfigChange, Refusal
from parsers.tables.secrets import shown

_SETTINGS_LIMIT: Final = 1000
_DEFAULT: Final = "<default>"


def znode_settings(znodes: Iterable[Znode]) -> Parsed[ConfigChange]:
    """One row a setting; znodes of other kinds are passed over."""
    rows: list[ConfigChange] = []
    refusals: list[Refusal] = []
    for znode in znodes:
        place = setting_place(znode.path)
        if place is not None:
            try:
                rows.extend(_rows(znode, *place))
            except Unreadable as error:
                refusals.append(unreadable(znode, error))
    return Parsed(rows=tuple(rows), refusals=tuple(refusals))


def _rows(znode: Znode, resource_type: str, resource: str) -> Iterator[ConfigChange]:
    config = object_of(json_object(znode.content), "config")
    if len(config) > _SETTINGS_LIMIT:
        raise Unreadable(f"at most {_SETTINGS_LIMIT} settings", str(len(config)), "too_large")
    for name, value in config.items():
        if not isinstance(value, str):
            raise Unreadable(f"a text for {name}", type(value).__name__)
        yield ConfigChange(
            cluster_id=znode.origin.cluster_id,
            broker=znode.origin.broker,
            log_dir=znode.origin.log_dir,
            topic=resource if resource_type == "topic" else None,
            topic_id=None,
            partition=None,
            offset=None,
            controller_epoch=None,
            time=znode.time,
            resource_type=resource_type,
            resource="" if resource == _DEFAULT else resource,
            name=name,
            value=shown(name, value),
            source=znode.origin.source,
            span_start=znode.start,
            span_end=znode.start + len(znode.content),
        )
