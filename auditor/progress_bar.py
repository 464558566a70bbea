"""Progress for whoever watches: a line on stderr that is gone when the report comes, or a line a minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TextIO

from auditor.engines.progress import Progress
from auditor.report.sheet import size

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

A_MINUTE: Final = 60.0


@contextmanager
def watched(*, quiet: bool, seconds: float = A_MINUTE) -> Iterator[Progress]:
    """A bar where stderr is a terminal, a line a minute where it is none; nothing where somebody asked for quiet."""
    if quiet:
        yield Progress()
        return
    if not sys.stderr.isatty():
        with lines(sys.stderr, seconds) as progress:
            yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars

    stderr = Console(stderr=True)
    if not stderr.is_terminal or stderr.is_dumb_terminal:
        with lines(sys.stderr, seconds) as progress:
            yield progress
        return
    columns_of_bytes = (TextColumn("{task.description}"), BarColumn(bar_width=24), DownloadColumn(binary_units=True))
    # A large file or a job of judges stands for minutes at one number: what turns says that the run goes on.
    columns = (SpinnerColumn("line"), *columns_of_bytes, TextColumn("{task.fields[shown].left}"))
    with Bars(*columns, console=stderr, transient=True) as bars:
        yield Shown(bars)


@contextmanager
def lines(stream: TextIO, seconds: float) -> Iterator[Progress]:
    """A line every so many seconds, from a thread of its own: a long step tells nothing by itself."""
    counted, ended = Counted(), Event()
    began = time.monotonic()

    def tell() -> None:
        while not ended.wait(seconds):
            with suppress(OSError, ValueError):  # a reader that went away is no reason to end
                stream.write(f"tidemark: {counted.line(time.monotonic() - began)}\n")
                stream.flush()

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield counted
    finally:
        ended.set()
        thread.join()


class Counted(Progress):
    """How far a run has come, in numbers and in words."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes = 0
        self.read = 0
        self._clock = clock
        self._reading_since = clock()
        self._judging_since = self._reading_since
        self._judged = self._judged_first = 0
        self._replicas = 0
        self._doing = "looking around"
        self._parts = ""

    def seen(self, files: int, of: int) -> None:
        """The dump is looked over, before it is known how much there is to read."""
        self._parts = f": {files} of {of} files" if of else f": {files} files found"

    def total(self, total_bytes: int, replicas: int) -> None:
        """It is known how much there is."""
        self.bytes, self._replicas = total_bytes, replicas
        self.doing("")

    def again(self, more_bytes: int) -> None:
        """Some of it will be read once more."""
        self.bytes += more_bytes

    def advance(self, read_bytes: int) -> None:
        """More is read."""
        self.read += read_bytes

    def doing(self, words: str) -> None:
        """Something goes on beside reading; what was done before the first byte says nothing of the time left."""
        self._doing, self._parts = words, ""
        if not self.read:
            self._reading_since = self._clock()

    def done(self, parts: int, of: int) -> None:
        """Some of that is done."""
        self._parts = f": {parts} of {of} parts"

    def judged(self, replicas: int) -> None:
        """More replicas have their verdict: from the first on, what is read is judged as well, which takes longer."""
        if not self._judged:
            self._judging_since, self._judged_first = self._clock(), replicas
        self._judged += replicas

    @property
    def words(self) -> str:
        """What goes on."""
        if self._doing:
            return f"{self._doing}{self._parts}"
        judging = "judging: " if self.bytes and self.read >= self.bytes else ""
        return f"{judging}{self._judged} of {self._replicas} replicas"

    @property
    def left(self) -> str:
        """How long it will take still, as far as that can be told; empty words where it cannot."""
        if self._doing and self.read in (0, self.bytes):
            return ""
        now = self._clock()
        if self._judged_first < self._judged < self._replicas:
            seconds = (now - self._judging_since) / (self._judged - self._judged_first)
            return f"about {_minutes(seconds * (self._replicas - self._judged))} left"
        if 0 < self.read < self.bytes:
            return f"about {_minutes((now - self._reading_since) * (self.bytes - self.read) / self.read)} left to read"
        return ""

    def line(self, seconds: float) -> str:
        """All of it, for a log."""
        read = f", {size(self.read)} of {size(self.bytes)} of files read" if self.bytes else ""
        words = f"{self.words}{read} after {_minutes(seconds)}"
        return f"{words}, {self.left}" if self.left else words


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < A_MINUTE else f"{seconds / A_MINUTE:.0f} min"


class Shown(Counted):
    """The same as a bar."""

    def __init__(self, bars: Bars) -> None:
        super().__init__()
        self._bars = bars
        self._task = bars.add_task(self.words, total=None, shown=self)

    def _redraw(self) -> None:
        self._bars.update(self._task, total=self.bytes or None, completed=self.read, description=self.words)

    def seen(self, files: int, of: int) -> None:
        """The words count."""
        super().seen(files, of)
        self._redraw()

    def again(self, more_bytes: int) -> None:
        """The bar gets longer."""
        super().again(more_bytes)
        self._redraw()

    def advance(self, read_bytes: int) -> None:
        """The bar grows."""
        super().advance(read_bytes)
        self._redraw()

    def doing(self, words: str) -> None:
        """The words change; the bar gets its length when nothing else goes on any more."""
        super().doing(words)
        self._redraw()

    def done(self, parts: int, of: int) -> None:
        """The words count."""
        super().done(parts, of)
        self._redraw()

    def judged(self, replicas: int) -> None:
        """The words count."""
        super().judged(replicas)
        self._redraw()
