"""A Spark job that is watched while it runs, stopped when its watcher is, and explained when it fails."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from threading import Event
from typing import Final, TypeVar

from msgspec import Struct
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from auditor.config import ConfigError
from auditor.engines.progress import Progress
from auditor.engines.spark.so_far import ReadSoFar

POLL_SECONDS: Final = 0.2
UNSEEN: Final = "this executor does not see the dump"
"""What a task says that was sent to a node without the dump."""

OUT_OF_MEMORY: Final = ("java.lang.OutOfMemoryError", "Python worker exited unexpectedly")

Outcome = TypeVar("Outcome")


class WatchedJob(Struct, frozen=True, kw_only=True):
    """One Spark job that is watched while it runs and stopped when the watcher is."""

    session: SparkSession
    progress: Progress
    dump: str
    read: ReadSoFar | None = None
    """What the tasks of a job that reads tell; the parts of another job are counted."""

    def run(self, work: Callable[[], Outcome]) -> Outcome:
        """Run the job to its end in a thread of its own, so that an interrupt is heard at once."""
        outcomes: list[Outcome] = []
        group = f"tidemark-{uuid.uuid4()}"
        failures: list[Exception] = []
        finished = Event()
        args = (lambda: outcomes.append(work()), group, failures)
        thread = InheritableThread(target=self._guarded, args=args, session=self.session)
        # An interrupt in the midst of a word to the JVM breaks the connection: this thread never asks, it only waits.
        parts = [(0, 0)]
        watcher = InheritableThread(target=self._watch, args=(group, finished, parts), session=self.session)
        thread.start()
        watcher.start()
        shown = 0
        try:
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                shown = self._tell(shown, parts[0])
        except BaseException:
            self.session.sparkContext.cancelJobGroup(group)
            raise
        finally:
            finished.set()
            watcher.join()
        if failures:
            raise explained(failures[0], self.dump) from failures[0]
        self._tell(shown, parts[0])
        return outcomes[0]

    def _watch(self, group: str, finished: Event, parts: list[tuple[int, int]]) -> None:
        while self.read is None and not finished.wait(POLL_SECONDS):
            parts[0] = self._parts(group)

    def _guarded(self, work: Callable[[], object], group: str, failures: list[Exception]) -> None:
        try:
            self.session.sparkContext.setJobGroup(group, "tidemark audit", interruptOnCancel=True)
            work()
        except Exception as error:  # noqa: BLE001 - it is raised again, explained, by the thread that waits
            failures.append(error)

    def _tell(self, shown: int, parts: tuple[int, int]) -> int:
        """What was done since: bytes where the job reads, else tasks."""
        if self.read is None:
            done, known = parts
            if known:
                self.progress.done(done, known)
            return shown
        read = self.read.bytes
        if read > shown:
            self.progress.advance(read - shown)
        return read

    def _parts(self, group: str) -> tuple[int, int]:
        """Finished tasks of all stages that run or have run, and how many they are; some stages are skipped."""
        tracker = self.session.sparkContext.statusTracker()
        known = [info for stage in self._stages(group) if (info := tracker.getStageInfo(stage)) is not None]
        begun = [info for info in known if info.numCompletedTasks or info.numActiveTasks]
        return sum(info.numCompletedTasks for info in begun), sum(info.numTasks for info in begun)

    def _stages(self, group: str) -> list[int]:
        tracker = self.session.sparkContext.statusTracker()
        jobs = [info for job in tracker.getJobIdsForGroup(group) if (info := tracker.getJobInfo(job)) is not None]
        return [stage for info in jobs for stage in info.stageIds]


def explained(error: Exception, dump: str) -> Exception:
    """What a failed job means to whoever started it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any(UNSEEN in line for line in lines):
        return ConfigError(
            f"{dump}: an executor does not see this folder. Every executor must see the dump under the driver's path:"
            " put it on a shared file system, mount it on every node, or audit with --engine local."
        )
    cause = _python_error(lines)
    if exhausted := _exhausted(lines, cause):
        return MemoryError(f"in a Spark task: {exhausted}")
    if cause and not cause.startswith(("ModuleNotFoundError", "ImportError")):
        return RuntimeError(f"a Spark task failed: {cause}")
    return ConfigError(
        f"Spark could not finish the audit: {cause or (lines[0] if lines else type(error).__name__)}. Every executor"
        f" needs Python with the packages of this distribution (spark.pyspark.python) and must see the dump at {dump}."
    )


def _exhausted(lines: Sequence[str], cause: str) -> str:
    """How a task says that its memory ran out; of a worker that is killed for it is said that it is gone."""
    if cause.startswith(("MemoryError", "pyarrow.lib.ArrowMemoryError")):
        return cause.partition(": ")[2] or cause
    return next((line for line in lines if any(word in line for word in OUT_OF_MEMORY)), "")


def _python_error(lines: Iterable[str]) -> str:
    """The last line of a Python traceback in an error's text; empty where there is none."""
    inside = False
    for line in lines:
        inside = inside or line.startswith("Traceback")
        name = line.partition(":")[0]
        if inside and name.replace(".", "").isidentifier() and name.endswith(("Error", "Exception")):
            return line
    return ""
