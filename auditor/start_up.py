"""Start-up time of the command line: what a short run must not wait for."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

CIRCLES_SOUGHT_EVERY: Final = 50_000
"""Values that are made between two searches for circles among them."""


class _Absent:
    """An import finder that knows of no pandas."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing, except for the refusal."""
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return None


_process: list[str] = []


def own_process() -> None:
    """Said by the command's entry point: when the command ends, the process ends."""
    _process.append("ours")
    # What an audit makes seldom refers back to itself: to look for such circles every 700 values takes a tenth of it.
    gc.set_threshold(CIRCLES_SOUGHT_EVERY)


def spare_pandas() -> None:
    """Let pyarrow decide now that it works without pandas.

    It looks for pandas once, at the first Python list it converts, and loads it for the rest of the process: half a
    second that the local engine has no use for. In a process that goes on, Spark may still want it: nothing is done.
    """
    if not _process or "pandas" in sys.modules:
        return
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        import pyarrow as pa

        pa.array([1])
    finally:
        sys.meta_path.remove(absent)
