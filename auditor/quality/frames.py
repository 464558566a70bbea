"""The tables as expectations look at them: beside each row what has to be measured across rows and tables."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation gives it

from auditor.quality.plan import (
    ADDRESS,
    BYTES_BEHIND,
    MAY_BE_EMPTY,
    ROWS_OF_KEY,
    SOURCE_SIZE,
    SPAN_SIZE,
    natural_key,
)


def measured(tables: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Every table with its measures; of the tables, `sources` tells which files there are."""
    sizes = _sizes(tables["sources"])
    return {name: _with_measures(name, _with_size(name, frame, sizes)) for name, frame in tables.items()}


def in_order(frame: DataFrame) -> DataFrame:
    """Rows by their address, so that the first that fail are the same ones in every run."""
    return frame.orderBy(*ADDRESS)


def _sizes(sources: DataFrame) -> DataFrame:
    """One row a file, also where a defect lists it twice: a join must not multiply the rows that it looks at."""
    return sources.groupBy("source").agg(F.max("size").alias(SOURCE_SIZE))


def _with_size(table: str, frame: DataFrame, sizes: DataFrame) -> DataFrame:
    if table == "sources":
        return frame.withColumn(SOURCE_SIZE, F.col("size"))
    joined = frame.join(F.broadcast(sizes), on="source", how="left").select(*frame.columns, SOURCE_SIZE)
    if table not in MAY_BE_EMPTY:
        return joined
    # A row of no bytes at 0 speaks of a folder, a link or an empty file.
    size = F.when(F.col("span_end") == 0, F.coalesce(SOURCE_SIZE, F.lit(0))).otherwise(F.col(SOURCE_SIZE))
    return joined.withColumn(SOURCE_SIZE, size)


def _with_measures(table: str, frame: DataFrame) -> DataFrame:
    same_key = Window.partitionBy(*natural_key(table))
    return frame.withColumns(
        {
            # Absurd spans must fail an expectation and not the run.
            SPAN_SIZE: F.try_subtract("span_end", "span_start"),
            BYTES_BEHIND: F.try_subtract(SOURCE_SIZE, "span_end"),
            ROWS_OF_KEY: F.count(F.lit(1)).over(same_key),
        }
    )
