"""Columns that every table shares: whose row it is, and the bytes it was read from."""

from __future__ import annotations

from typing import Annotated

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
