"""What a report tells of one partition, gathered; and which partitions are drawn, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

from auditor.report.model import (
    AuditReport,
    Availability,
    Loss,
    PlacedAdvice,
    PlacedCounterfactual,
    PlacedHistory,
    ReplicaVerdict,
)
from rules.finding import Finding, Place, Severity
from rules.words import place_name

TABLES_SHOWN: Final = 6
"""Pairs of replicas of one partition; the rest is counted."""
DRAWN: Final = 40
"""Partitions that get a picture; a person looks at no more, and a browser opens the page at once."""


class ReportedPartition(Struct, frozen=True, kw_only=True):
    """One partition."""

    place: Place
    anchor: str = ""
    """Where the page tells it, if it is drawn."""
    replicas: list[ReplicaVerdict] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    histories: list[PlacedHistory] = field(default_factory=list)
    tables: list[PlacedCounterfactual] = field(default_factory=list)
    advice: list[PlacedAdvice] = field(default_factory=list)
    availability: list[Availability] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The partition as people call it."""
        _, topic, partition = self.place
        return "the whole dump" if topic is None else place_name(topic, partition)

    def part(self, kind: str, number: int) -> str:
        """The id of one of its bills, steps or tables on the page."""
        return f"{self.anchor}-{kind}{number}"

    @property
    def losses(self) -> list[Loss]:
        """What it lost."""
        return [loss for history in self.histories for loss in history.losses]

    @property
    def worst(self) -> str:
        """The gravest thing that was found, in one word."""
        violated = [finding.severity for finding in self.findings if finding.verdict == "violated"]
        if violated and max(violated) > Severity.INFO:
            return Severity(max(violated)).label
        return "undecided" if any(finding.blocking for finding in self.findings) else "sound"

    @property
    def leading(self) -> int | None:
        """Who led last, where somebody tells."""
        leaders = [placed.advice.leading for placed in self.advice]
        return leaders[0] if len(set(leaders)) == 1 else None


def reported_partitions(report: AuditReport) -> dict[Place, ReportedPartition]:
    """Every partition of the report, in its order."""
    found: dict[Place, ReportedPartition] = {}

    def of(cluster: str | None, topic: str | None, partition: int | None) -> ReportedPartition:
        place = (cluster, topic, partition)
        return found.setdefault(place, ReportedPartition(place=place))

    for placed in report.replicas:
        of(placed.cluster_id, placed.topic, placed.partition).replicas.append(placed.replica)
    for finding in report.findings:
        of(finding.cluster_id, finding.topic, finding.partition).findings.append(finding)
    for history in report.histories:
        of(history.cluster_id, history.topic, history.partition).histories.append(history)
    for table in report.counterfactuals:
        of(table.cluster_id, table.topic, table.partition).tables.append(table)
    for advice in report.advice:
        of(advice.cluster_id, advice.topic, advice.partition).advice.append(advice)
    for account in report.availability:
        of(account.cluster_id, account.topic, account.partition).availability.append(account.availability)
    return found


def gravest_first(report: AuditReport, partitions: Iterable[ReportedPartition]) -> list[ReportedPartition]:
    """Partitions with findings or open questions, as their incidents stand in the report; then by severity."""
    places = (place for incident in report.incidents for place in incident.places)
    rank = {place: number for number, place in enumerate(dict.fromkeys(places))}
    troubled = [story for story in partitions if story.findings or any(loss.matters for loss in story.losses)]
    return sorted(troubled, key=lambda story: (rank.get(story.place, len(rank)), *_weight(story)))


def _weight(story: ReportedPartition) -> Iterator[int]:
    violated = [finding.severity for finding in story.findings if finding.verdict == "violated"]
    yield -max(violated, default=-1)
    yield -sum(finding.blocking for finding in story.findings)
