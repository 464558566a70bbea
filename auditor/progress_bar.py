"""Progress for a person who watches: one line on stderr, gone when the report comes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from auditor.engines.progress import Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


@contextmanager
def watched(*, quiet: bool) -> Iterator[Progress]:
    """A bar where stderr is a terminal and nobody asked for quiet; else nothing."""
    if quiet or not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    stderr = Console(stderr=True)
    if not stderr.is_terminal or stderr.is_dumb_terminal:
        yield Silent()
        return
    told = (TextColumn("{task.description}"), BarColumn(bar_width=24), DownloadColumn(binary_units=True))
    # A large file or a job of judges stands for minutes at one number: what turns says that the run goes on.
    columns = (SpinnerColumn("line"), *told, TimeRemainingColumn(), TextColumn("left"))
    with Bars(*columns, console=stderr, transient=True) as bars:
        yield Shown(bars)


class Shown(Silent):
    """Bytes read, replicas judged and the time left, as a bar."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task = bars.add_task("looking around", total=None)
        self._judged = 0
        self._replicas = 0
        self._unread = 0

    def total(self, total_bytes: int, replicas: int) -> None:
        """The bar gets its length."""
        self._replicas, self._unread = replicas, total_bytes
        self._bars.update(self._task, total=total_bytes, description=self._words())

    def advance(self, read_bytes: int) -> None:
        """The bar grows."""
        self._unread -= read_bytes
        self._bars.update(self._task, advance=read_bytes, description=self._words())

    def judged(self, replicas: int) -> None:
        """The words count."""
        self._judged += replicas
        self._bars.update(self._task, description=self._words())

    def _words(self) -> str:
        judging = "" if self._unread > 0 else "judging: "
        return f"{judging}{self._judged} of {self._replicas} replicas"
