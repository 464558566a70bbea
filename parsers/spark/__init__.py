"""The formats as Spark DataFrames: a Python Data Source that yields Arrow batches, planned in byte ranges."""

from __future__ import annotations

from parsers.spark.notebook_dump import DumpTables, open_dump
from parsers.spark.schema import spark_schema
