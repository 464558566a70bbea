"""The formats as Spark DataFrames: a Python Data Source that yields Arrow batches, planned in byte ranges."""

from __future__ import annotations

from parsers.spark.notebook_dump import DumpTables, open_dump
from parsers.spark.schema import spark_schema
from parsers.spark.source import DumpSource

__all__ = ["DumpSource", "DumpTables", "open_dump", "spark_schema"]
