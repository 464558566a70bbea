"""The Python Data Source: schema, plan and rows of one table of one dump."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from parsers.spark.asked_table import TableRequest, from_options
from parsers.spark.planning import plan
from parsers.spark.registry import READERS
from parsers.spark.row_batches import asked_for, unpacked
from parsers.spark.schema import spark_schema
from parsers.spark.slices import Slice

FORMAT: Final = "tidemark"


class DumpSource(DataSource):
    """`spark.read.format("tidemark").option("path", …).option("table", "batches")`, once registered."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """The columns that were asked for, with their documentation."""
        return spark_schema(from_options(self.options).schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the table; `schema` is the one given above."""
        del schema
        request = from_options(self.options)
        return FilteringReader(request) if request.pushdown else TableScan(request)


class TableScan(DataSourceReader):
    """Reads a table in the slices that the plan gives."""

    def __init__(self, request: TableRequest) -> None:
        self._request = request
        self._wanted: dict[str, frozenset[object]] = {}

    def partitions(self) -> Sequence[InputPartition]:
        """One task a slice; a scan of nothing still has one."""
        return [InputPartition(found) for found in plan(self._request, self._wanted) or [Slice()]]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a slice."""
        if not Path(self._request.path).is_dir():
            raise FileNotFoundError(f"{self._request.path}: this executor does not see the folder of the dump")
        found: Slice = partition.value
        yield from (asked_for(batch, self._request) for batch in unpacked(found.rows))
        if found.parts:
            batches = READERS[self._request.table].rows_of(found.parts, self._request)
            yield from (asked_for(batch, self._request) for batch in batches)


class FilteringReader(TableScan):
    """The same for Spark 4.1 and newer, which hands filters down: files that they exclude are never opened."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Note what restricts a place, and leave every filter to Spark too: a file is skipped, a row is not."""
        from pyspark.sql.datasource import EqualNullSafe, EqualTo, In

        for pushed in filters:
            if isinstance(pushed, EqualTo | EqualNullSafe) and len(pushed.attribute) == 1:
                self._restrict(pushed.attribute[0], [pushed.value])
            elif isinstance(pushed, In) and len(pushed.attribute) == 1:
                self._restrict(pushed.attribute[0], pushed.value)
            yield pushed

    def _restrict(self, column: str, values: Iterable[object]) -> None:
        allowed = frozenset(values)
        self._wanted[column] = self._wanted.get(column, allowed) & allowed
