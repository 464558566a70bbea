"""Units put together into tasks of one size, as Arrow streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from msgspec import Struct

from auditor.engines.plan.units import UNIT_BYTES, ReadUnit
from parsers.tables import to_arrow

UNIT_COST: Final = 64 << 10
"""Opening a unit's files takes as long as reading so many bytes."""
SMALLEST_TASK: Final = 4 << 20
TASKS_A_CORE: Final = 8
"""With one task a core all of them end together: nothing would be known to be read until everything is."""


class Pack(Struct, frozen=True, kw_only=True):
    """Units that one task reads, as an Arrow stream, and the bytes that they read."""

    units: bytes
    size: int


def packs_of(units: Sequence[ReadUnit], cores: int) -> list[Pack]:
    """The units in their order, small ones together, so that tasks are alike and no core is left without one."""
    total = sum(unit.bytes + UNIT_COST for unit in units)
    room = min(UNIT_BYTES, max(SMALLEST_TASK, total // max(1, TASKS_A_CORE * cores)))
    packs: list[Pack] = []
    first, filled = 0, 0
    for place, unit in enumerate(units):
        cost = unit.bytes + UNIT_COST
        if filled and filled + cost > room + UNIT_COST:
            packs.append(_pack(units[first:place], first))
            first, filled = place, 0
        filled += cost
    return [*packs, _pack(units[first:], first)]


def _pack(units: Sequence[ReadUnit], first: int) -> Pack:
    batch = to_arrow(units, ReadUnit)
    places = pa.array(range(first, first + len(units)), pa.int64())
    batch = batch.append_column("place", places)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return Pack(units=sink.getvalue().to_pybytes(), size=sum(unit.bytes for unit in units))
