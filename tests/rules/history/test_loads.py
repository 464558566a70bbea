"""A start loads every folder of a partition, and most lines do not tell which."""

from __future__ import annotations

import pytest

from rules.history.loads import of_one_folder
from rules.sketch.statement_lines import read_event

BEFORE = "t1 leads 2 epoch 0 at 0 hw 0\nt2 saves 2 at 40\n"


@pytest.mark.parametrize(
    ("start", "several", "kept"),
    [
        # One folder: whatever is said is of it.
        ("t5 saves 2 at 137\nt6 loads 2 at 10", {2}, [(2, None), (5, None), (6, 10)]),
        # Another one waits for its deletion, with 137 records.
        ("t5 saves 2 at 137\nt6 loads 2 at 137\nt7 loads 2 at 10", {2}, [(6, None)]),
        ("t5 loads 2 at 10\nt7 loads 2 at 10", {2}, [(5, 10)]),
        # Two starts, or another broker's folders.
        ("t5 loads 2 at 10\nt6 leads 2 epoch 1 at 10 hw 10\nt7 loads 2 at 12", {2}, [(2, None), (5, 10), (7, 12)]),
        ("t5 loads 2 at 10\nt7 loads 2 at 12", {1}, [(2, None), (5, 10), (7, 12)]),
    ],
)
def test_what_may_be_said_of_another_folder_is_not_told(
    start: str, several: set[int], kept: list[tuple[int, int | None]]
) -> None:
    told = of_one_folder([read_event(line) for line in (BEFORE + start).splitlines()], several)
    loads = [moment for moment in told if moment.kind in ("log-loaded", "producer-state-saved")]
    assert [(m.time, m.end_offset if m.kind == "log-loaded" else None) for m in loads] == kept
