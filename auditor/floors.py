"""The oldest Python, Spark and Java that will do, stated once."""

from __future__ import annotations

import re
from typing import Final

OLDEST_PYTHON: Final = (3, 11)
OLDEST_SPARK: Final = (4, 0)
"""Python Data Sources and applyInArrow came with it."""
OLDEST_JAVA: Final = 17


def major_minor(version: str) -> tuple[int, int]:
    """(4, 1) of `4.1.0.dev2`; (0, 0) where no numbers are told."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def dotted(floor: tuple[int, int]) -> str:
    """`4.0` of (4, 0)."""
    return ".".join(map(str, floor))
