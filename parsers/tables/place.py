"""Columns that tables share: whose row it is, the bytes it was read from, and how long a request took."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from parsers.tables.column import i32, i64, text

ClusterId = Annotated[str | None, text("cluster.id of the log dir's meta.properties; null where the broker wrote none.")]
Broker = Annotated[int | None, i32("Broker (node) id.", minimum=0)]
LogDir = Annotated[str | None, text("Log dir (one entry of log.dirs), as a path inside the dump.")]
Topic = Annotated[str | None, text("Topic name.")]
TopicId = Annotated[str | None, text("Topic id of partition.metadata, 22 base64url characters; null before 2.8.")]
Partition = Annotated[int | None, i32("Partition number.", minimum=0)]
SourcePath = Annotated[str, text("File the row was read from, as a path inside the dump.")]
SpanStart = Annotated[int, i64("First byte of the row in its source.", minimum=0)]
SpanEnd = Annotated[int, i64("First byte after the row in its source.", minimum=0)]


class AddressedRow(Struct, frozen=True, kw_only=True):
    """Whose row it is and where it was read; the address stands last in a table, and times of a request before it."""

    last_columns = (
        "total_time_us", "queue_time_us", "local_time_us", "remote_time_us", "response_queue_time_us", "send_time_us",
        "source", "span_start", "span_end",
    )  # fmt: skip

    cluster_id: ClusterId
    broker: Broker
    source: SourcePath
    span_start: SpanStart
    span_end: SpanEnd


class PartitionRow(AddressedRow, frozen=True, kw_only=True):
    """A row of a file that belongs to a log dir, and most often to one partition in it."""

    log_dir: LogDir
    topic: Topic
    topic_id: TopicId
    partition: Partition
