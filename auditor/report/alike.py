"""What differs by a number or a path alone: open points are told once with their count, statements are blurred."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from auditor.report.model import NO_RULE, UndecidedLine
from auditor.report.named_places import named_places, told_places
from rules.finding import Place
from rules.words import counted

PLACES_SHOWN: Final = 3
_PARTICULAR: Final = re.compile(r"[\w.%\-]*/[\w./%\-]+|\d+")
"""What tells two points of one kind apart: the path of a file, the number of a broker, an epoch, an offset."""
_NUMBER: Final = re.compile(r"\b(brokers? \d+(?:(?:, | or | and )\d+)*)|\d+", re.IGNORECASE)
"""A number that two equal statements may differ in: any but those of brokers, of whom each is somebody else."""


class AlikePoints(Struct, frozen=True, kw_only=True):
    """The first of some points that are alike, and for how many points of which partitions it stands for each rule."""

    first: UndecidedLine
    rules: tuple[str, ...]
    """Who asks for the same in the same words; none where no rule does."""
    points: int
    places: tuple[Place, ...]
    """The partitions of each point: where points differ by a number or a path one may stand here several times."""

    @property
    def words(self) -> str:
        """In which partitions; of points that differ by a number where the first is, and how many are like it."""
        if self.points == 1:
            return told_places(self.places, PLACES_SHOWN)
        where = named_places(self.places, PLACES_SHOWN)
        first = "" if len({*self.places}) == 1 else f", first in {named_places(self.places[:1])}"
        return f"{counted(len(self.places), 'case')} ({where}){first}"


def alike_points(points: Iterable[UndecidedLine]) -> list[AlikePoints]:
    """The points in their order, those that are alike together."""
    found: dict[tuple[str, str, str, bool], list[UndecidedLine]] = {}
    for point in points:
        key = (point.rule, _general(point.reason), _general(point.missing), point.blocking)
        found.setdefault(key, []).append(point)
    together: dict[tuple[str, str, bool, int, tuple[Place, ...]], list[list[UndecidedLine]]] = {}
    for own in found.values():
        first, places = own[0], tuple(place for point in own for place in point.places)
        together.setdefault((first.reason, first.missing, first.blocking, len(own), places), []).append(own)
    return [
        AlikePoints(first=same[0][0], rules=_rules(own[0] for own in same), points=points, places=places)
        for (_, _, _, points, places), same in together.items()
    ]


def blurred(words: str) -> str:
    """Words without the numbers in which equal statements of two partitions differ."""
    return _NUMBER.sub(lambda found: found[1] or "#", words)


def _rules(points: Iterable[UndecidedLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(point.rule for point in points if point.rule != NO_RULE))


def _general(words: str) -> str:
    return _PARTICULAR.sub("#", words)
