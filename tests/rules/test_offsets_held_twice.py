"""A log that took a batch beginning below its end holds offsets twice: what stands there first is what differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.written_bytes import legacy_set_bytes
from tests.rules.broken_dumps import Batch, Yard, batch


def of_format_1(base: int, end: int, letter: str) -> Batch:
    values = [f"{letter}-{offset}".encode() * 4 for offset in range(base, end)]
    return Batch(base, end, -1, legacy_set_bytes(magic=1, base_offset=base, values=values, codec="gzip", timestamp=7))


def of_format_2(base: int, end: int, letter: str) -> Batch:
    return batch(0, base, end, letter)


@pytest.mark.parametrize("make", [of_format_1, of_format_2])
@pytest.mark.parametrize("level", ["quick", "full", "deep"])
def test_records_under_a_batch_that_both_hold_differ_to_their_end(
    make: Callable[[int, int, str], Batch], level: str, tmp_path: Path
) -> None:
    # Cut at its high watermark 23, inside the leader's batch [20, 25), and sent that batch whole.
    shared, after = make(0, 10, "a"), make(20, 25, "c")
    yard = Yard(tmp_path)
    epochs = [] if shared.epoch < 0 else None
    yard.broker(1, [shared, make(10, 20, "b"), make(20, 23, "b"), after], epochs=epochs)
    yard.broker(2, [shared, make(10, 20, "c"), after], epochs=epochs)
    ranges = [(start, end) for rule, _, _, start, end in yard.told(level) if rule == "LOG001"]
    assert ranges == [(10, 23)]
