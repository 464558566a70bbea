"""Topics by their ids, for rows that tell an id alone, as fetches do since 3.1."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.functions import broadcast, coalesce, col, count, first

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
