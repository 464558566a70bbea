"""Open points that differ by a number or a path alone, told once with their count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from auditor.report.layout import counted
from auditor.report.model import NO_RULE, UndecidedLine

_PARTICULAR: Final = re.compile(r"[\w.%\-]*/[\w./%\-]+|\d+")
"""What tells two points of one kind apart: the path of a file, the number of a broker, an epoch, an offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikePoints:
    """The first of some points that are alike, and of how many partitions and points it stands for each rule."""

    first: UndecidedLine
    rules: tuple[str, ...]
    """Who asks for the same in the same words; none where no rule does."""
    partitions: int
    points: int

    @property
    def words(self) -> str:
        """In how many partitions, or cases where points differ by a number or a path: a partition may have several."""
        if self.points == 1:
            return counted(self.partitions, "partition")
        return f"{counted(self.partitions, 'case')} like this one"


def alike_points(points: Iterable[UndecidedLine]) -> list[AlikePoints]:
    """The points in their order, those that are alike together."""
    found: dict[tuple[str, str, str, bool], list[UndecidedLine]] = {}
    for point in points:
        key = (point.rule, _general(point.reason), _general(point.missing), point.blocking)
        found.setdefault(key, []).append(point)
    together: dict[tuple[str, str, bool, int, int], list[UndecidedLine]] = {}
    for own in found.values():
        first, partitions = own[0], sum(point.partitions for point in own)
        together.setdefault((first.reason, first.missing, first.blocking, partitions, len(own)), []).append(first)
    return [
        AlikePoints(first=firsts[0], rules=_rules(firsts), partitions=partitions, points=points)
        for (_, _, _, partitions, points), firsts in together.items()
    ]


def _rules(points: Iterable[UndecidedLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(point.rule for point in points if point.rule != NO_RULE))


def _general(words: str) -> str:
    return _PARTICULAR.sub("#", words)
