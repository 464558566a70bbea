"""Starts workers, watches them and blames what kills them on the input that they were at."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.hostile.findings import Fault, keep
from tests.hostile.limits import WALL_SECONDS
from tests.hostile.shared import COUNTS, Shared
from tests.hostile.worker import OUT_OF_MEMORY, Order, work
from tests.replaced import replace

LOOK_SECONDS: Final = 0.2
TELL_SECONDS: Final = 60.0
LARGEST_OF: Final = ("peak", "lines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What was done by all workers of all runs over one state."""

    counts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    seconds: float = 0.0

    def after(self, more: Mapping[str, int], seconds: float) -> Totals:
        """These and those of one worker more."""
        added = {
            name: max(self.counts[name], more[name]) if name in LARGEST_OF else self.counts[name] + more[name]
            for name in COUNTS
        }
        return Totals(counts=added, seconds=self.seconds + seconds)

    @property
    def faults(self) -> int:
        """Everything that should be none."""
        return sum(self.counts[name] for name in ("exceptions", "hangs", "false_cleans", "broken_laws"))

    def told(self) -> str:
        """One line for a person."""
        counts = self.counts
        return (
            f"{counts['inputs']} inputs, {counts['dumps']} dumps in {self.seconds:.0f} s: {counts['exceptions']}"
            f" exceptions, {counts['hangs']} hangs, {counts['false_cleans']} false cleans, {counts['broken_laws']} other"
            f" broken laws; at most {counts['peak'] / (1 << 20):.0f} MiB over base; {counts['lines']} steps between lines"
            f" reached, {counts['kept']} inputs bred from"
        )


def totals_of(state: Path) -> Totals:
    """What stands in a state's folder."""
    path = state / "totals.json"
    if not path.exists():
        return Totals()
    told = json.loads(path.read_text(encoding="utf-8"))
    return Totals(counts=dict.fromkeys(COUNTS, 0) | told["counts"], seconds=told["seconds"])


def oversee(seed: int, state: Path, *, inputs: int, dumps: int, seconds: float) -> Totals:
    """Go on from what a state tells until so many more inputs and dumps were tried, or the time is over."""
    state.mkdir(parents=True, exist_ok=True)
    totals = totals_of(state)
    first = totals.counts
    until = time.monotonic() + seconds
    ends = (first["inputs"] + inputs, first["dumps"] + dumps)
    while time.monotonic() < until:
        order = Order(
            seed=seed,
            state=state,
            inputs=range(totals.counts["inputs"], ends[0]),
            dumps=range(totals.counts["dumps"], ends[1]),
            until=until,
        )
        if not (order.inputs or order.dumps):
            break
        totals = _one_worker(order, totals)
    _write(state, totals)
    return totals


def _one_worker(order: Order, before: Totals) -> Totals:
    shared, began = Shared(), time.monotonic()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = work(order, shared)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    told, killed = time.monotonic(), False
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        now = time.monotonic()
        time.sleep(LOOK_SECONDS)
        subject, _, _, since = shared.current()
        if subject != -2 and since and now - since > WALL_SECONDS:
            os.kill(child, signal.SIGKILL)
            killed = True
        if now - told > TELL_SECONDS:
            told = now
            running = before.after(shared.published(), now - began)
            _write(order.state, running)
            print(running.told(), flush=True)
    totals = before.after(shared.published(), time.monotonic() - began)
    if ended[1] != 0:
        totals = _blamed(order.state, shared, totals, ended[1], killed=killed)
    _write(order.state, totals)
    return totals


def _blamed(state: Path, shared: Shared, totals: Totals, status: int, *, killed: bool) -> Totals:
    """A worker that died, with the input that it was at; one that never began anything cannot go on at all."""
    subject, number, content, since = shared.current()
    if not since:
        raise SystemExit(f"the worker ended with status {status} before the first try")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == OUT_OF_MEMORY:
        kind, words = "broken_laws", "held more memory than it may"
    else:
        kind, words = ("hangs", "no answer to an alarm") if killed else ("exceptions", f"ended with status {status}")
    from tests.hostile.feeding import ALL

    name, suffix = ("dump", ".number") if subject == -1 else (ALL[subject].name, "")
    fault = Fault(kind=kind, subject=name, place=f"worker {words}", words=f"number {number}")
    keep(state / "found", fault, content or str(number).encode(), suffix)
    done = dict(totals.counts)
    done[kind] += 1
    if kind != "broken_laws":
        # The try that killed its worker was not counted by it; it must not be met again.
        done["dumps" if subject == -1 else "inputs"] += 1
    return replace(totals, counts=done)


def _write(state: Path, totals: Totals) -> None:
    told = json.dumps({"counts": dict(totals.counts), "seconds": totals.seconds}, indent=1)
    partial = state / "totals.json.new"
    partial.write_text(told, encoding="utf-8")
    partial.replace(state / "totals.json")
