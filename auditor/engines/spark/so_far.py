"""What tasks have read and judged so far: what somebody who watches is told, and an interrupted run still can tell.

It travels beside the tables, with each task that ends well: a job that is cancelled leaves no table behind.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

import pyarrow as pa
from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam

from parsers.tables import arrow_schema, from_arrow, to_arrow
from rules.finding import Place, place_of
from rules.verdict import PartitionVerdict

SCHEMA: Final = arrow_schema(PartitionVerdict)
Item = TypeVar("Item")


def packed(verdicts: Sequence[PartitionVerdict]) -> bytes:
    """Verdicts as few bytes."""
    return zlib.compress(to_arrow(verdicts, PartitionVerdict).serialize(), level=1)


def unpacked(verdicts: bytes) -> list[PartitionVerdict]:
    """The inverse of `packed`."""
    return from_arrow(pa.ipc.read_record_batch(zlib.decompress(verdicts), SCHEMA), PartitionVerdict)


class _Heap(AccumulatorParam[list[Item]]):
    """Lists laid together."""

    def zero(self, value: list[Item]) -> list[Item]:
        """Nothing yet."""
        return value[:0]

    def addInPlace(self, value1: list[Item], value2: list[Item]) -> list[Item]:  # noqa: N802 - pyspark's names
        """Both, in the order of their coming."""
        value1.extend(value2)
        return value1


class ReadSoFar:
    """Filled by reading tasks, asked by the driver while they run."""

    def __init__(self, context: SparkContext, sizes: Sequence[int]) -> None:
        self._heap: Accumulator[list[int]] = context.accumulator([], _Heap())
        self._sizes = sizes

    def tell(self, task: int) -> None:
        """On an executor: a task has read all of its share; it counts when the task ends well."""
        self._heap.add([task])

    @property
    def bytes(self) -> int:
        """On the driver: the shares that were read, each once: a task that ran twice has told it twice."""
        return sum(self._sizes[task] for task in set(self._heap.value))


class JudgedSoFar:
    """Filled by the tasks, read by the driver when it is interrupted."""

    def __init__(self, context: SparkContext) -> None:
        self._heap: Accumulator[list[bytes]] = context.accumulator([], _Heap())
        self._given: set[Place] = set()

    def tell(self, verdicts: bytes) -> None:
        """On an executor: verdicts are reached; they count when their task ends well."""
        self._heap.add([verdicts])

    def given(self, verdict: PartitionVerdict) -> None:
        """On the driver: a verdict was handed on."""
        self._given.add(place_of(verdict))

    def rest(self) -> Iterator[PartitionVerdict]:
        """What was reached and not handed on, each partition once: a task that ran twice has told it twice."""
        for message in tuple(self._heap.value):
            for verdict in unpacked(message):
                if place_of(verdict) not in self._given:
                    self.given(verdict)
                    yield verdict
