"""Partitions in few words: the first of them by name, neighbours by their ends, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from rules.finding import Place
from rules.words import counted

SPOTS_SHOWN: Final = 6
WHOLE: Final = "the whole dump"
PLACES_TOLD: Final = 64
"""Partitions of an open question that programs are told by name; the rest is counted."""


def in_order(places: Iterable[Place]) -> list[Place]:
    """Each once, by cluster, topic and number."""
    return sorted(set(places), key=_order)


def named_places(places: Sequence[Place], most: int = SPOTS_SHOWN) -> str:
    """Partitions in few words: pay-0 to pay-3, pay-7 and 12 more; runs of neighbours are told by their ends."""
    runs = [_run(list(own)) for own in _neighbours(in_order(places))]
    shown = [words for words, _ in runs[:most]]
    rest = sum(count for _, count in runs[most:])
    return ", ".join(shown) + (f" and {counted(rest, 'more partition')}" if rest else "")


def told_places(places: Sequence[Place], most: int = SPOTS_SHOWN) -> str:
    """The same with their number where there are several: partition pay-0, 2 partitions (pay-0, pay-1)."""
    named = named_places(places, most)
    if named == WHOLE:
        return named
    return f"partition {named}" if len(places) == 1 else f"{counted(len(places), 'partition')} ({named})"


def listed(places: Iterable[Place]) -> list[dict[str, object]]:
    """Partitions as plain values."""
    return [{"clusterId": cluster, "topic": topic, "partition": partition} for cluster, topic, partition in places]


def _order(place: Place) -> tuple[str, str, int]:
    return place[0] or "", place[1] or "", -1 if place[2] is None else place[2]


def _neighbours(places: Sequence[Place]) -> Iterable[Iterable[Place]]:
    """Partitions of one topic whose numbers follow one another, together."""
    numbered = enumerate(places)
    for _, own in groupby(numbered, key=lambda each: (each[1][0], each[1][1], (each[1][2] or 0) - each[0])):
        yield [place for _, place in own]


def _run(places: Sequence[Place]) -> tuple[str, int]:
    first, last = places[0], places[-1]
    if first[1] is None:
        return WHOLE, len(places)
    if len(places) == 1:
        return f"{first[1]}-{first[2]}", 1
    joint = ", " if len(places) == 2 else " to "  # noqa: PLR2004 - two have nothing between them
    return f"{first[1]}-{first[2]}{joint}{last[1]}-{last[2]}", len(places)
