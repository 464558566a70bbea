"""The process that does the trying: readers' inputs and whole dumps in turns, until it has done what was ordered."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.hostile.limits import MEMORY, arm, peak
from tests.hostile.shared import Shared

SECONDS_OF_INPUTS: Final = 8.0
SECONDS_OF_DUMPS: Final = 12.0
OUT_OF_MEMORY: Final = 3
"""The exit code of a worker that held more than it may; its overseer starts another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done, and where it is written down."""

    seed: int
    state: Path
    inputs: range
    dumps: range
    until: float
    """On the clock that only goes forward."""


def work(order: Order, shared: Shared) -> int:
    """Do what was ordered; 0 when all of it is done."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory(prefix="tidemark-hostile-") as folder:
        return _turns(order, shared, Path(folder))


def _turns(order: Order, shared: Shared, folder: Path) -> int:
    from tests.hostile.feeding import Feeding
    from tests.hostile.judging import Judging

    feeding = Feeding(order.seed, order.state, folder, shared) if order.inputs else None
    judging = Judging(order.seed, order.state, folder, shared) if order.dumps else None
    signal.signal(signal.SIGPROF, signal.SIG_IGN)  # what is loaded for the first tries takes its time
    if feeding is not None:
        feeding.warm()
    if judging is not None:
        judging.warm()
    gc.collect()
    gc.freeze()
    base = peak()
    arm()
    inputs, dumps = iter(order.inputs), iter(order.dumps)
    while time.monotonic() < order.until:
        done = 0
        turn = time.monotonic() + SECONDS_OF_INPUTS
        while feeding is not None and time.monotonic() < turn and (number := next(inputs, None)) is not None:
            feeding.step(number)
            done += 1
            if _over(base, shared):
                return OUT_OF_MEMORY
        turn = time.monotonic() + SECONDS_OF_DUMPS
        while judging is not None and time.monotonic() < turn and (number := next(dumps, None)) is not None:
            judging.step(number)
            done += 1
            if _over(base, shared):
                return OUT_OF_MEMORY
        if not done:
            break
    shared.rest()
    return 0


def _over(base: int, shared: Shared) -> bool:
    """Note the memory held over what was held before the first try, and show the counts."""
    held = peak() - base
    shared.counts["peak"] = max(shared.counts["peak"], held)
    shared.publish()
    return held > MEMORY
