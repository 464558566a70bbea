"""What a person who watches a run is told: how much is read, and that all is read while partitions are judged."""

from __future__ import annotations

import re
import sys
import time
from io import StringIO
from pathlib import Path
from unittest import mock

from rich.console import Console
from rich.progress import Progress as Bars

from auditor.progress_bar import Counted, Shown, lines, watched
from parsers.inventory import take_inventory


def test_when_all_is_read_the_bar_says_that_partitions_are_judged() -> None:
    bars = Bars(console=Console(file=StringIO()))
    shown = Shown(bars)
    shown.total(10, 3)
    shown.advance(4)
    assert [(task.description, task.completed) for task in bars.tasks] == [("0 of 3 replicas", 4)]
    shown.advance(6)
    shown.judged(2)
    assert [(task.description, task.completed) for task in bars.tasks] == [("judging: 2 of 3 replicas", 10)]


def test_what_goes_on_beside_reading_is_named() -> None:
    bars = Bars(console=Console(file=StringIO()))
    shown = Shown(bars)
    assert bars.tasks[0].description == "looking around"
    shown.total(10, 3)
    shown.doing("starting Spark")
    assert bars.tasks[0].description == "starting Spark"
    shown.doing("judging")
    shown.done(3, 8)
    assert bars.tasks[0].description == "judging: 3 of 8 parts"
    shown.doing("")
    shown.advance(10)
    assert bars.tasks[0].description == "judging: 0 of 3 replicas"


def test_off_a_terminal_a_line_comes_now_and_then_and_none_after_the_end() -> None:
    stream = StringIO()
    with lines(stream, 0.02) as told:
        told.total(4 << 20, 3)
        told.advance(1 << 20)
        while stream.getvalue().count("\n") < 3:
            time.sleep(0.01)
    told_by_then = stream.getvalue()
    time.sleep(0.06)
    assert stream.getvalue() == told_by_then
    last = told_by_then.splitlines()[-1]
    assert re.fullmatch(
        r"tidemark: 0 of 3 replicas, 1\.0 MiB of 4\.0 MiB of files read after \d+ s, about \d+ s left to read", last
    ), last


def test_the_time_left_is_that_of_what_is_unread() -> None:
    now = [0.0]
    told = Counted(lambda: now[0])
    told.total(300, 5)
    told.doing("starting Spark")
    now[0] = 30
    told.again(100)
    told.doing("following fetch sessions")
    told.advance(100)
    now[0] = 120
    assert told.line(120).endswith("100 B of 400 B of files read after 2 min, about 4 min left to read")
    told.doing("")
    told.advance(300)
    assert told.line(120).endswith("400 B of 400 B of files read after 2 min")


def test_the_time_left_is_that_of_what_is_unjudged_once_something_is_judged() -> None:
    now = [0.0]
    told = Counted(lambda: now[0])
    told.total(100, 5)
    told.advance(90)
    now[0] = 10
    told.judged(1)
    assert told.left == "about 1 s left to read"
    now[0] = 50
    told.judged(1)
    assert told.left == "about 2 min left"
    told.judged(3)
    assert told.left == "about 6 s left to read"
    told.advance(10)
    assert told.left == ""


def test_a_short_run_off_a_terminal_says_nothing() -> None:
    stderr = StringIO()
    with mock.patch.object(sys, "stderr", stderr), watched(quiet=False) as told:
        told.total(10, 1)
        told.advance(10)
    with mock.patch.object(sys, "stderr", stderr), watched(quiet=True, seconds=0.01):
        time.sleep(0.05)
    assert stderr.getvalue() == ""


def test_while_a_tree_is_looked_over_its_files_are_counted(tmp_path: Path) -> None:
    """Nothing is known to be read by then; a tree of a million files takes minutes."""
    for number in range(3):
        (tmp_path / f"folder-{number}").mkdir()
        (tmp_path / f"folder-{number}" / "any").write_bytes(b"any")
    told: list[str] = []

    class Heard(Counted):
        def seen(self, files: int, of: int) -> None:
            super().seen(files, of)
            told.append(self.line(1))

    take_inventory(tmp_path, seen=Heard().seen)
    assert "looking around: 3 files found after 1 s" in told
    assert told[-1] == "looking around: 2 of 3 files after 1 s"
