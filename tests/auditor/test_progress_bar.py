"""What a person who watches a run is told: how much is read, and that all is read while partitions are judged."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.progress import Progress as Bars

from auditor.progress_bar import Shown


def test_when_all_is_read_the_bar_says_that_partitions_are_judged() -> None:
    bars = Bars(console=Console(file=StringIO()))
    shown = Shown(bars)
    shown.total(10, 3)
    shown.advance(4)
    assert [(task.description, task.completed) for task in bars.tasks] == [("0 of 3 replicas", 4)]
    shown.advance(6)
    shown.judged(2)
    assert [(task.description, task.completed) for task in bars.tasks] == [("judging: 2 of 3 replicas", 10)]
