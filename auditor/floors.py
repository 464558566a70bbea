"""The oldest Python, Spark and Java that will do, and the least memory, stated once."""

from __future__ import annotations

import re
from typing import Final

OLDEST_PYTHON: Final = (3, 11)
OLDEST_SPARK: Final = (4, 0)
"""Python Data Sources and applyInArrow came with it."""
OLDEST_JAVA: Final = 17
LEAST_ADDRESS_SPACE: Final = 2 << 30
"""With less (`ulimit -v`, `spark.executor.pyspark.memory`) compiled libraries abort the process instead of telling."""


def require_address_space() -> None:
    """Refuse a process whose limit of memory is too low to load what reads and judges."""
    try:
        import resource
    except ImportError:  # not a Unix: there is no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        message = f"this process may take {limit >> 20} MiB of address space, and needs {LEAST_ADDRESS_SPACE >> 20}"
        raise MemoryError(message)


def major_minor(version: str) -> tuple[int, int]:
    """(4, 1) of `4.1.0.dev2`; (0, 0) where no numbers are told."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def dotted(floor: tuple[int, int]) -> str:
    """`4.0` of (4, 0)."""
    return ".".join(map(str, floor))
