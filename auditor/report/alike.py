"""Open points that differ by a number or a path alone, told once with their count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from auditor.report.layout import counted
from auditor.report.model import UndecidedLine

_PARTICULAR: Final = re.compile(r"[\w.%\-]*/[\w./%\-]+|\d+")
"""What tells two points of one kind apart: the path of a file, the number of a broker, an epoch, an offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikePoints:
    """The first of some points that are alike, and of how many partitions and points it stands."""

    first: UndecidedLine
    partitions: int
    points: int

    @property
    def words(self) -> str:
        """Where, and how many more there are that read the same but for a number or a path."""
        where = counted(self.partitions, "partition")
        return where if self.points == 1 else f"{where} (one of {self.points} like it)"


def alike_points(points: Iterable[UndecidedLine]) -> list[AlikePoints]:
    """The points in their order, those that are alike together."""
    found: dict[tuple[str, str, str, bool], list[UndecidedLine]] = {}
    for point in points:
        key = (point.rule, _general(point.reason), _general(point.missing), point.blocking)
        found.setdefault(key, []).append(point)
    return [
        AlikePoints(first=own[0], partitions=sum(point.partitions for point in own), points=len(own))
        for own in found.values()
    ]


def _general(words: str) -> str:
    return _PARTICULAR.sub("#", words)
