"""Restarts by broker: a broker restarts with all its partitions, so that the gravest word of any of them holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from auditor.report.model import Going, PlacedAdvice, starts
from auditor.report.named_places import named_places
from rules.finding import place_of

SHOWN: Final = 3
WORDS: Final[Mapping[Going, str]] = {"no-go": "NO-GO", "unknown": "UNKNOWN", "go": "GO"}


def restarts(advice: Sequence[PlacedAdvice]) -> Iterator[str]:
    """What restarts come to where several partitions are advised on: the gravest first, each with where it is so."""
    if len(advice) > 1:
        yield "Restarts, with all partitions of a broker"
        for cluster in sorted({placed.cluster_id for placed in advice}, key=str):
            yield from _of_cluster([placed for placed in advice if placed.cluster_id == cluster])
        yield ""


def _of_cluster(advice: Sequence[PlacedAdvice]) -> Iterator[str]:
    known = starts([placed.advice for placed in advice])
    for action, going in sorted(known.items(), key=lambda each: (tuple(WORDS).index(each[1]), each[0])):
        own = [
            place_of(placed)
            for placed in advice
            if any(gate.action == action and gate.going == going for gate in placed.advice.gates)
        ]
        where = "" if going == "go" else f": {named_places(own, SHOWN)}"
        yield f"  {WORDS[going]:<9}{action}{where}"
