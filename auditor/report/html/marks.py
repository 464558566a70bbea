"""Ranges of offsets that something is said of: findings, records that differ, and cuts that are still owed."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from auditor.report.html.reported_partitions import TABLES_SHOWN, ReportedPartition
from rules.finding import NO_BEARING, Bearings, Finding, Severity, offsets_told


class Mark(Struct, frozen=True, kw_only=True):
    """A range on some brokers' logs."""

    brokers: tuple[int, ...]
    start: int
    end: int
    says: str
    look: str
    hatched: bool
    link: str
    """The id of the finding, or of the table, that says it."""
    severity: int = 0
    label: str = ""


def marks_of(story: ReportedPartition, bearings: Bearings) -> tuple[Mark, ...]:
    """All of them; hatching first, so that findings lie above it."""
    return (*_differing(story), *_found(story, bearings))


def _differing(story: ReportedPartition) -> Iterator[Mark]:
    """Where two logs are known to hold different records."""
    ends = {replica.broker: replica.log_end_offset for replica in story.replicas if replica.state == "current"}
    seen: set[tuple[tuple[int, ...], int, int]] = set()
    for number, placed in enumerate(story.tables[:TABLES_SHOWN]):
        table = placed.table
        pair = tuple(sorted((table.follower, table.leader)))
        end = min(table.end_offset, *(ends.get(broker, table.end_offset) for broker in pair))
        key = (pair, table.start_offset, end)
        if table.differ and table.start_offset < end and key not in seen:
            seen.add(key)
            what = offsets_told(table.start_offset, end)
            says = f"Brokers {pair[0]} and {pair[1]} hold different records at {what}"
            link, start = story.part("table", number), table.start_offset
            yield Mark(brokers=pair, start=start, end=end, says=says, look="differs", hatched=True, link=link)


def _found(story: ReportedPartition, bearings: Bearings) -> Iterator[Mark]:
    """Findings that name offsets."""
    for finding in story.findings:
        if finding.start_offset is None or finding.end_offset is None or finding.end_offset <= finding.start_offset:
            continue
        if finding.verdict == "violated":
            bearing = bearings.get(finding.rule, NO_BEARING)
            yield _mark(finding, look="owed", hatched=bearing.owes_a_cut)


def _mark(finding: Finding, *, look: str, hatched: bool) -> Mark:
    severity = Severity(finding.severity)
    return Mark(
        brokers=finding.brokers,
        start=finding.start_offset or 0,
        end=finding.end_offset or 0,
        says=f"{finding.rule}, {severity.label}: {finding.message}",
        look=look,
        hatched=hatched,
        link=finding.id,
        severity=int(severity),
        label=severity.label,
    )
