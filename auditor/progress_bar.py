"""Progress for whoever watches: a line on stderr that is gone when the report comes, or a line a minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TextIO

from auditor.engines.progress import Progress, Silent
from auditor.report.sheet import size

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

A_MINUTE: Final = 60.0


@contextmanager
def watched(*, quiet: bool, seconds: float = A_MINUTE) -> Iterator[Progress]:
    """A bar where stderr is a terminal, a line a minute where it is none; nothing where somebody asked for quiet."""
    if quiet:
        yield Silent()
        return
    if not sys.stderr.isatty():
        with lines(sys.stderr, seconds) as told:
            yield told
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    stderr = Console(stderr=True)
    if not stderr.is_terminal or stderr.is_dumb_terminal:
        with lines(sys.stderr, seconds) as told:
            yield told
        return
    columns_of_bytes = (TextColumn("{task.description}"), BarColumn(bar_width=24), DownloadColumn(binary_units=True))
    # A large file or a job of judges stands for minutes at one number: what turns says that the run goes on.
    columns = (SpinnerColumn("line"), *columns_of_bytes, TimeRemainingColumn(), TextColumn("left"))
    with Bars(*columns, console=stderr, transient=True) as bars:
        yield Shown(bars)


@contextmanager
def lines(stream: TextIO, seconds: float) -> Iterator[Progress]:
    """A line every so many seconds, from a thread of its own: a long step tells nothing by itself."""
    told, ended = Counted(), Event()
    began = time.monotonic()

    def tell() -> None:
        while not ended.wait(seconds):
            with suppress(OSError, ValueError):  # a reader that went away is no reason to end
                stream.write(f"tidemark: {told.line(time.monotonic() - began)}\n")
                stream.flush()

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        ended.set()
        thread.join()


class Counted(Silent):
    """How far a run has come, in numbers and in words."""

    def __init__(self) -> None:
        self.bytes = 0
        self.read = 0
        self._judged = 0
        self._replicas = 0
        self._doing = "looking around"
        self._parts = ""

    def total(self, total_bytes: int, replicas: int) -> None:
        """It is known how much there is."""
        self.bytes, self._replicas, self._doing = total_bytes, replicas, ""

    def advance(self, read_bytes: int) -> None:
        """More is read."""
        self.read += read_bytes

    def doing(self, words: str) -> None:
        """Something else than reading goes on."""
        self._doing, self._parts = words, ""

    def done(self, parts: int, of: int) -> None:
        """Some of that is done."""
        self._parts = f": {parts} of {of} parts"

    def judged(self, replicas: int) -> None:
        """More replicas have their verdict."""
        self._judged += replicas

    @property
    def words(self) -> str:
        """What goes on."""
        if self._doing:
            return f"{self._doing}{self._parts}"
        judging = "judging: " if self.bytes and self.read >= self.bytes else ""
        return f"{judging}{self._judged} of {self._replicas} replicas"

    def line(self, seconds: float) -> str:
        """All of it, for a log; the time left is said while something is read and something is not."""
        told = f"{self.words}, {size(self.read)} of {size(self.bytes)} read after {_minutes(seconds)}"
        if 0 < self.read < self.bytes and not self._doing:
            told += f", about {_minutes(seconds * (self.bytes - self.read) / self.read)} left to read"
        return told


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < A_MINUTE else f"{seconds / A_MINUTE:.0f} min"


class Shown(Counted):
    """The same as a bar."""

    def __init__(self, bars: Bars) -> None:
        super().__init__()
        self._bars = bars
        self._task = bars.add_task(self.words, total=None)

    def total(self, total_bytes: int, replicas: int) -> None:
        """The bar gets its length."""
        super().total(total_bytes, replicas)
        self._bars.update(self._task, total=total_bytes, description=self.words)

    def advance(self, read_bytes: int) -> None:
        """The bar grows."""
        super().advance(read_bytes)
        self._bars.update(self._task, advance=read_bytes, description=self.words)

    def doing(self, words: str) -> None:
        """The words change."""
        super().doing(words)
        self._bars.update(self._task, description=self.words)

    def done(self, parts: int, of: int) -> None:
        """The words count."""
        super().done(parts, of)
        self._bars.update(self._task, description=self.words)

    def judged(self, replicas: int) -> None:
        """The words count."""
        super().judged(replicas)
        self._bars.update(self._task, description=self.words)
