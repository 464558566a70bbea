"""Incidents as a report tells them: the gravest first, equal ones folded, each with its bill and its chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from auditor.report.alike import blurred
from auditor.report.model import AuditReport, Incident, PlacedHistory
from auditor.report.summary.folded_findings import FoldedFinding, folded, shape
from auditor.report.summary.totals import LossTotals, totals
from rules.finding import Finding, Place


class IncidentEntry(Struct, frozen=True, kw_only=True):
    """One incident, or several that are alike but for their partition and their numbers."""

    incident: Incident
    """The first of them, which gives the words."""
    ids: tuple[str, ...]
    places: tuple[Place, ...]
    lost: LossTotals | None
    """What they cost together."""
    entries: tuple[FoldedFinding, ...]
    """Their findings, each cause before what follows from it, those that are alike together."""

    @property
    def several(self) -> bool:
        """Whether it stands for more than one incident."""
        return len(self.ids) > 1


def incident_entries(report: AuditReport) -> tuple[IncidentEntry, ...]:
    """All incidents in the order of the report, those that are alike at the place of the first."""
    by_id = {finding.id: finding for finding in report.findings}
    owners = dict(_owners(report))
    histories: dict[str, list[PlacedHistory]] = {}
    for history in report.histories:
        owner = owners.get((history.cluster_id, history.topic, history.partition))
        if owner is not None:
            histories.setdefault(owner, []).append(history)
    alike: dict[object, list[Incident]] = {}
    for incident in report.incidents:
        own = [by_id[name] for name in incident.findings if name in by_id]
        alike.setdefault(_shape(incident, own), []).append(incident)
    return tuple(_entry(together, by_id, histories) for together in alike.values())


def causes(entries: Iterable[IncidentEntry]) -> list[tuple[Incident, tuple[Place, ...], int]]:
    """Each cause once: the first incident of it, where it struck, and in how many incidents.

    Incidents of one cause may differ in what followed from it.
    """
    alike: dict[object, list[IncidentEntry]] = {}
    for entry in entries:
        own = entry.incident
        alone = own.scope != "partition"
        alike.setdefault(own.id if alone else (own.severity, _words(own)), []).append(entry)
    return [
        (
            own[0].incident,
            tuple(dict.fromkeys(place for entry in own for place in entry.places)),
            sum(len(entry.ids) for entry in own),
        )
        for own in alike.values()
    ]


def _words(incident: Incident) -> str:
    """Its title without its partition and its numbers."""
    named = {f"{topic}-{partition}" for _, topic, partition in incident.places}
    head, _, rest = incident.title.partition(": ")
    return blurred(rest if head in named else incident.title)


def _owners(report: AuditReport) -> Iterator[tuple[Place, str]]:
    """The incident to which a partition's losses are billed: its own, before one of a disk that touches it."""
    for incident in sorted(report.incidents, key=lambda incident: incident.scope != "broker"):
        yield from ((place, incident.id) for place in incident.places)


def _shape(incident: Incident, own: Sequence[Finding]) -> object:
    """What incidents share that are alike; each that spans partitions is one by itself."""
    if incident.scope != "partition":
        return incident.id
    depths = {step.finding: step.depth for step in incident.steps}
    return incident.severity, _words(incident), tuple(
        (depths.get(finding.id, 0), *shape(finding)) for finding in own
    )


def _entry(
    together: Sequence[Incident], by_id: dict[str, Finding], histories: dict[str, list[PlacedHistory]]
) -> IncidentEntry:
    findings = [by_id[name] for incident in together for name in incident.findings if name in by_id]
    depths = {step.finding: step.depth for incident in together for step in incident.steps}
    return IncidentEntry(
        incident=together[0],
        ids=tuple(incident.id for incident in together),
        places=tuple(dict.fromkeys(place for incident in together for place in incident.places)),
        lost=totals(history for incident in together for history in histories.get(incident.id, ())),
        entries=folded(findings, depths),
    )
