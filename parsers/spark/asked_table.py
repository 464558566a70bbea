"""Which table of which dump is asked for, and how: the options of the data source as one frozen value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

import pyarrow as pa
from msgspec import Struct

from parsers.broker_log import owner_and_value, parse_layout, zone_named
from parsers.provenance import Origin
from parsers.tables import TABLES, arrow_schema

SPLIT_BYTES: Final = 128 << 20
"""A gigabyte of segment makes eight tasks."""


OF_CLOCKS: Final = ("events", "settings")
"""Tables whose times are of brokers' clocks without a zone."""
INSTANT: Final = pa.field(
    "time", pa.int64(), metadata={"comment": "Milliseconds since 1970 in UTC, by the zone that was told of the broker."}
)


class UnknownTable(ValueError):
    """A table, column or number that the data source does not know; the text says what there is."""


class TableRequest(Struct, frozen=True, kw_only=True):
    """One table of one dump."""

    path: str
    table: str
    topics: tuple[str, ...] = ()
    """Shell patterns; none admits every topic."""
    log_dirs: tuple[tuple[int, str], ...] = ()
    parts: tuple[str, ...] = ()
    """Folders under the path that are the dump; none means all of it."""
    split_bytes: int = SPLIT_BYTES
    columns: tuple[str, ...] = ()
    """Columns of the result, in order; none means all."""
    payloads: bool = False
    """Whether keys and values of records are shown."""
    deep: bool = False
    """Whether the table of refusals also tells which sound batches cannot be decoded."""
    log_patterns: tuple[str, ...] = ()
    """Layouts of brokers' logs besides Kafka's own, as the option of the command line takes them."""
    log_timezones: tuple[str, ...] = ()
    """Zones of brokers' times, as the option takes them; with any, rows of brokers' logs have the instant too."""
    pushdown: bool = False
    """Whether Spark may hand filters down to the planning of tasks."""

    def __post_init__(self) -> None:
        if self.table not in TABLES:
            raise UnknownTable(f"no table {self.table!r}; there are {', '.join(TABLES)}")
        unknown = [name for name in self.columns if name not in self._whole.names]
        if unknown:
            raise UnknownTable(f"{self.table} has no column {', '.join(unknown)}")
        for pattern in self.log_patterns:
            parse_layout(owner_and_value(pattern)[1])
        if strange := [zone for zone in self.log_timezones if zone_named(owner_and_value(zone)[1]) is None]:
            raise UnknownTable(f"no time zone: {', '.join(strange)}; a zone is such as Europe/Berlin, UTC or +02:00")
        if self.split_bytes < 1:
            raise UnknownTable(f"split_bytes: expected a number above 0, found {self.split_bytes}")

    @property
    def row_class(self) -> type:
        """The class of the table's rows."""
        return TABLES[self.table]

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result."""
        whole = self._whole
        return pa.schema([whole.field(name) for name in self.columns]) if self.columns else whole

    @property
    def _whole(self) -> pa.Schema:
        whole = arrow_schema(self.row_class)
        return whole.append(INSTANT) if self.log_timezones and self.table in OF_CLOCKS else whole

    def wants(self, column: str) -> bool:
        """Whether a column is part of the result."""
        return not self.columns or column in self.columns

    def admits_topic(self, topic: str | None) -> bool:
        """Whether rows about a topic are asked for; what is about no topic always is."""
        return topic is None or not self.topics or any(fnmatchcase(topic, pattern) for pattern in self.topics)

    def admits(self, origin: Origin) -> bool:
        """Whether a file that belongs to a replica is asked for."""
        return self.admits_topic(origin.topic)


def to_options(request: TableRequest) -> dict[str, str]:
    """The options of the data source that say the same."""
    return {
        "path": request.path,
        "table": request.table,
        "topics": ",".join(request.topics),
        "logDirs": json.dumps(request.log_dirs),
        "parts": json.dumps(request.parts),
        "splitBytes": str(request.split_bytes),
        "columns": ",".join(request.columns),
        "payloads": json.dumps(request.payloads),
        "deep": json.dumps(request.deep),
        "logPatterns": json.dumps(request.log_patterns),
        "logTimezones": json.dumps(request.log_timezones),
        "pushdown": json.dumps(request.pushdown),
    }


def from_options(options: Mapping[str, str]) -> TableRequest:
    """What the options of the data source ask for; the inverse of `to_options`."""
    if not options.get("path"):
        raise UnknownTable("the option 'path' names the folder of the dump, and is missing")
    return TableRequest(
        path=options["path"],
        table=options.get("table", ""),
        topics=_list(options.get("topics")),
        log_dirs=tuple((int(broker), str(folder)) for broker, folder in json.loads(options.get("logDirs") or "[]")),
        parts=tuple(json.loads(options.get("parts") or "[]")),
        split_bytes=int(options.get("splitBytes") or SPLIT_BYTES),
        columns=_list(options.get("columns")),
        payloads=options.get("payloads") == "true",
        deep=options.get("deep") == "true",
        log_patterns=tuple(json.loads(options.get("logPatterns") or "[]")),
        log_timezones=tuple(json.loads(options.get("logTimezones") or "[]")),
        pushdown=options.get("pushdown") == "true",
    )


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(item.strip() for item in (text or "").split(",") if item.strip())
