"""The verdicts that tasks have reached so far: what an interrupted run still can tell.

They travel beside the table of verdicts, with each task that ends well: a job that is cancelled leaves no table behind.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam

from parsers.tables import arrow_schema, from_arrow, to_arrow
from rules.verdict import PartitionVerdict

SCHEMA: Final = arrow_schema(PartitionVerdict)
Place = tuple[str | None, str | None, int | None]


def packed(verdicts: Sequence[PartitionVerdict]) -> bytes:
    """Verdicts as few bytes."""
    return zlib.compress(to_arrow(verdicts, PartitionVerdict).serialize(), level=1)


def unpacked(verdicts: bytes) -> list[PartitionVerdict]:
    """The inverse of `packed`."""
    return from_arrow(pa.ipc.read_record_batch(zlib.decompress(verdicts), SCHEMA), PartitionVerdict)


class _Heap(AccumulatorParam[list[bytes]]):
    """Lists laid together."""

    def zero(self, value: list[bytes]) -> list[bytes]:
        """Nothing yet."""
        return value[:0]

    def addInPlace(self, value1: list[bytes], value2: list[bytes]) -> list[bytes]:  # noqa: N802 - pyspark's names
        """Both, in the order of their coming."""
        value1.extend(value2)
        return value1


class JudgedSoFar:
    """Filled by the tasks, read by the driver when it is interrupted."""

    def __init__(self, context: SparkContext) -> None:
        self._heap = context.accumulator([], _Heap())
        self._given: set[Place] = set()

    def tell(self, verdicts: bytes) -> None:
        """On an executor: verdicts are reached; they count when their task ends well."""
        self._heap.add([verdicts])

    def given(self, verdict: PartitionVerdict) -> None:
        """On the driver: a verdict was handed on."""
        self._given.add((verdict.cluster_id, verdict.topic, verdict.partition))

    def rest(self) -> Iterator[PartitionVerdict]:
        """What was reached and not handed on, each partition once: a task that ran twice has told it twice."""
        for message in tuple(self._heap.value):
            for verdict in unpacked(message):
                if (verdict.cluster_id, verdict.topic, verdict.partition) not in self._given:
                    self.given(verdict)
                    yield verdict
