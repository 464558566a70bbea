"""Findings that say the same of several partitions or ranges, folded into one entry that names them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from auditor.report.alike import blurred
from auditor.report.named_places import SPOTS_SHOWN, named_places
from rules.finding import Finding, Place


class Spot(Struct, frozen=True, kw_only=True):
    """One finding's partition and offsets."""

    finding: str
    cluster_id: str | None
    topic: str | None
    partition: int | None
    start_offset: int | None
    end_offset: int | None

    @property
    def place(self) -> Place:
        """The partition."""
        return self.cluster_id, self.topic, self.partition

    @property
    def name(self) -> str:
        """The partition as people call it."""
        return "whole dump" if self.topic is None else f"{self.topic}-{self.partition}"


class FoldedFinding(Struct, frozen=True, kw_only=True):
    """Findings alike but for their partition and their numbers; the first speaks for all."""

    finding: Finding
    rules: tuple[str, ...]
    """Several where an open question of one place is asked by several rules in the same words."""
    spots: tuple[Spot, ...]
    depth: int = 0
    """How many findings stand above it in its incident's chain."""
    varied: bool = False
    """Whether others have numbers of their own, so that those in its words are the first's alone."""

    @property
    def partitions(self) -> int:
        """How many partitions it is about."""
        return len({spot.place for spot in self.spots})

    @property
    def ids(self) -> tuple[str, ...]:
        """The findings' ids."""
        return tuple(dict.fromkeys(spot.finding for spot in self.spots))


def folded(findings: Iterable[Finding], depths: Mapping[str, int] | None = None) -> tuple[FoldedFinding, ...]:
    """The findings in their order, those that are alike at the place of the first."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in _asked_together(findings):
        alike.setdefault(shape(finding[0]), []).extend(finding)
    known = depths or {}
    return tuple(
        FoldedFinding(
            finding=own[0],
            rules=tuple(dict.fromkeys(finding.rule for finding in own)),
            spots=tuple(spot(finding) for finding in own),
            depth=known.get(own[0].id, 0),
            varied=any(finding.message != own[0].message for finding in own),
        )
        for own in alike.values()
    )


def where(entries: Sequence[FoldedFinding], most: int = SPOTS_SHOWN) -> str:
    """The partitions of entries that bear the same words, and which is the first where the numbers are its own."""
    places = [spot.place for entry in entries for spot in entry.spots]
    own = len(set(places)) > 1 and any(entry.varied for entry in entries)
    return named_places(places, most) + (f", first in {named_places(places[:1])}" if own else "")


def _asked_together(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Each finding by itself; open questions of several rules in the same words, of the same place, together."""
    together: dict[object, list[Finding]] = {}
    for finding in findings:
        place = (finding.cluster_id, finding.topic, finding.partition, finding.start_offset, finding.end_offset)
        question = (place, finding.message, finding.brokers, finding.exhibits)
        together.setdefault(question if finding.verdict == "undecided" else finding.id, []).append(finding)
    return list(together.values())


def shape(finding: Finding) -> tuple[object, ...]:
    """What findings share that are alike: all but the partition and the numbers in their words."""
    rule = "" if finding.verdict == "undecided" else finding.rule
    place = finding.topic is None
    words = blurred(finding.message)
    return rule, finding.severity, finding.verdict, finding.confidence, finding.brokers, place, words


def spot(finding: Finding) -> Spot:
    """Where a finding is."""
    return Spot(
        finding=finding.id,
        cluster_id=finding.cluster_id,
        topic=finding.topic,
        partition=finding.partition,
        start_offset=finding.start_offset,
        end_offset=finding.end_offset,
    )
