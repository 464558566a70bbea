"""Bounds on one try: processor time, and memory over what the worker held before."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

SECONDS_OF_INPUT: Final = 5.0
SECONDS_OF_DUMP: Final = 4.0
"""Processor time; an everyday input takes milliseconds, an everyday dump a tenth of a second."""
WALL_SECONDS: Final = 240.0
"""After which a worker that does not even answer an alarm is killed."""
MEMORY: Final = 512 << 20
_ROOM: Final = 2 * MEMORY
"""Addresses are given out more freely than memory is used."""


class Hung(BaseException):
    """A try took longer than it may; no reader can swallow it with what it expects."""


def _ring(_signal: int, _frame: FrameType | None) -> None:
    raise Hung


def arm() -> None:
    """Let alarms be heard, and bound the addresses of this process."""
    signal.signal(signal.SIGPROF, _ring)
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + _ROOM, held + _ROOM))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `Hung` in the midst of what takes more processor time than this."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def peak() -> int:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
