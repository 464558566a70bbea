"""A dump in a notebook: every table a DataFrame, read when it is used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Final

from msgspec import structs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSourceReader
from pyspark.sql.functions import broadcast, coalesce, col, count, first

from parsers.inventory import NotADump, enclose
from parsers.spark.asked_table import SPLIT_BYTES, TableRequest, to_options
from parsers.spark.long_traces import OF_SESSIONS, cut_traces, traced
from parsers.spark.registry import READERS
from parsers.spark.source import FORMAT, DumpSource

TELLING: Final = ("sources", "topic_changes", "events", "isr_requests", "descriptions")
"""Tables whose rows may tell both: directories, the metadata log, brokers' logs, requests, outputs of tools."""
_NO_ID: Final = "A" * 22


def topics_of_ids(tables: Iterable[DataFrame]) -> DataFrame:
    """Each id that bears one name, and that name; an id to which several are given is left out."""
    pairs = reduce(DataFrame.union, (table.select("topic_id", "topic") for table in tables))
    both = pairs.where(f"topic IS NOT NULL AND topic_id <> '{_NO_ID}'").distinct()
    names = both.groupBy("topic_id").agg(first("topic").alias("topic"), count("*").alias("names"))
    return names.where("names = 1").select("topic_id", "topic")


def with_topics(frame: DataFrame, names: DataFrame) -> DataFrame:
    """The rows with the topics of their ids, where they do not tell them."""
    given = names.select(col("topic_id").alias("_of_id"), col("topic").alias("_named"))
    joined = frame.join(broadcast(given), frame["topic_id"] == given["_of_id"], "left")
    columns = {name: frame[name] for name in frame.columns}
    topic = coalesce(frame["topic"], given["_named"]).alias("topic", metadata=frame.schema["topic"].metadata)
    return joined.select(*{**columns, "topic": topic}.values())


_PUSHDOWN: Final = "spark.sql.python.filterPushdown.enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpTables:
    """The tables of one dump. Nothing is read before Spark runs a query."""

    spark: SparkSession
    request: TableRequest

    def table(self, name: str, columns: Sequence[str] = ()) -> DataFrame:
        """A table by its name, or some of its columns.

        Spark tells a Python source which filters a query has, but not which columns it uses: name them here, and the
        others are not computed. Without `crc_valid` no checksum is.
        """
        request = structs.replace(self.request, table=name, columns=tuple(columns))
        if name in OF_SESSIONS and (parts := cut_traces(request)):
            return traced(self.spark, request, parts)
        return self.spark.read.format(FORMAT).options(**to_options(request)).load()

    def with_logs(self, *, patterns: Sequence[str] = (), timezones: Sequence[str] = ()) -> DumpTables:
        """The same dump, told how its brokers' logs are written, as `--log-pattern` and `--log-timezone` say it.

        `patterns` are layouts of log4j, for all brokers or for one (`"2=%d %p %m%n"`). `timezones` are the zones of the
        brokers' clocks (`"Europe/Berlin"`, `"2=+02:00"`): with any, `events` and `settings` have a column `time`.
        """
        request = structs.replace(self.request, log_patterns=tuple(patterns), log_timezones=tuple(timezones))
        return replace(self, request=request)

    def register(self, prefix: str = "") -> tuple[str, ...]:
        """Every table as a temporary view for SQL; the names of the views."""
        names = tuple(f"{prefix}{name}" for name in READERS)
        for name, view in zip(READERS, names, strict=True):
            self.table(name).createOrReplaceTempView(view)
        return names

    @property
    def topic_ids(self) -> DataFrame:
        """The topic of every id that bears one name, by whoever tells both: all logs are read for it."""
        whole = replace(self, request=structs.replace(self.request, topics=()))
        return topics_of_ids(whole.table(name) for name in TELLING)

    def named(self, table: DataFrame) -> DataFrame:
        """A table with the topics of its ids, where its rows tell the id alone, as fetches do since 3.1."""
        return with_topics(table, self.topic_ids)

    @property
    def batches(self) -> DataFrame:
        """Headers of record batches, in physical order within a file."""
        return self.table("batches")

    @property
    def records(self) -> DataFrame:
        """Records of the batches whose checksum holds."""
        return self.table("records")

    @property
    def epochs(self) -> DataFrame:
        """Entries of leader-epoch-checkpoints."""
        return self.table("epochs")

    @property
    def checkpoints(self) -> DataFrame:
        """Lines of offset checkpoints: high watermarks, recovery points, log starts."""
        return self.table("checkpoints")

    @property
    def producers(self) -> DataFrame:
        """Entries of producer snapshots."""
        return self.table("producers")

    @property
    def indexes(self) -> DataFrame:
        """Entries of offset, time and transaction indexes."""
        return self.table("indexes")

    @property
    def refusals(self) -> DataFrame:
        """What could not be read."""
        return self.table("refusals")

    @property
    def sources(self) -> DataFrame:
        """Files of the dump."""
        return self.table("sources")

    @property
    def fetches(self) -> DataFrame:
        """Fetches of request logs, their sessions rebuilt, and of tables that were brought along."""
        return self.table("fetches")

    @property
    def events(self) -> DataFrame:
        """Events of broker logs."""
        return self.table("events")

    @property
    def descriptions(self) -> DataFrame:
        """What the `--describe` options of Kafka's tools printed."""
        return self.table("descriptions")

    @property
    def metadata_changes(self) -> DataFrame:
        """Changes of leaders and ISRs in each node's copy of the metadata log."""
        return self.table("metadata_changes")

    @property
    def group_offsets(self) -> DataFrame:
        """Offsets that consumer groups committed."""
        return self.table("group_offsets")

    @property
    def transactions(self) -> DataFrame:
        """States of transactions."""
        return self.table("transactions")


def open_dump(
    spark: SparkSession,
    path: str | Path | Sequence[str | Path],
    *,
    topics: Sequence[str] | None = None,
    log_dirs: Sequence[tuple[int, str]] = (),
    split_bytes: int = SPLIT_BYTES,
    payloads: bool = False,
    deep: bool = False,
) -> DumpTables:
    """The tables of a dump that lies at the same path on the driver and on every executor: one folder, or several.

    `topics` are shell patterns: files of other topics are not opened. `log_dirs` gives folders to brokers, as
    (broker, folder inside the dump). With `deep`, refusals also name sound batches whose records cannot be decoded.
    """
    folders = [path] if isinstance(path, str | Path) else path
    try:
        root, parts = enclose([Path(folder) for folder in folders])
    except NotADump as refused:
        raise FileNotFoundError(str(refused)) from refused
    spark.dataSource.register(DumpSource)
    request = TableRequest(
        path=str(root.resolve()),
        parts=parts,
        table="batches",
        topics=tuple(topics or ()),
        log_dirs=tuple(log_dirs),
        split_bytes=split_bytes,
        payloads=payloads,
        deep=deep,
        pushdown=_may_push(spark),
    )
    return DumpTables(spark=spark, request=request)


def _may_push(spark: SparkSession) -> bool:
    """Spark refuses a source that takes filters unless its setting, off by default, allows it; 4.0 knows neither."""
    if not hasattr(DataSourceReader, "pushFilters"):
        return False
    spark.conf.set(_PUSHDOWN, "true")
    return True
