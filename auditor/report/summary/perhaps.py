"""Open questions whether records are lost, in words: alike ones of several partitions together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from auditor.report.model import AuditReport
from auditor.report.named_places import named_places
from auditor.report.placed import Place
from auditor.report.summary.folded_findings import FoldedFinding, folded

PLACES_SHOWN: Final = 3


def perhaps_words(entries: Iterable[FoldedFinding]) -> Iterator[str]:
    """Where, what is open, and what would tell; once, though two pairs of brokers may leave the same question open."""
    asked: dict[str, list[Place]] = {}
    for entry in entries:
        words = entry.finding.message.removeprefix("Undecided: ")
        asked.setdefault(words, []).extend(spot.place for spot in entry.spots)
    yield from (f"{named_places(places, PLACES_SHOWN)}: {words}" for words, places in asked.items())


def beside_the_advice(report: AuditReport) -> Iterator[str]:
    """Those that the advice on a partition does not tell itself."""
    told = {
        (p.cluster_id, p.topic, p.partition, each.start_offset, each.end_offset)
        for p in report.advice
        for each in p.advice.nowhere
        if each.doubt
    }
    others = (
        f
        for f in report.perhaps_lost
        if (f.cluster_id, f.topic, f.partition, f.start_offset, f.end_offset) not in told
    )
    yield from perhaps_words(folded(others))
